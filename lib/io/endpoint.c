/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Endpoints as text: strictly, so that a mistyped port is never taken for something else.
 *
 * Source: RFC 3986 3.2.2 (brackets), RFC 1123 2.1 (host names), RFC 4007 11 (zones), unix(7).
 */
#include <arpa/inet.h>

#include "fnet/io.h"

#define UNIX_PREFIX "unix:"
#define DIGITS "0123456789"
#define HOST_CHARACTERS DIGITS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._-"

/* Each step returns what is wrong, NULL when nothing is. */

static const char *parse_port(struct fnet_span text, uint16_t *port)
{
    unsigned value = 0;

    if (text.len == 0)
        return "port missing";
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return "port is not a number";
        value = value * 10 + (unsigned)(text.ptr[i] - '0');
        if (value > UINT16_MAX)
            return "port out of range";
    }
    if (text.len > 1 && text.ptr[0] == '0')
        return "port begins with 0";
    *port = (uint16_t)value;
    return NULL;
}

static const char *copy_host(struct fnet_span text, struct fnet_endpoint *out)
{
    if (text.len == 0)
        return "host missing";
    if (text.len >= sizeof out->host)
        return "host too long";
    memcpy(out->host, text.ptr, text.len);
    out->host[text.len] = '\0';
    return NULL;
}

/* An address, perhaps with a zone ("fe80::1%eth0"), which is left to the resolver. */
static const char *parse_ipv6(struct fnet_span text, struct fnet_endpoint *out)
{
    struct in6_addr address;
    char bare[sizeof out->host];
    const char *wrong = copy_host(text, out);

    if (wrong)
        return wrong;
    memcpy(bare, out->host, sizeof bare);
    bare[strcspn(bare, "%")] = '\0';
    return inet_pton(AF_INET6, bare, &address) == 1 ? NULL : "not an IPv6 address";
}

/* A name or an IPv4 address. HAS_PORT: what follows the colon shows that this is a host. */
static const char *parse_host(struct fnet_span text, bool has_port, struct fnet_endpoint *out)
{
    struct in_addr address;
    const char *wrong = copy_host(text, out);

    if (wrong)
        return wrong;
    const char *host = out->host;
    if (host[strspn(host, HOST_CHARACTERS)] || host[0] == '-' || host[0] == '.')
        return "host has a character that is not allowed there";
    if (!host[strspn(host, DIGITS ".")] && inet_pton(AF_INET, host, &address) != 1)
        return "not an IPv4 address";
    /* Names may begin with a digit, but this is far more likely a mistyped port. */
    if (!has_port && host[0] >= '0' && host[0] <= '9' && !strchr(host, '.'))
        return "port is not a number";
    return NULL;
}

static const char *parse_bracketed(const char *text, struct fnet_endpoint *out)
{
    const char *close = strchr(text, ']');

    if (!close)
        return "']' missing";
    const char *wrong = parse_ipv6(fnet_span_of(text + 1, (size_t)(close - text - 1)), out);
    if (wrong || close[1] == '\0')
        return wrong;
    if (close[1] != ':')
        return "neither the end nor a port after ']'";
    return parse_port(fnet_span_of(close + 2, strlen(close + 2)), &out->port);
}

static const char *parse_unix(const char *path, struct fnet_endpoint *out)
{
    size_t len = strlen(path);

    if (len == 0)
        return "path missing";
    if (len >= sizeof out->path)
        return "path too long for a unix socket";
    memcpy(out->path, path, len + 1);
    out->is_unix = true;
    return NULL;
}

static const char *parse_endpoint(const char *text, struct fnet_endpoint *out)
{
    const size_t len = strlen(text);
    const char *colon = strchr(text, ':');

    if (len == 0)
        return "empty address";
    if (strncmp(text, UNIX_PREFIX, strlen(UNIX_PREFIX)) == 0)
        return parse_unix(text + strlen(UNIX_PREFIX), out);
    if (text[0] == '[')
        return parse_bracketed(text, out);
    if (text[strspn(text, DIGITS)] == '\0')
        return parse_port(fnet_span_of(text, len), &out->port);
    if (!colon)
        return parse_host(fnet_span_of(text, len), false, out);
    if (strchr(colon + 1, ':'))
        return parse_ipv6(fnet_span_of(text, len), out);
    const char *wrong = parse_host(fnet_span_of(text, (size_t)(colon - text)), true, out);
    return wrong ? wrong : parse_port(fnet_span_of(colon + 1, strlen(colon + 1)), &out->port);
}

enum fnet_err fnet_endpoint_parse(const char *text, struct fnet_endpoint *out, const char **why)
{
    struct fnet_endpoint endpoint = {.port = FNET_DEFAULT_PORT};
    const char *wrong = parse_endpoint(text, &endpoint);

    if (wrong) {
        *why = wrong;
        return FNET_INVALID;
    }
    *out = endpoint;
    return FNET_OK;
}
