/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses as text, and whether they stay on this host.
 *
 * Source: inet_ntop(3), unix(7), RFC 4007 11 (zones), RFC 4291 2.5.5.2 (IPv4-mapped addresses).
 */
#include <arpa/inet.h>
#include <stdio.h>

#include "fnet/io.h"

/* A peer chooses its path: nothing in it may steer the terminal that shows it. */
static void format_unix(const struct fnet_address *address,
                        char text[static FNET_ADDRESS_TEXT_BYTES])
{
    const size_t head = offsetof(struct sockaddr_un, sun_path);
    size_t len = address->len > head ? address->len - head : 0;
    char path[sizeof address->un.sun_path + 1] = "";

    if (len > sizeof address->un.sun_path)
        len = sizeof address->un.sun_path;
    memcpy(path, address->un.sun_path, len);
    for (char *c = path; *c; c++)
        if ((unsigned char)*c < ' ' || *c == '\x7f')
            *c = '?';
    snprintf(text, FNET_ADDRESS_TEXT_BYTES, "unix:%s", path);
}

static void format_ipv6(const struct sockaddr_in6 *in6, char text[static FNET_ADDRESS_TEXT_BYTES])
{
    char host[INET6_ADDRSTRLEN] = "";
    char zone[sizeof "%4294967295"] = "";

    inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof host);
    if (in6->sin6_scope_id)
        snprintf(zone, sizeof zone, "%%%u", (unsigned)in6->sin6_scope_id);
    snprintf(text, FNET_ADDRESS_TEXT_BYTES, "[%s%s]:%u", host, zone,
             (unsigned)ntohs(in6->sin6_port));
}

void fnet_address_format(const struct fnet_address *address,
                         char text[static FNET_ADDRESS_TEXT_BYTES])
{
    char host[INET_ADDRSTRLEN] = "";

    switch (address->any.sa_family) {
    case AF_INET:
        inet_ntop(AF_INET, &address->in.sin_addr, host, sizeof host);
        snprintf(text, FNET_ADDRESS_TEXT_BYTES, "%s:%u", host,
                 (unsigned)ntohs(address->in.sin_port));
        break;
    case AF_INET6: format_ipv6(&address->in6, text); break;
    case AF_UNIX: format_unix(address, text); break;
    default: snprintf(text, FNET_ADDRESS_TEXT_BYTES, "unknown address family"); break;
    }
}

bool fnet_address_is_loopback(const struct fnet_address *address)
{
    const struct in6_addr *in6 = &address->in6.sin6_addr;

    switch (address->any.sa_family) {
    case AF_INET: return ntohl(address->in.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    case AF_INET6:
        return IN6_IS_ADDR_LOOPBACK(in6) ||
               (IN6_IS_ADDR_V4MAPPED(in6) && in6->s6_addr[12] == IN_LOOPBACKNET);
    case AF_UNIX: return true;
    default: return false;
    }
}
