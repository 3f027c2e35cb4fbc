/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses as text, and which of them are loopback.
 */
#include <arpa/inet.h>

#include "fnet/io.h"

#include "../tap.h"

static struct fnet_address ipv4(const char *host, uint16_t port)
{
    struct fnet_address address = {
        .in = {.sin_family = AF_INET, .sin_port = htons(port)},
        .len = sizeof(struct sockaddr_in),
    };
    CHECK_INT(inet_pton(AF_INET, host, &address.in.sin_addr), 1);
    return address;
}

static struct fnet_address ipv6(const char *host, uint16_t port, uint32_t zone)
{
    struct fnet_address address = {
        .in6 = {.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_scope_id = zone},
        .len = sizeof(struct sockaddr_in6),
    };
    CHECK_INT(inet_pton(AF_INET6, host, &address.in6.sin6_addr), 1);
    return address;
}

static struct fnet_address local(const char *path, size_t len)
{
    struct fnet_address address = {
        .un = {.sun_family = AF_UNIX},
        .len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len),
    };
    memcpy(address.un.sun_path, path, len);
    return address;
}

static void check_text(struct fnet_address address, const char *expected)
{
    char text[FNET_ADDRESS_TEXT_BYTES];

    memset(text, 'x', sizeof text);
    fnet_address_format(&address, text);
    CHECK_STR(text, expected);
}

static void test_format(void)
{
    CASE("IP addresses have a port, IPv6 ones brackets");
    check_text(ipv4("127.0.0.1", 6121), "127.0.0.1:6121");
    check_text(ipv4("255.255.255.255", 65535), "255.255.255.255:65535");
    check_text(ipv6("::1", 80, 0), "[::1]:80");
    check_text(ipv6("1111:2222:3333:4444:5555:6666:7777:8888", 65535, 0),
               "[1111:2222:3333:4444:5555:6666:7777:8888]:65535");
    check_text(ipv6("fe80::1", 80, 3), "[fe80::1%3]:80");
    check_text(ipv6("fe80:2222:3333:4444:5555:6666:7777:8888", 80, UINT32_MAX),
               "[fe80:2222:3333:4444:5555:6666:7777:8888%4294967295]:80");

    CASE("a unix socket's path is shown with or without its NUL");
    check_text(local("/run/fnet", 10), "unix:/run/fnet");
    check_text(local("/run/fnet", 9), "unix:/run/fnet");

    CASE("a path that fills the address is shown whole");
    char path[sizeof((struct sockaddr_un *)0)->sun_path + 1] = "";
    char expected[sizeof path + 5] = "unix:";
    memset(path, 'p', sizeof path - 1);
    memcpy(expected + 5, path, sizeof path);
    check_text(local(path, sizeof path - 1), expected);

    CASE("a unix socket without a name is shown without one");
    check_text(local("", 0), "unix:");

    CASE("control characters in a path do not reach the terminal");
    check_text(local("a\x1b[2J\n\x7f", 8), "unix:a?[2J??");

    CASE("other families are named as unknown");
    struct fnet_address other = ipv4("1.2.3.4", 5);
    other.any.sa_family = AF_UNSPEC;
    check_text(other, "unknown address family");
    CHECK(!fnet_address_is_loopback(&other));
}

static void check_loopback(struct fnet_address address, bool expected)
{
    CHECK_INT(fnet_address_is_loopback(&address), expected);
}

static void test_loopback(void)
{
    CASE("all of 127.0.0.0/8 and ::1 is loopback, mapped or not");
    check_loopback(ipv4("127.0.0.1", 1), true);
    check_loopback(ipv4("127.255.255.254", 1), true);
    check_loopback(ipv6("::1", 1, 0), true);
    check_loopback(ipv6("::ffff:127.0.0.1", 1, 0), true);

    CASE("a unix socket is loopback");
    check_loopback(local("/run/fnet", 10), true);

    CASE("nothing else is");
    check_loopback(ipv4("0.0.0.0", 1), false);
    check_loopback(ipv4("126.255.255.255", 1), false);
    check_loopback(ipv4("128.0.0.1", 1), false);
    check_loopback(ipv4("10.0.0.127", 1), false);
    check_loopback(ipv6("::", 1, 0), false);
    check_loopback(ipv6("::2", 1, 0), false);
    check_loopback(ipv6("::127.0.0.1", 1, 0), false);
    check_loopback(ipv6("::ffff:10.0.0.1", 1, 0), false);
    check_loopback(ipv6("7f00::1", 1, 0), false);
    check_loopback(ipv6("fe80::1", 1, 3), false);
}

int main(void)
{
    test_format();
    test_loopback();
    return tap_done();
}
