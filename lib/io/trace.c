/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace: a pcap file of exported PDUs, one for each stretch of bytes sent or received.
 *
 * Source: draft-ietf-opsawg-pcap (file and packet header); Wireshark's exported PDU tags
 * (LINKTYPE_WIRESHARK_UPPER_PDU): type and length as 2 bytes each, big-endian, then the value.
 */
#include "trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PCAP_MAGIC_NANOSECONDS 0xA1B23C4Du
#define LINKTYPE_EXPORTED_PDU 252
#define SNAP_LENGTH 0x7fffffff
#define FLUSH_NS (100 * UINT64_C(1000000))
#define BUFFER_BYTES (256u << 10)
/* Longer packets Wireshark refuses, and so does our own reader. */
#define PACKET_MAX_BYTES (256u << 10)

enum tag {
    TAG_END = 0,
    TAG_DISSECTOR = 12,
    TAG_IPV4_SOURCE = 20,
    TAG_IPV4_DESTINATION = 21,
    TAG_IPV6_SOURCE = 22,
    TAG_IPV6_DESTINATION = 23,
    TAG_PORT_TYPE = 24,
    TAG_SOURCE_PORT = 25,
    TAG_DESTINATION_PORT = 26,
};

/* Tags of one packet at their longest: dissector 8, addresses 2 * 20, three numbers 3 * 8, end. */
#define TAGS_BYTES (8 + 2 * 20 + 3 * 8 + 4)

struct fnet_trace {
    struct fnet_loop *loop;
    FILE *file;
    struct fnet_timer flush;
    uint32_t flows;
    int saved_errno;           /* of the first failure; nothing is written after it */
    char buffer[BUFFER_BYTES]; /* of FILE: the C library's own is 4 KiB */
};

static void on_flush(void *arg)
{
    struct fnet_trace *trace = arg;

    if (fflush(trace->file) != 0 && trace->saved_errno == 0)
        trace->saved_errno = errno;
}

static void put(struct fnet_trace *trace, const void *bytes, size_t len)
{
    if (trace->saved_errno == 0 && fwrite(bytes, 1, len, trace->file) != len)
        trace->saved_errno = errno;
}

enum fnet_err fnet_trace_open(struct fnet_loop *loop, const char *file, struct fnet_trace **out)
{
    struct fnet_trace *trace = calloc(1, sizeof *trace);

    if (!trace)
        return FNET_NOMEM;
    trace->file = fopen(file, "we");
    if (!trace->file) {
        free(trace);
        return FNET_SYSTEM;
    }
    setvbuf(trace->file, trace->buffer, _IOFBF, sizeof trace->buffer);
    trace->loop = loop;
    trace->flush = (struct fnet_timer){.run = on_flush, .arg = trace};

    const struct {
        uint32_t magic;
        uint16_t major, minor;
        uint32_t zone, accuracy, snap_length, link_type;
    } header = {.magic = PCAP_MAGIC_NANOSECONDS,
                .major = 2,
                .minor = 4,
                .snap_length = SNAP_LENGTH,
                .link_type = LINKTYPE_EXPORTED_PDU};
    put(trace, &header, sizeof header);
    *out = trace;
    return FNET_OK;
}

enum fnet_err fnet_trace_close(struct fnet_trace *trace)
{
    if (!trace)
        return FNET_OK;
    fnet_timer_cancel(trace->loop, &trace->flush);
    if (fclose(trace->file) != 0 && trace->saved_errno == 0)
        trace->saved_errno = errno;

    int saved_errno = trace->saved_errno;
    free(trace);
    errno = saved_errno;
    return saved_errno == 0 ? FNET_OK : FNET_SYSTEM;
}

void fnet__trace_begin(struct fnet_trace *trace, struct fnet__trace_flow *flow)
{
    flow->number = ++trace->flows;
}

static void put_tag(struct fnet_writer *w, enum tag tag, const void *value, uint16_t len)
{
    fnet_put_u16(w, (uint16_t)tag);
    fnet_put_u16(w, len);
    fnet_put_bytes(w, value, len);
}

static void put_number_tag(struct fnet_writer *w, enum tag tag, uint32_t number)
{
    uint8_t value[4];

    fnet_store_be32(value, number);
    put_tag(w, tag, value, sizeof value);
}

static void put_address_tag(struct fnet_writer *w, const struct fnet_address *address,
                            enum tag ipv4, enum tag ipv6)
{
    if (address->any.sa_family == AF_INET)
        put_tag(w, ipv4, &address->in.sin_addr, 4);
    else if (address->any.sa_family == AF_INET6)
        put_tag(w, ipv6, &address->in6.sin6_addr, 16);
}

/* Unix sockets have no ports: the consumer's is the flow's number, the producer's 0. */
static uint32_t port_of(const struct fnet__trace_flow *flow, const struct fnet_address *address)
{
    if (address->any.sa_family == AF_INET)
        return ntohs(address->in.sin_port);
    if (address->any.sa_family == AF_INET6)
        return ntohs(address->in6.sin6_port);
    return address == &flow->consumer ? flow->number : 0;
}

static void put_tags(struct fnet_writer *w, const struct fnet__trace_flow *flow, bool is_response)
{
    const struct fnet_address *from = is_response ? &flow->producer : &flow->consumer;
    const struct fnet_address *to = is_response ? &flow->consumer : &flow->producer;
    /* Wireshark's port types: none 0, TCP 2. */
    const uint32_t port_type = from->any.sa_family == AF_UNIX ? 0 : 2;

    put_tag(w, TAG_DISSECTOR, "fnet", 4);
    put_address_tag(w, from, TAG_IPV4_SOURCE, TAG_IPV6_SOURCE);
    put_address_tag(w, to, TAG_IPV4_DESTINATION, TAG_IPV6_DESTINATION);
    put_number_tag(w, TAG_PORT_TYPE, port_type);
    put_number_tag(w, TAG_SOURCE_PORT, port_of(flow, from));
    put_number_tag(w, TAG_DESTINATION_PORT, port_of(flow, to));
    put_tag(w, TAG_END, NULL, 0);
}

static void put_packet_header(struct fnet_trace *trace, size_t len)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    const uint32_t header[4] = {(uint32_t)now.tv_sec, (uint32_t)now.tv_nsec, (uint32_t)len,
                                (uint32_t)len};
    put(trace, header, sizeof header);
}

void fnet__trace_write(struct fnet_trace *trace, const struct fnet__trace_flow *flow,
                       bool is_response, const struct iovec *spans, size_t len)
{
    uint8_t tags[TAGS_BYTES];
    struct fnet_writer w = fnet_writer_of(tags, sizeof tags);
    size_t room = 0; /* of the packet begun */
    size_t done = 0; /* of the first of SPANS */

    put_tags(&w, flow, is_response);
    const size_t tags_len = (size_t)(w.pos - tags);
    while (len > 0) {
        if (room == 0) {
            room = len < PACKET_MAX_BYTES - tags_len ? len : PACKET_MAX_BYTES - tags_len;
            put_packet_header(trace, tags_len + room);
            put(trace, tags, tags_len);
        }
        size_t n = spans->iov_len - done < room ? spans->iov_len - done : room;
        put(trace, (const uint8_t *)spans->iov_base + done, n);
        room -= n;
        len -= n;
        done += n;
        if (done == spans->iov_len) {
            spans++;
            done = 0;
        }
    }
    if (!fnet_timer_is_set(&trace->flush) &&
        fnet_timer_set(trace->loop, &trace->flush, fnet_loop_now_ns(trace->loop) + FLUSH_NS) !=
            FNET_OK)
        on_flush(trace); /* without a timer each stretch is written out */
}
