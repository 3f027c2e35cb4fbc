/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Endpoints as text: what is accepted, and what is wrong with the rest.
 */
#include "fnet/io.h"

#include "../tap.h"

static const struct {
    const char *text;
    const char *host;
    int port;
} good[] = {
    {"0", "", 0},
    {"80", "", 80},
    {"65535", "", 65535},
    {"localhost", "localhost", FNET_DEFAULT_PORT},
    {"a-b_c.example.org", "a-b_c.example.org", FNET_DEFAULT_PORT},
    {"host:0", "host", 0},
    {"host:6122", "host", 6122},
    {"3com.com", "3com.com", FNET_DEFAULT_PORT},
    {"3f4e5d6c7b8a:80", "3f4e5d6c7b8a", 80},
    {"127.0.0.1", "127.0.0.1", FNET_DEFAULT_PORT},
    {"127.0.0.1:65535", "127.0.0.1", 65535},
    {"::1", "::1", FNET_DEFAULT_PORT},
    {"::", "::", FNET_DEFAULT_PORT},
    {"2001:db8::1", "2001:db8::1", FNET_DEFAULT_PORT},
    {"::ffff:127.0.0.1", "::ffff:127.0.0.1", FNET_DEFAULT_PORT},
    {"[::1]", "::1", FNET_DEFAULT_PORT},
    {"[::1]:80", "::1", 80},
    {"[fe80::1%eth0]:80", "fe80::1%eth0", 80},
};

static const struct {
    const char *text;
    const char *why;
} bad[] = {
    {"", "empty address"},
    {"99999", "port out of range"},
    {"65536", "port out of range"},
    {"18446744073709551696", "port out of range"},
    {"host:65536", "port out of range"},
    {"host:4294967376", "port out of range"},
    {"[::1]:65536", "port out of range"},
    {"080x", "port is not a number"},
    {"80x", "port is not a number"},
    {"080", "port begins with 0"},
    {"00", "port begins with 0"},
    {"host:080", "port begins with 0"},
    {"host:", "port missing"},
    {"[::1]:", "port missing"},
    {"host:x", "port is not a number"},
    {"host:+80", "port is not a number"},
    {"host:-1", "port is not a number"},
    {"host: 80", "port is not a number"},
    {"host:80 ", "port is not a number"},
    {"host:0x50", "port is not a number"},
    {":80", "host missing"},
    {":", "host missing"},
    {" 80", "host has a character that is not allowed there"},
    {"+80", "host has a character that is not allowed there"},
    {"-1", "host has a character that is not allowed there"},
    {".", "host has a character that is not allowed there"},
    {"ho st", "host has a character that is not allowed there"},
    {"host/main:80", "host has a character that is not allowed there"},
    {"h\xc3\xb6st", "host has a character that is not allowed there"},
    {"@name", "host has a character that is not allowed there"},
    {"1.2.3", "not an IPv4 address"},
    {"1.2.3.256:80", "not an IPv4 address"},
    {"127.0.0.01", "not an IPv4 address"},
    {"80:80", "not an IPv4 address"},
    {"127.0.0.1:80:80", "not an IPv6 address"},
    {"a:b:c", "not an IPv6 address"},
    {":::", "not an IPv6 address"},
    {"[host]:80", "not an IPv6 address"},
    {"[127.0.0.1]", "not an IPv6 address"},
    {"[]", "host missing"},
    {"[", "']' missing"},
    {"[::1", "']' missing"},
    {"[::1]80", "neither the end nor a port after ']'"},
    {"[::1]]", "neither the end nor a port after ']'"},
    {"unix:", "path missing"},
};

static void test_good(void)
{
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct fnet_endpoint endpoint = {.is_unix = true};
        const char *why = "untouched";

        CASE(good[i].text);
        CHECK_INT(fnet_endpoint_parse(good[i].text, &endpoint, &why), FNET_OK);
        CHECK(!endpoint.is_unix);
        CHECK_STR(endpoint.host, good[i].host);
        CHECK_INT(endpoint.port, good[i].port);
        CHECK_STR(why, "untouched");
    }
}

static void test_bad(void)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct fnet_endpoint endpoint = {.port = 77};
        const char *why = NULL;

        CASE(bad[i].text);
        CHECK_INT(fnet_endpoint_parse(bad[i].text, &endpoint, &why), FNET_INVALID);
        CHECK_STR(why, bad[i].why);
        CHECK_INT(endpoint.port, 77);
    }
}

static void test_long(void)
{
    struct fnet_endpoint endpoint;
    const char *why = NULL;
    char text[400];

    CASE("the longest host is accepted, a longer one is not");
    memset(text, 'h', sizeof text);
    text[sizeof endpoint.host - 1] = '\0';
    CHECK_INT(fnet_endpoint_parse(text, &endpoint, &why), FNET_OK);
    CHECK_STR(endpoint.host, text);
    text[sizeof endpoint.host - 1] = 'h';
    text[sizeof endpoint.host] = '\0';
    CHECK_INT(fnet_endpoint_parse(text, &endpoint, &why), FNET_INVALID);
    CHECK_STR(why, "host too long");
}

static void test_unix(void)
{
    const size_t longest = sizeof((struct fnet_endpoint *)0)->path - 1;
    struct fnet_endpoint endpoint;
    const char *why = NULL;
    char text[200] = "unix:";

    CASE("a unix socket's path is taken as it is");
    CHECK_INT(fnet_endpoint_parse("unix:/run/a b:80", &endpoint, &why), FNET_OK);
    CHECK(endpoint.is_unix);
    CHECK_STR(endpoint.path, "/run/a b:80");
    CHECK_INT(fnet_endpoint_parse("unix:relative", &endpoint, &why), FNET_OK);
    CHECK_STR(endpoint.path, "relative");

    CASE("a leading @ is a character of the file's name");
    CHECK_INT(fnet_endpoint_parse("unix:@name", &endpoint, &why), FNET_OK);
    CHECK_STR(endpoint.path, "@name");

    CASE("the longest path that fits a socket address is accepted, a longer one is not");
    memset(text + 5, 'p', longest);
    CHECK_INT(fnet_endpoint_parse(text, &endpoint, &why), FNET_OK);
    CHECK_INT(strlen(endpoint.path), longest);
    text[5 + longest] = 'p';
    CHECK_INT(fnet_endpoint_parse(text, &endpoint, &why), FNET_INVALID);
    CHECK_STR(why, "path too long for a unix socket");
}

int main(void)
{
    test_good();
    test_bad();
    test_long();
    test_unix();
    return tap_done();
}
