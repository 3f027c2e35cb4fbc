/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture, private: what pcap and pcapng files have in common, and the blocks of pcapng.
 */
#ifndef FNET_CAPTURE_PCAPNG_H
#define FNET_CAPTURE_PCAPNG_H

#include "fnet/capture.h"

static inline uint16_t fnet__capture_load16(bool is_big_endian, const uint8_t *at)
{
    uint16_t v = fnet_load_be16(at);
    return is_big_endian ? v : __builtin_bswap16(v);
}

static inline uint32_t fnet__capture_load32(bool is_big_endian, const uint8_t *at)
{
    uint32_t v = fnet_load_be32(at);
    return is_big_endian ? v : __builtin_bswap32(v);
}

/** What an interface says about its packets. */
struct fnet__capture_interface {
    uint32_t link_type;
    uint32_t snap_len;       /**< 0: no limit */
    uint64_t units_a_second; /**< of time stamps; 0: a resolution that cannot be */
    int64_t offset_s;        /**< added to time stamps */
};

/** A packet of INTERFACE that was ORIGINAL_LEN bytes long, at STAMP if it has one. */
struct fnet_captured fnet__capture_packet(const struct fnet__capture_interface *interface,
                                          const uint64_t *stamp, struct fnet_span bytes,
                                          uint32_t original_len);

/** The type of a section header block, the same in both byte orders. */
#define FNET__PCAPNG_SECTION 0x0a0d0d0au

/** A section. All zero is one that has not begun. */
struct fnet__pcapng {
    bool is_big_endian;
    struct fnet__capture_interface *interfaces; /**< owned */
    size_t count;
};

/** The head of a block. */
struct fnet__pcapng_block {
    uint32_t type;
    uint32_t len;
    bool is_wanted; /**< something reads it; then LEN <= FNET_SAVEFILE_RECORD_MAX_BYTES */
};

void fnet__pcapng_clear(struct fnet__pcapng *p);

/**
 * Look at the block that begins BYTES.
 *
 * Errors: FNET_AGAIN       its head is not whole.
 *         FNET_BAD_MAGIC   a section in no byte order.
 *         FNET_BAD_LENGTH
 */
FNET_CHECKED enum fnet_err fnet__pcapng_look(struct fnet__pcapng *p, struct fnet_span bytes,
                                             struct fnet__pcapng_block *out);

/**
 * Read BLOCK, a whole one of TYPE that is wanted.
 *
 * @param out         borrows from BLOCK; set if HAS_PACKET becomes true.
 *
 * Errors: FNET_BAD_MAGIC, FNET_BAD_LENGTH, FNET_BAD_VALUE, FNET_NOMEM.
 */
FNET_CHECKED enum fnet_err fnet__pcapng_read(struct fnet__pcapng *p, uint32_t type,
                                             struct fnet_span block, struct fnet_captured *out,
                                             bool *has_packet);

#endif
