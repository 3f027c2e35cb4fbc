/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base: spans of bytes and bounds-checked big-endian cursors.
 *
 * A cursor remembers that it once ran over its end: every later get returns 0 and every later put
 * writes nothing, so a codec reads field after field and asks once, at the end, whether all of
 * them were there.
 */
#ifndef FNET_BYTES_H
#define FNET_BYTES_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** Borrowed bytes. */
struct fnet_span {
    const uint8_t *ptr;
    size_t len;
};

/** Read cursor; begin with fnet_reader_of(). Invariant: pos <= end. */
struct fnet_reader {
    const uint8_t *pos;
    const uint8_t *end;
    bool failed; /**< something was asked for that is not there */
};

/** Write cursor; begin with fnet_writer_of(). Invariant: pos <= end. */
struct fnet_writer {
    uint8_t *pos;
    uint8_t *end;
    bool failed; /**< something did not fit */
};

static inline uint16_t fnet_load_be16(const void *at)
{
    uint16_t v;
    memcpy(&v, at, sizeof v);
    return be16toh(v);
}

static inline uint32_t fnet_load_be32(const void *at)
{
    uint32_t v;
    memcpy(&v, at, sizeof v);
    return be32toh(v);
}

static inline uint64_t fnet_load_be64(const void *at)
{
    uint64_t v;
    memcpy(&v, at, sizeof v);
    return be64toh(v);
}

static inline void fnet_store_be16(void *at, uint16_t v)
{
    v = htobe16(v);
    memcpy(at, &v, sizeof v);
}

static inline void fnet_store_be32(void *at, uint32_t v)
{
    v = htobe32(v);
    memcpy(at, &v, sizeof v);
}

static inline void fnet_store_be64(void *at, uint64_t v)
{
    v = htobe64(v);
    memcpy(at, &v, sizeof v);
}

static inline struct fnet_span fnet_span_of(const void *ptr, size_t len)
{
    return (struct fnet_span){.ptr = ptr, .len = len};
}

static inline struct fnet_reader fnet_reader_of(struct fnet_span span)
{
    return (struct fnet_reader){.pos = span.ptr, .end = span.ptr + span.len};
}

static inline size_t fnet_reader_left(const struct fnet_reader *r)
{
    return (size_t)(r->end - r->pos);
}

/** The next LEN bytes, borrowed from the reader's span; an empty span when they are not there. */
static inline struct fnet_span fnet_get_span(struct fnet_reader *r, size_t len)
{
    if (r->failed || fnet_reader_left(r) < len) {
        r->failed = true;
        return (struct fnet_span){.ptr = r->pos, .len = 0};
    }
    struct fnet_span span = {.ptr = r->pos, .len = len};
    r->pos += len;
    return span;
}

static inline uint8_t fnet_get_u8(struct fnet_reader *r)
{
    struct fnet_span s = fnet_get_span(r, 1);
    return s.len ? s.ptr[0] : 0;
}

static inline uint16_t fnet_get_u16(struct fnet_reader *r)
{
    struct fnet_span s = fnet_get_span(r, 2);
    return s.len ? fnet_load_be16(s.ptr) : 0;
}

static inline uint32_t fnet_get_u32(struct fnet_reader *r)
{
    struct fnet_span s = fnet_get_span(r, 4);
    return s.len ? fnet_load_be32(s.ptr) : 0;
}

static inline uint64_t fnet_get_u64(struct fnet_reader *r)
{
    struct fnet_span s = fnet_get_span(r, 8);
    return s.len ? fnet_load_be64(s.ptr) : 0;
}

static inline int32_t fnet_get_i32(struct fnet_reader *r)
{
    return (int32_t)fnet_get_u32(r);
}

static inline int64_t fnet_get_i64(struct fnet_reader *r)
{
    return (int64_t)fnet_get_u64(r);
}

static inline struct fnet_writer fnet_writer_of(void *ptr, size_t len)
{
    uint8_t *p = ptr;
    return (struct fnet_writer){.pos = p, .end = p + len};
}

static inline size_t fnet_writer_left(const struct fnet_writer *w)
{
    return (size_t)(w->end - w->pos);
}

/** Room for LEN bytes at the cursor, which moves behind them; NULL when there is none. */
static inline uint8_t *fnet_put_room(struct fnet_writer *w, size_t len)
{
    if (w->failed || fnet_writer_left(w) < len) {
        w->failed = true;
        return NULL;
    }
    uint8_t *at = w->pos;
    w->pos += len;
    return at;
}

static inline void fnet_put_bytes(struct fnet_writer *w, const void *bytes, size_t len)
{
    uint8_t *at = fnet_put_room(w, len);
    if (at && len)
        memcpy(at, bytes, len);
}

static inline void fnet_put_u8(struct fnet_writer *w, uint8_t v)
{
    uint8_t *at = fnet_put_room(w, 1);
    if (at)
        *at = v;
}

static inline void fnet_put_u16(struct fnet_writer *w, uint16_t v)
{
    uint8_t *at = fnet_put_room(w, 2);
    if (at)
        fnet_store_be16(at, v);
}

static inline void fnet_put_u32(struct fnet_writer *w, uint32_t v)
{
    uint8_t *at = fnet_put_room(w, 4);
    if (at)
        fnet_store_be32(at, v);
}

static inline void fnet_put_u64(struct fnet_writer *w, uint64_t v)
{
    uint8_t *at = fnet_put_room(w, 8);
    if (at)
        fnet_store_be64(at, v);
}

static inline void fnet_put_i32(struct fnet_writer *w, int32_t v)
{
    fnet_put_u32(w, (uint32_t)v);
}

static inline void fnet_put_i64(struct fnet_writer *w, int64_t v)
{
    fnet_put_u64(w, (uint64_t)v);
}

#endif
