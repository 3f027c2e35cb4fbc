/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of pcapng files.
 *
 * Source: draft-ietf-opsawg-pcapng sections 3 (block structure, options) and 4 (block types).
 */
#include "pcapng.h"

#include <stdlib.h>

#define BLOCK_HEADER_BYTES 8  /* type, total length */
#define BLOCK_TRAILER_BYTES 4 /* total length again */
#define SECTION_HEAD_BYTES 12 /* type, length, byte-order magic: how to read the length */
#define PCAPNG_MAJOR 1
#define BYTE_ORDER_MAGIC 0x1a2b3c4du

enum block_type {
    BLOCK_SECTION = FNET__PCAPNG_SECTION,
    BLOCK_INTERFACE = 1,
    BLOCK_PACKET = 2,
    BLOCK_SIMPLE_PACKET = 3,
    BLOCK_ENHANCED_PACKET = 6,
};

enum option_code {
    OPTION_END = 0,
    OPTION_TSRESOL = 9,
    OPTION_TSOFFSET = 14,
};

static uint16_t load16(const struct fnet__pcapng *p, const uint8_t *at)
{
    return fnet__capture_load16(p->is_big_endian, at);
}

static uint32_t load32(const struct fnet__pcapng *p, const uint8_t *at)
{
    return fnet__capture_load32(p->is_big_endian, at);
}

static int64_t load64_signed(const struct fnet__pcapng *p, const uint8_t *at)
{
    uint64_t v = fnet_load_be64(at);
    return (int64_t)(p->is_big_endian ? v : __builtin_bswap64(v));
}

void fnet__pcapng_clear(struct fnet__pcapng *p)
{
    free(p->interfaces);
    *p = (struct fnet__pcapng){.count = 0};
}

/* STAMP in an interface's units as nanoseconds since 1970, if it is a time that can be. */
static void set_time(struct fnet_captured *c, const struct fnet__capture_interface *interface,
                     uint64_t stamp)
{
    const uint64_t second_ns = 1000000000;
    uint64_t seconds, rest;

    if (interface->units_a_second == 0)
        return;
    seconds = stamp / interface->units_a_second;
    rest = stamp % interface->units_a_second;
    if (__builtin_add_overflow(seconds, interface->offset_s, &seconds) ||
        seconds >= UINT64_MAX / second_ns)
        return;
    c->has_time = true;
    /* The wide division is a slow one, and hardly ever needed. */
    if (rest <= UINT64_MAX / second_ns)
        rest = rest * second_ns / interface->units_a_second;
    else
        rest = (uint64_t)((unsigned __int128)rest * second_ns / interface->units_a_second);
    c->time_ns = seconds * second_ns + rest;
}

struct fnet_captured fnet__capture_packet(const struct fnet__capture_interface *interface,
                                          const uint64_t *stamp, struct fnet_span bytes,
                                          uint32_t original_len)
{
    struct fnet_captured c = {
        .link_type = interface->link_type,
        /* Writers exist that leave it smaller than what was captured, or 0. */
        .original_len = original_len > bytes.len ? original_len : (uint32_t)bytes.len,
        .bytes = bytes,
    };

    if (stamp)
        set_time(&c, interface, *stamp);
    return c;
}

static uint64_t resolution(uint8_t tsresol)
{
    uint64_t units = 1;
    unsigned exponent = tsresol & 0x7f;

    if (tsresol & 0x80)
        return exponent < 64 ? UINT64_C(1) << exponent : 0;
    if (exponent > 19)
        return 0;
    while (exponent--)
        units *= 10;
    return units;
}

static enum fnet_err read_options(const struct fnet__pcapng *p, struct fnet_reader r,
                                  struct fnet__capture_interface *interface)
{
    while (fnet_reader_left(&r) >= 4) {
        struct fnet_span head = fnet_get_span(&r, 4);
        const uint16_t code = load16(p, head.ptr);
        const uint16_t len = load16(p, head.ptr + 2);
        if (code == OPTION_END)
            return FNET_OK;
        struct fnet_span value = fnet_get_span(&r, len);
        fnet_get_span(&r, -(size_t)len & 3);
        if (r.failed)
            return FNET_BAD_LENGTH;
        if (code == OPTION_TSRESOL && len == 1)
            interface->units_a_second = resolution(value.ptr[0]);
        if (code == OPTION_TSOFFSET && len == 8)
            interface->offset_s = load64_signed(p, value.ptr);
    }
    return FNET_OK;
}

static enum fnet_err add_interface(struct fnet__pcapng *p, struct fnet_reader body)
{
    struct fnet_span head = fnet_get_span(&body, 8);

    if (head.len == 0)
        return FNET_BAD_LENGTH;
    if (p->count == FNET_SAVEFILE_INTERFACES_MAX)
        return FNET_BAD_LENGTH;
    struct fnet__capture_interface new = {
        .link_type = load16(p, head.ptr),
        .snap_len = load32(p, head.ptr + 4),
        .units_a_second = 1000000,
    };
    enum fnet_err err = read_options(p, body, &new);
    if (err != FNET_OK)
        return err;
    struct fnet__capture_interface *grown =
        realloc(p->interfaces, (p->count + 1) * sizeof *p->interfaces);
    if (!grown)
        return FNET_NOMEM;
    p->interfaces = grown;
    p->interfaces[p->count++] = new;
    return FNET_OK;
}

/* Enhanced packet: interface 4, time stamp 8, captured 4, original 4, bytes. The obsolete packet
 * block has a 2-byte interface and a count of drops in the first 4. */
static enum fnet_err read_packet(const struct fnet__pcapng *p, uint32_t type,
                                 struct fnet_reader body, struct fnet_captured *out)
{
    struct fnet_span head = fnet_get_span(&body, 20);

    if (head.len == 0)
        return FNET_BAD_LENGTH;
    const uint32_t index = type == BLOCK_PACKET ? load16(p, head.ptr) : load32(p, head.ptr);
    const uint64_t stamp = (uint64_t)load32(p, head.ptr + 4) << 32 | load32(p, head.ptr + 8);
    const uint32_t len = load32(p, head.ptr + 12);
    const uint32_t original_len = load32(p, head.ptr + 16);
    struct fnet_span bytes = fnet_get_span(&body, len);
    if (body.failed)
        return FNET_BAD_LENGTH;
    if (index >= p->count)
        return FNET_BAD_VALUE;
    *out = fnet__capture_packet(&p->interfaces[index], &stamp, bytes, original_len);
    return FNET_OK;
}

/* Simple packet: original 4, bytes; of the first interface, whose snap length cuts it. */
static enum fnet_err read_simple_packet(const struct fnet__pcapng *p, struct fnet_reader body,
                                        struct fnet_captured *out)
{
    struct fnet_span head = fnet_get_span(&body, 4);

    if (head.len == 0)
        return FNET_BAD_LENGTH;
    if (p->count == 0)
        return FNET_BAD_VALUE;
    const uint32_t original_len = load32(p, head.ptr);
    const uint32_t snap_len = p->interfaces[0].snap_len;
    const uint32_t len = snap_len && snap_len < original_len ? snap_len : original_len;
    struct fnet_span bytes = fnet_get_span(&body, len);
    if (body.failed)
        return FNET_BAD_LENGTH;
    *out = fnet__capture_packet(&p->interfaces[0], NULL, bytes, original_len);
    return FNET_OK;
}

/* A section may have another byte order than the one before. */
static enum fnet_err look_at_section(struct fnet__pcapng *p, struct fnet_span bytes)
{
    if (bytes.len < SECTION_HEAD_BYTES)
        return FNET_AGAIN;
    p->is_big_endian = fnet_load_be32(bytes.ptr + 8) == BYTE_ORDER_MAGIC;
    return load32(p, bytes.ptr + 8) == BYTE_ORDER_MAGIC ? FNET_OK : FNET_BAD_MAGIC;
}

static enum fnet_err start_section(struct fnet__pcapng *p, struct fnet_reader body)
{
    struct fnet_span head = fnet_get_span(&body, 16); /* magic, version 2 + 2, section length 8 */

    if (head.len == 0)
        return FNET_BAD_LENGTH;
    if (load16(p, head.ptr + 4) != PCAPNG_MAJOR)
        return FNET_BAD_MAGIC;
    p->count = 0; /* it describes its own interfaces */
    return FNET_OK;
}

static bool is_wanted(uint32_t type)
{
    return type == BLOCK_SECTION || type == BLOCK_INTERFACE || type == BLOCK_PACKET ||
           type == BLOCK_SIMPLE_PACKET || type == BLOCK_ENHANCED_PACKET;
}

enum fnet_err fnet__pcapng_look(struct fnet__pcapng *p, struct fnet_span bytes,
                                struct fnet__pcapng_block *out)
{
    if (bytes.len < BLOCK_HEADER_BYTES)
        return FNET_AGAIN;
    if (fnet_load_be32(bytes.ptr) == BLOCK_SECTION) {
        enum fnet_err err = look_at_section(p, bytes);
        if (err != FNET_OK)
            return err;
    }
    const uint32_t type = load32(p, bytes.ptr);
    const uint32_t len = load32(p, bytes.ptr + 4);
    if (len < BLOCK_HEADER_BYTES + BLOCK_TRAILER_BYTES || len % 4 != 0 ||
        (is_wanted(type) && len > FNET_SAVEFILE_RECORD_MAX_BYTES))
        return FNET_BAD_LENGTH;
    *out = (struct fnet__pcapng_block){.type = type, .len = len, .is_wanted = is_wanted(type)};
    return FNET_OK;
}

enum fnet_err fnet__pcapng_read(struct fnet__pcapng *p, uint32_t type, struct fnet_span block,
                                struct fnet_captured *out, bool *has_packet)
{
    const uint8_t *trailer = block.ptr + block.len - BLOCK_TRAILER_BYTES;
    struct fnet_reader body = fnet_reader_of(fnet_span_of(
        block.ptr + BLOCK_HEADER_BYTES, block.len - BLOCK_HEADER_BYTES - BLOCK_TRAILER_BYTES));

    if (load32(p, trailer) != block.len)
        return FNET_BAD_LENGTH;
    switch ((enum block_type)type) {
    case BLOCK_SECTION: return start_section(p, body);
    case BLOCK_INTERFACE: return add_interface(p, body);
    case BLOCK_PACKET:
    case BLOCK_ENHANCED_PACKET: *has_packet = true; return read_packet(p, type, body, out);
    case BLOCK_SIMPLE_PACKET: *has_packet = true; return read_simple_packet(p, body, out);
    }
    return FNET_BAD_KIND;
}
