/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Headers of captured packets, from the link down to TCP.
 *
 * Source: IEEE 802.3 and 802.1Q; tcpdump.org/linktypes for the others; RFC 791 (IPv4), RFC 8200
 * (IPv6) with RFC 4302 for the length of authentication headers, RFC 9293 (TCP); Wireshark's
 * exported PDU tags.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>

#include "fnet/capture.h"

#define ETHERNET_ADDRESSES_BYTES 12
#define SLL_HEADER_BYTES 16
#define SLL2_HEADER_BYTES 20
#define IPV4_HEADER_BYTES 20
#define IPV6_HEADER_BYTES 40
#define TCP_HEADER_BYTES 20

enum ether_type {
    ETHER_IPV4 = 0x0800,
    ETHER_IPV6 = 0x86dd,
    ETHER_VLAN = 0x8100,
    ETHER_VLAN_STACKED = 0x88a8,
    ETHER_VLAN_STACKED_OLD = 0x9100,
};

enum ip_protocol {
    PROTOCOL_HOP_BY_HOP = 0,
    PROTOCOL_TCP = 6,
    PROTOCOL_ROUTING = 43,
    PROTOCOL_FRAGMENT = 44,
    PROTOCOL_AUTHENTICATION = 51,
    PROTOCOL_DESTINATION = 60,
};

enum tcp_flag { TCP_FIN = 1, TCP_SYN = 2, TCP_RST = 4 };

/* The rest of a packet: what was captured of it, and how long it was on the network. */
struct rest {
    struct fnet_reader r;
    uint64_t original; /* >= what is left in R */
};

/* The next LEN bytes, which must be there as a header. */
static inline const uint8_t *take(struct rest *rest, size_t len)
{
    struct fnet_span s = fnet_get_span(&rest->r, len);

    if (s.len < len)
        return NULL;
    rest->original -= len;
    return s.ptr;
}

/* The packet ends after LEN bytes; what is behind them is padding of the link. */
static enum fnet_err limit(struct rest *rest, uint64_t len)
{
    if (len > rest->original)
        return FNET_BAD_LENGTH;
    rest->original = len;
    if (fnet_reader_left(&rest->r) > len)
        rest->r.end = rest->r.pos + len;
    return FNET_OK;
}

static enum fnet_err decode_tcp(struct rest rest, struct fnet_packet *p)
{
    const uint8_t *tcp = take(&rest, TCP_HEADER_BYTES);

    if (!tcp)
        return FNET_TRUNCATED;
    const size_t header = (size_t)(tcp[12] >> 4) * 4;
    if (header < TCP_HEADER_BYTES)
        return FNET_BAD_LENGTH;
    if (!take(&rest, header - TCP_HEADER_BYTES))
        return rest.original < header - TCP_HEADER_BYTES ? FNET_BAD_LENGTH : FNET_TRUNCATED;
    p->kind = FNET_PACKET_TCP;
    p->src.port = fnet_load_be16(tcp);
    p->dst.port = fnet_load_be16(tcp + 2);
    p->sequence = fnet_load_be32(tcp + 4);
    p->is_fin = tcp[13] & TCP_FIN;
    p->is_syn = tcp[13] & TCP_SYN;
    p->is_rst = tcp[13] & TCP_RST;
    p->payload = fnet_span_of(rest.r.pos, fnet_reader_left(&rest.r));
    p->missing = (size_t)(rest.original - p->payload.len);
    return FNET_OK;
}

static enum fnet_err decode_ipv4(struct rest rest, struct fnet_packet *p)
{
    const uint8_t *ip = take(&rest, IPV4_HEADER_BYTES);

    if (!ip)
        return FNET_TRUNCATED;
    const size_t header = (size_t)(ip[0] & 15) * 4;
    const size_t total = fnet_load_be16(ip + 2);
    if (ip[0] >> 4 != 4 || header < IPV4_HEADER_BYTES)
        return FNET_BAD_LENGTH;
    /* 0: the capturing host left the cutting to its network card, the whole packet counts. */
    if (total != 0 && (total < header || limit(&rest, total - IPV4_HEADER_BYTES) != FNET_OK))
        return FNET_BAD_LENGTH;
    if (!take(&rest, header - IPV4_HEADER_BYTES))
        return FNET_TRUNCATED;
    if (ip[9] != PROTOCOL_TCP)
        return FNET_OK;
    if (fnet_load_be16(ip + 6) & 0x3fff) { /* "more fragments", or an offset */
        p->kind = FNET_PACKET_FRAGMENT;
        return FNET_OK;
    }
    p->src.ip_version = p->dst.ip_version = 4;
    memcpy(p->src.address, ip + 12, 4);
    memcpy(p->dst.address, ip + 16, 4);
    return decode_tcp(rest, p);
}

/* Walk over the extension headers to the one of PROTOCOL *NEXT that is not one. */
static enum fnet_err skip_extensions(struct rest *rest, uint8_t *next, bool *is_fragment)
{
    for (int n = 0; n < FNET_PACKET_HEADERS_MAX; n++) {
        size_t len;
        if (*next != PROTOCOL_HOP_BY_HOP && *next != PROTOCOL_ROUTING &&
            *next != PROTOCOL_FRAGMENT && *next != PROTOCOL_AUTHENTICATION &&
            *next != PROTOCOL_DESTINATION)
            return FNET_OK;
        const uint8_t *extension = take(rest, 8);
        if (!extension)
            return FNET_TRUNCATED;
        if (*next == PROTOCOL_FRAGMENT) {
            *is_fragment |= (fnet_load_be16(extension + 2) & 0xfff9) != 0;
            len = 8;
        } else if (*next == PROTOCOL_AUTHENTICATION) {
            len = ((size_t)extension[1] + 2) * 4;
        } else {
            len = ((size_t)extension[1] + 1) * 8;
        }
        if (!take(rest, len - 8))
            return FNET_TRUNCATED;
        *next = extension[0];
        /* What stands behind the first header of a later fragment is payload, no header. */
        if (*is_fragment)
            return FNET_OK;
    }
    return FNET_BAD_LENGTH;
}

static enum fnet_err decode_ipv6(struct rest rest, struct fnet_packet *p)
{
    const uint8_t *ip = take(&rest, IPV6_HEADER_BYTES);
    bool is_fragment = false;

    if (!ip)
        return FNET_TRUNCATED;
    const size_t len = fnet_load_be16(ip + 4);
    uint8_t next = ip[6];
    if (ip[0] >> 4 != 6 || (len != 0 && limit(&rest, len) != FNET_OK))
        return FNET_BAD_LENGTH;
    enum fnet_err err = skip_extensions(&rest, &next, &is_fragment);
    if (err != FNET_OK || next != PROTOCOL_TCP)
        return err;
    if (is_fragment) {
        p->kind = FNET_PACKET_FRAGMENT;
        return FNET_OK;
    }
    p->src.ip_version = p->dst.ip_version = 6;
    memcpy(p->src.address, ip + 8, 16);
    memcpy(p->dst.address, ip + 24, 16);
    return decode_tcp(rest, p);
}

static enum fnet_err decode_ip(struct rest rest, struct fnet_packet *p)
{
    if (fnet_reader_left(&rest.r) == 0)
        return FNET_TRUNCATED;
    switch (rest.r.pos[0] >> 4) {
    case 4: return decode_ipv4(rest, p);
    case 6: return decode_ipv6(rest, p);
    default: return FNET_OK;
    }
}

/* What follows a 2-byte protocol number that the link, or a VLAN tag, gave. */
static enum fnet_err decode_ether_type(struct rest rest, uint16_t type, struct fnet_packet *p)
{
    for (int tags = 0;
         type == ETHER_VLAN || type == ETHER_VLAN_STACKED || type == ETHER_VLAN_STACKED_OLD;
         tags++) {
        const uint8_t *tag = take(&rest, 4);
        if (!tag)
            return FNET_TRUNCATED;
        if (tags == FNET_PACKET_HEADERS_MAX)
            return FNET_BAD_LENGTH;
        type = fnet_load_be16(tag + 2);
    }
    if (type == ETHER_IPV4)
        return decode_ipv4(rest, p);
    if (type == ETHER_IPV6)
        return decode_ipv6(rest, p);
    return FNET_OK;
}

static enum fnet_err decode_ethernet(struct rest rest, struct fnet_packet *p)
{
    const uint8_t *header = take(&rest, ETHERNET_ADDRESSES_BYTES + 2);

    if (!header)
        return FNET_TRUNCATED;
    return decode_ether_type(rest, fnet_load_be16(header + ETHERNET_ADDRESSES_BYTES), p);
}

static enum fnet_err decode_cooked(struct rest rest, size_t header_len, size_t type_at,
                                   struct fnet_packet *p)
{
    const uint8_t *header = take(&rest, header_len);

    return header ? decode_ether_type(rest, fnet_load_be16(header + type_at), p) : FNET_TRUNCATED;
}

/* BSD loopback: the address family, in whatever byte order. The IP version says the same. */
static enum fnet_err decode_loopback(struct rest rest, struct fnet_packet *p)
{
    return take(&rest, 4) ? decode_ip(rest, p) : FNET_TRUNCATED;
}

/* ---- exported PDU ------------------------------------------------------------------------ */

static void set_address(struct fnet_flow_end *end, struct fnet_span value, uint32_t ip_version)
{
    memset(end->address, 0, sizeof end->address);
    memcpy(end->address, value.ptr, value.len);
    end->ip_version = ip_version;
}

/* Bytes of the value of the tags that are read; 0 for others, which may have any length. */
static size_t tag_len(uint16_t tag)
{
    switch (tag) {
    case FNET_TAG_IPV6_SRC:
    case FNET_TAG_IPV6_DST: return 16;
    case FNET_TAG_IPV4_SRC:
    case FNET_TAG_IPV4_DST:
    case FNET_TAG_SRC_PORT:
    case FNET_TAG_DST_PORT: return 4;
    default: return 0;
    }
}

static void take_tag(uint16_t tag, struct fnet_span value, struct fnet_packet *p)
{
    switch (tag) {
    case FNET_TAG_IPV4_SRC: set_address(&p->src, value, 4); break;
    case FNET_TAG_IPV4_DST: set_address(&p->dst, value, 4); break;
    case FNET_TAG_IPV6_SRC: set_address(&p->src, value, 6); break;
    case FNET_TAG_IPV6_DST: set_address(&p->dst, value, 6); break;
    case FNET_TAG_SRC_PORT: p->src.port = fnet_load_be32(value.ptr); break;
    case FNET_TAG_DST_PORT: p->dst.port = fnet_load_be32(value.ptr); break;
    default: break;
    }
}

/* Writers pad a name with NULs, some inside its length. */
static bool is_fnet(struct fnet_span name)
{
    static const char wanted[] = FNET_TAG_DISSECTOR_NAME;

    return strnlen((const char *)name.ptr, name.len) == sizeof wanted - 1 &&
           memcmp(name.ptr, wanted, sizeof wanted - 1) == 0;
}

static enum fnet_err decode_exported(struct rest rest, struct fnet_packet *p)
{
    bool is_ours = false;

    for (;;) {
        const uint8_t *head = take(&rest, 4);
        if (!head)
            return FNET_TRUNCATED;
        const uint16_t tag = fnet_load_be16(head);
        const uint16_t len = fnet_load_be16(head + 2);
        const uint8_t *value = take(&rest, len);
        if (!value)
            return FNET_TRUNCATED;
        if (tag == FNET_TAG_END)
            break;
        if (tag_len(tag) != 0 && len != tag_len(tag))
            return FNET_BAD_LENGTH;
        if (tag == FNET_TAG_DISSECTOR)
            is_ours = is_fnet(fnet_span_of(value, len));
        take_tag(tag, fnet_span_of(value, len), p);
    }
    if (is_ours)
        p->kind = FNET_PACKET_STRETCH;
    p->payload = fnet_span_of(rest.r.pos, fnet_reader_left(&rest.r));
    p->missing = (size_t)(rest.original - p->payload.len);
    return FNET_OK;
}

enum fnet_err fnet_packet_decode(const struct fnet_captured *c, struct fnet_packet *out)
{
    struct rest rest = {.r = fnet_reader_of(c->bytes), .original = c->original_len};
    struct fnet_packet p = {
        .kind = FNET_PACKET_OTHER, .has_time = c->has_time, .time_ns = c->time_ns};
    enum fnet_err err = FNET_BAD_KIND;

    switch (c->link_type) {
    case FNET_LINK_ETHERNET: err = decode_ethernet(rest, &p); break;
    case FNET_LINK_NULL:
    case FNET_LINK_LOOP: err = decode_loopback(rest, &p); break;
    case FNET_LINK_RAW:
    case FNET_LINK_RAW_BSD:
    case FNET_LINK_RAW_OPENBSD:
    case FNET_LINK_IPV4:
    case FNET_LINK_IPV6: err = decode_ip(rest, &p); break;
    case FNET_LINK_LINUX_SLL: err = decode_cooked(rest, SLL_HEADER_BYTES, 14, &p); break;
    case FNET_LINK_LINUX_SLL2: err = decode_cooked(rest, SLL2_HEADER_BYTES, 0, &p); break;
    case FNET_LINK_EXPORTED_PDU: err = decode_exported(rest, &p); break;
    default: break;
    }
    if (err == FNET_OK)
        *out = p;
    return err;
}

void fnet_flow_end_format(const struct fnet_flow_end *end,
                          char text[static FNET_FLOW_END_TEXT_BYTES])
{
    char address[INET6_ADDRSTRLEN];

    if (end->ip_version == 0) {
        snprintf(text, FNET_FLOW_END_TEXT_BYTES, "unix:%" PRIu32, end->port);
        return;
    }
    inet_ntop(end->ip_version == 6 ? AF_INET6 : AF_INET, end->address, address, sizeof address);
    snprintf(text, FNET_FLOW_END_TEXT_BYTES, end->ip_version == 6 ? "[%s]:%" PRIu32 : "%s:%" PRIu32,
             address, end->port);
}
