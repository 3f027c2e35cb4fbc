/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Savefiles, fed in pieces: the records of pcap files here, the blocks of pcapng files in pcapng.c.
 *
 * Source: draft-ietf-opsawg-pcap (file and record header).
 */
#include <assert.h>
#include <stdlib.h>

#include "pcapng.h"

#define PCAP_HEADER_BYTES 24
#define PCAP_RECORD_HEADER_BYTES 16
#define PCAP_MAJOR 2
#define PCAP_LINK_TYPE_MASK 0xffffu /* the bits above tell about frame check sequences */

enum state { AT_START, IN_PCAP, IN_PCAPNG, DEAD };

struct fnet_savefile {
    enum state state;
    bool is_big_endian; /* a pcap file */

    /* Fed and not used yet: staged[begin, end), begin <= end <= capacity. */
    uint8_t *staged;
    size_t begin;
    size_t end;
    size_t capacity;
    uint64_t offset; /* of staged[begin] in the file */
    uint64_t skip;   /* bytes of a block nobody wants that were not fed yet */

    struct fnet__capture_interface interface; /* of a pcap file, all of it */
    uint32_t unit_ns;                         /* of its time stamps' fractions */
    struct fnet__pcapng section;              /* of a pcapng file, the current one */
};

enum fnet_err fnet_savefile_new(struct fnet_savefile **out)
{
    struct fnet_savefile *s = calloc(1, sizeof *s);

    if (!s)
        return FNET_NOMEM;
    *out = s;
    return FNET_OK;
}

void fnet_savefile_free(struct fnet_savefile *s)
{
    if (!s)
        return;
    free(s->staged);
    fnet__pcapng_clear(&s->section);
    free(s);
}

uint64_t fnet_savefile_offset(const struct fnet_savefile *s)
{
    return s->offset;
}

bool fnet_savefile_is_mid_record(const struct fnet_savefile *s)
{
    return s->state == AT_START || s->end > s->begin || s->skip > 0;
}

static enum fnet_err die(struct fnet_savefile *s, enum fnet_err err)
{
    s->state = DEAD;
    return err;
}

static size_t staged_len(const struct fnet_savefile *s)
{
    return s->end - s->begin;
}

/* N staged bytes are done with. */
static void use(struct fnet_savefile *s, size_t n)
{
    s->begin += n;
    s->offset += n;
}

/* Room for MORE bytes behind staged[end]. What is staged is never more than one record that is
 * cut, which has a limit, and the last piece that was fed. */
static enum fnet_err make_room(struct fnet_savefile *s, size_t more)
{
    size_t len = staged_len(s);

    if (s->begin > 0 && len > 0)
        memmove(s->staged, s->staged + s->begin, len);
    s->begin = 0;
    s->end = len;
    if (s->capacity - len >= more)
        return FNET_OK;

    size_t wanted = len + more > 2 * s->capacity ? len + more : 2 * s->capacity;
    uint8_t *grown = realloc(s->staged, wanted);
    if (!grown)
        return die(s, FNET_NOMEM);
    s->staged = grown;
    s->capacity = wanted;
    return FNET_OK;
}

enum fnet_err fnet_savefile_space(struct fnet_savefile *s, uint8_t **ptr, size_t *len)
{
    const size_t used = staged_len(s);

    if (s->state == DEAD)
        return FNET_STATE;
    enum fnet_err err =
        make_room(s, used <= FNET_SAVEFILE_SPACE_BYTES / 2 ? FNET_SAVEFILE_SPACE_BYTES - used
                                                           : FNET_SAVEFILE_SPACE_BYTES / 2);
    if (err != FNET_OK)
        return err;
    *ptr = s->staged + s->end;
    *len = s->capacity - s->end;
    return FNET_OK;
}

void fnet_savefile_commit(struct fnet_savefile *s, size_t n)
{
    /* While a block is being skipped nothing is staged. */
    const size_t skipped = s->skip < n ? (size_t)s->skip : n;

    assert(n <= s->capacity - s->end);
    s->end += n;
    s->skip -= skipped;
    use(s, skipped);
}

enum fnet_err fnet_savefile_feed(struct fnet_savefile *s, struct fnet_span bytes)
{
    if (s->state == DEAD)
        return FNET_STATE;
    enum fnet_err err = make_room(s, bytes.len);
    if (err != FNET_OK)
        return err;
    if (bytes.len > 0)
        memcpy(s->staged + s->end, bytes.ptr, bytes.len);
    fnet_savefile_commit(s, bytes.len);
    return FNET_OK;
}

/* ---- pcap -------------------------------------------------------------------------------- */

static const struct magic {
    uint8_t bytes[FNET_SAVEFILE_MAGIC_BYTES];
    bool is_big_endian;
    uint32_t unit_ns; /* of the fraction of a time stamp */
} pcap_magics[] = {
    {{0xa1, 0xb2, 0xc3, 0xd4}, true, 1000},
    {{0xd4, 0xc3, 0xb2, 0xa1}, false, 1000},
    {{0xa1, 0xb2, 0x3c, 0x4d}, true, 1},
    {{0x4d, 0x3c, 0xb2, 0xa1}, false, 1},
};

static const struct magic *find_magic(const uint8_t *bytes)
{
    for (size_t i = 0; i < sizeof pcap_magics / sizeof *pcap_magics; i++)
        if (memcmp(pcap_magics[i].bytes, bytes, FNET_SAVEFILE_MAGIC_BYTES) == 0)
            return &pcap_magics[i];
    return NULL;
}

bool fnet_savefile_is_magic(const uint8_t magic[static FNET_SAVEFILE_MAGIC_BYTES])
{
    return find_magic(magic) || fnet_load_be32(magic) == FNET__PCAPNG_SECTION;
}

static enum fnet_err start_pcap(struct fnet_savefile *s, const struct magic *magic)
{
    const uint8_t *header = s->staged + s->begin;

    if (staged_len(s) < PCAP_HEADER_BYTES)
        return FNET_AGAIN;
    s->is_big_endian = magic->is_big_endian;
    if (fnet__capture_load16(s->is_big_endian, header + 4) != PCAP_MAJOR)
        return FNET_BAD_MAGIC;
    s->unit_ns = magic->unit_ns;
    s->interface.link_type =
        fnet__capture_load32(s->is_big_endian, header + 20) & PCAP_LINK_TYPE_MASK;
    s->state = IN_PCAP;
    use(s, PCAP_HEADER_BYTES);
    return FNET_OK;
}

static enum fnet_err next_pcap(struct fnet_savefile *s, struct fnet_captured *out)
{
    const uint8_t *record = s->staged + s->begin;

    if (staged_len(s) < PCAP_RECORD_HEADER_BYTES)
        return FNET_AGAIN;
    const uint32_t len = fnet__capture_load32(s->is_big_endian, record + 8);
    const uint32_t original_len = fnet__capture_load32(s->is_big_endian, record + 12);
    if (len > FNET_SAVEFILE_RECORD_MAX_BYTES)
        return FNET_BAD_LENGTH;
    if (staged_len(s) < PCAP_RECORD_HEADER_BYTES + len)
        return FNET_AGAIN;

    *out = fnet__capture_packet(&s->interface, NULL,
                                fnet_span_of(record + PCAP_RECORD_HEADER_BYTES, len), original_len);
    /* A broken writer may carry microseconds over the second; the sum is right all the same. */
    out->has_time = true;
    out->time_ns = fnet__capture_load32(s->is_big_endian, record) * UINT64_C(1000000000) +
                   (uint64_t)fnet__capture_load32(s->is_big_endian, record + 4) * s->unit_ns;
    use(s, PCAP_RECORD_HEADER_BYTES + len);
    return FNET_OK;
}

/* ---- pcapng ------------------------------------------------------------------------------ */

/* Drop a block of LEN bytes; what of it was not fed yet is dropped when it is. */
static void skip_block(struct fnet_savefile *s, uint32_t len)
{
    size_t now = len < staged_len(s) ? len : staged_len(s);

    use(s, now);
    s->skip = len - now;
}

static enum fnet_err next_block(struct fnet_savefile *s, struct fnet_captured *out,
                                bool *has_packet)
{
    const struct fnet_span staged = fnet_span_of(s->staged + s->begin, staged_len(s));
    struct fnet__pcapng_block block;
    enum fnet_err err = fnet__pcapng_look(&s->section, staged, &block);

    if (err != FNET_OK)
        return err;
    if (!block.is_wanted) {
        skip_block(s, block.len);
        return FNET_OK;
    }
    if (staged.len < block.len)
        return FNET_AGAIN;
    err = fnet__pcapng_read(&s->section, block.type, fnet_span_of(staged.ptr, block.len), out,
                            has_packet);
    if (err == FNET_OK)
        use(s, block.len);
    return err;
}

/* ---- both -------------------------------------------------------------------------------- */

static enum fnet_err start(struct fnet_savefile *s)
{
    if (staged_len(s) < FNET_SAVEFILE_MAGIC_BYTES)
        return FNET_AGAIN;

    const uint8_t *magic = s->staged + s->begin;
    if (fnet_load_be32(magic) == FNET__PCAPNG_SECTION) {
        s->state = IN_PCAPNG;
        return FNET_OK;
    }
    const struct magic *pcap = find_magic(magic);
    return pcap ? start_pcap(s, pcap) : FNET_BAD_MAGIC;
}

enum fnet_err fnet_savefile_next(struct fnet_savefile *s, struct fnet_captured *out)
{
    bool has_packet = false;
    enum fnet_err err = FNET_OK;

    while (err == FNET_OK && !has_packet) {
        switch (s->state) {
        case AT_START: err = start(s); break;
        case IN_PCAP:
            err = next_pcap(s, out);
            has_packet = true;
            break;
        case IN_PCAPNG: err = next_block(s, out, &has_packet); break;
        case DEAD: return FNET_STATE;
        }
    }
    return err == FNET_OK || err == FNET_AGAIN ? err : die(s, err);
}
