/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Endpoints to addresses, without a name server.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <stdlib.h>

#include "fnet/io.h"

#include "../failmalloc.h"
#include "../tap.h"

static struct fnet_endpoint endpoint_of(const char *text)
{
    struct fnet_endpoint endpoint = {.port = 0};
    const char *why = "";

    CHECK_INT(fnet_endpoint_parse(text, &endpoint, &why), FNET_OK);
    return endpoint;
}

/* TEXT has one address, which is written EXPECTED. */
static void check_address(const char *text, bool for_listening, const char *expected)
{
    struct fnet_endpoint endpoint = endpoint_of(text);
    struct fnet_address *addresses = NULL;
    char formatted[FNET_ADDRESS_TEXT_BYTES] = "";
    const char *why = NULL;
    size_t count = 0;

    CHECK_INT(fnet_endpoint_resolve(&endpoint, for_listening, &addresses, &count, &why), FNET_OK);
    if (CHECK_INT(count, 1))
        fnet_address_format(addresses, formatted);
    CHECK_STR(formatted, expected);
    free(addresses);
}

static void test_addresses(void)
{
    CASE("numeric hosts are taken as they are, IPv6 without an IPv6 network too");
    check_address("127.0.0.1:80", false, "127.0.0.1:80");
    check_address("[::1]:80", false, "[::1]:80");
    check_address("2001:db8::1", false, "[2001:db8::1]:6121");
    check_address("0.0.0.0:80", true, "0.0.0.0:80");

    CASE("a port alone is one of this host's");
    check_address("80", false, "127.0.0.1:80");

    CASE("port 0 can be listened on");
    check_address("0", true, "127.0.0.1:0");

    CASE("a unix socket has one address");
    check_address("unix:/run/fnet", false, "unix:/run/fnet");
}

static void test_localhost(void)
{
    struct fnet_endpoint endpoint = endpoint_of("localhost:80");
    struct fnet_address *addresses = NULL;
    const char *why = NULL;
    size_t count = 0;

    CASE("the local host's name has loopback addresses, each of them once");
    struct addrinfo *known = NULL;
    if (getaddrinfo("localhost", NULL, NULL, &known) != 0)
        return; /* a host without /etc/hosts does not know its own name */
    freeaddrinfo(known);
    CHECK_INT(fnet_endpoint_resolve(&endpoint, false, &addresses, &count, &why), FNET_OK);
    CHECK(count >= 1);
    for (size_t i = 0; i < count; i++) {
        CHECK(fnet_address_is_loopback(&addresses[i]));
        for (size_t j = 0; j < i; j++)
            CHECK(addresses[i].len != addresses[j].len ||
                  memcmp(&addresses[i].any, &addresses[j].any, addresses[i].len) != 0);
    }
    free(addresses);
}

static void test_unix_length(void)
{
    struct fnet_endpoint endpoint = endpoint_of("unix:abc");
    struct fnet_address *addresses = NULL;
    const char *why = NULL;
    size_t count = 0;

    CASE("the address of a unix socket ends behind its path's NUL");
    CHECK_INT(fnet_endpoint_resolve(&endpoint, true, &addresses, &count, &why), FNET_OK);
    CHECK_INT(addresses->len, offsetof(struct sockaddr_un, sun_path) + 4);
    CHECK_INT(addresses->any.sa_family, AF_UNIX);
    free(addresses);
}

static void test_errors(void)
{
    struct fnet_endpoint endpoint = endpoint_of("127.0.0.1:0");
    struct fnet_address *addresses = NULL;
    const char *why = NULL;
    size_t count = 77;

    CASE("port 0 cannot be connected to");
    CHECK_INT(fnet_endpoint_resolve(&endpoint, false, &addresses, &count, &why), FNET_INVALID);
    CHECK_STR(why, "port 0 cannot be connected to");

    CASE("a name that cannot exist is an invalid host, with the resolver's words");
    endpoint.port = 80;
    memset(endpoint.host, 'h', sizeof endpoint.host - 1); /* a label has 63 characters at most */
    why = NULL;
    CHECK_INT(fnet_endpoint_resolve(&endpoint, false, &addresses, &count, &why), FNET_INVALID);
    CHECK(why && why[0]);
    CHECK(addresses == NULL && count == 77);
}

static void test_no_memory(void)
{
    static const char *const texts[] = {"127.0.0.1:80", "unix:/run/fnet"};

    CASE("without memory there are no addresses, and a reason");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct fnet_endpoint endpoint = endpoint_of(texts[i]);
        bool did_fail;
        unsigned n = 0;
        do {
            struct fnet_address *addresses = NULL;
            const char *why = NULL;
            size_t count = 77;
            failmalloc_arm(++n);
            enum fnet_err err = fnet_endpoint_resolve(&endpoint, false, &addresses, &count, &why);
            did_fail = failmalloc_disarm();
            CHECK_INT(err, did_fail ? FNET_NOMEM : FNET_OK);
            CHECK(!did_fail || (why && !addresses && count == 77));
            free(addresses);
        } while (did_fail);
    }
}

int main(void)
{
    test_addresses();
    test_localhost();
    test_unix_length();
    test_errors();
    test_no_memory();
    return tap_done();
}
