/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The addresses an endpoint stands for.
 *
 * Source: getaddrinfo(3), unix(7).
 */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>

#include "fnet/io.h"

/* A name server may send thousands; nobody has that many. */
#define ADDRESSES_MAX 64

static enum fnet_err resolve_unix(const struct fnet_endpoint *endpoint, struct fnet_address **out,
                                  size_t *count, const char **why)
{
    struct fnet_address *address = calloc(1, sizeof *address);

    if (!address) {
        *why = fnet_strerror(FNET_NOMEM);
        return FNET_NOMEM;
    }
    address->un.sun_family = AF_UNIX;
    memcpy(address->un.sun_path, endpoint->path, sizeof endpoint->path);
    address->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(endpoint->path) + 1);
    *out = address;
    *count = 1;
    return FNET_OK;
}

static enum fnet_err err_of_gai(int code)
{
    switch (code) {
    case EAI_AGAIN: return FNET_AGAIN;
    case EAI_MEMORY: return FNET_NOMEM;
    case EAI_SYSTEM: return FNET_SYSTEM;
    default: return FNET_INVALID;
    }
}

/* Numbers need no name server and are taken as they are, whatever this host can reach. */
static int look_up(const struct fnet_endpoint *endpoint, struct addrinfo **found)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    const char *host = endpoint->host[0] ? endpoint->host : FNET_DEFAULT_HOST;
    char port[sizeof "65535"];

    snprintf(port, sizeof port, "%u", (unsigned)endpoint->port);
    int code = getaddrinfo(host, port, &hints, found);
    if (code != EAI_NONAME)
        return code;
    hints.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV;
    return getaddrinfo(host, port, &hints, found);
}

static bool is_among(const struct fnet_address *addresses, size_t count, const struct addrinfo *one)
{
    for (size_t i = 0; i < count; i++)
        if (addresses[i].len == one->ai_addrlen &&
            memcmp(&addresses[i].any, one->ai_addr, one->ai_addrlen) == 0)
            return true;
    return false;
}

/* A name in two lines of /etc/hosts yields one address twice, which cannot be bound twice. */
static size_t copy_addresses(const struct addrinfo *found, struct fnet_address *out)
{
    size_t count = 0;

    for (; found && count < ADDRESSES_MAX; found = found->ai_next) {
        if (found->ai_family != AF_INET && found->ai_family != AF_INET6)
            continue;
        if (is_among(out, count, found))
            continue;
        memcpy(&out[count].any, found->ai_addr, found->ai_addrlen);
        out[count++].len = found->ai_addrlen;
    }
    return count;
}

enum fnet_err fnet_endpoint_resolve(const struct fnet_endpoint *endpoint, bool for_listening,
                                    struct fnet_address **out, size_t *count, const char **why)
{
    struct addrinfo *found = NULL;

    if (endpoint->is_unix)
        return resolve_unix(endpoint, out, count, why);
    if (endpoint->port == 0 && !for_listening) {
        *why = "port 0 cannot be connected to";
        return FNET_INVALID;
    }
    int code = look_up(endpoint, &found);
    if (code != 0) {
        *why = code == EAI_SYSTEM ? strerror(errno) : gai_strerror(code);
        return err_of_gai(code);
    }

    enum fnet_err err = FNET_OK;
    struct fnet_address *addresses = calloc(ADDRESSES_MAX, sizeof *addresses);
    size_t n = addresses ? copy_addresses(found, addresses) : 0;
    freeaddrinfo(found);
    if (!addresses)
        err = FNET_NOMEM;
    else if (n == 0)
        err = FNET_INVALID;
    if (err != FNET_OK) {
        *why = err == FNET_NOMEM ? fnet_strerror(err) : gai_strerror(EAI_NONAME);
        free(addresses);
        return err;
    }
    *out = addresses;
    *count = n;
    return FNET_OK;
}
