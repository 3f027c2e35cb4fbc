/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records out of data buffers, compressed or not, taken or only counted.
 */
#include "inspect/channel_records.h"

void channel_records_know(struct channel *channel)
{
    fnet_record_deserializer_clear(&channel->decoder);
    channel->place = (struct record_place){.body_left = 0};
    channel->are_records_known = true;
}

void channel_records_lose(struct inspected *m)
{
    if (m->channel->are_records_known)
        m->findings |= FOUND_RECORDS_LOST;
    m->channel->are_records_known = false;
    m->channel->is_record_missed = true;
}

bool channel_records_is_mid_record(const struct channel *channel)
{
    return fnet_record_deserializer_is_mid_record(&channel->decoder) ||
           record_place_is_mid_record(&channel->place);
}

/* What follows in the message gives no records. */
static void break_records(struct inspected *m, unsigned finding)
{
    m->findings |= finding;
    fnet_record_deserializer_clear(&m->channel->decoder);
    m->channel->are_records_known = false;
    m->channel->is_record_missed = true;
    m->has_records = false;
}

/* ---- compressed buffers ------------------------------------------------------------------ */

/* The block before those that are left, which looks like CODEC, cannot be decompressed. */
static void give_up_block(struct inspected *m, enum fnet_codec codec, enum fnet_err err)
{
    const bool was_known = m->channel->are_records_known;
    unsigned finding = FOUND_BAD_BLOCK;

    if (err == FNET_UNSUPPORTED)
        finding = was_known ? FOUND_NO_CODEC : 0;
    if (finding & ~m->findings) {
        m->bad_codec = codec;
        m->block_err = err;
        m->bad_block = payload_parts_count(&m->item->message.buffer) - m->parts.left - 1;
    }
    m->channel->undecoded++;
    break_records(m, finding);
}

/* The next compressed buffer of the message, up to FNET_AGAIN. Where records are not known all that
 * are left are only looked at. */
static enum fnet_err next_block(struct inspected *m)
{
    struct fnet_span block;
    enum fnet_codec codec;

    while (payload_parts_next(&m->parts, &block)) {
        enum fnet_err err = block_reader_read(m->blocks, block, &codec, &m->part);
        if (err == FNET_NOMEM)
            return err;
        if (err != FNET_OK) {
            give_up_block(m, codec, err);
            continue;
        }
        m->codec = m->channel->codec = codec;
        m->is_fed = false;
        if (m->channel->are_records_known)
            return FNET_OK;
    }
    return FNET_AGAIN;
}

static enum fnet_err begin_compressed(struct inspected *m, const struct fnet_buffer_response *b)
{
    const uint32_t count = payload_parts_count(b);

    m->channel->compressed += count;
    if (m->item->missing) {
        m->channel->undecoded += count;
        return FNET_OK;
    }
    m->parts = payload_parts_of(b, m->item->payload);
    enum fnet_err err = next_block(m);
    return err == FNET_AGAIN ? FNET_OK : err;
}

/* ---- records ----------------------------------------------------------------------------- */

enum fnet_err channel_records_begin(struct inspected *m)
{
    const struct fnet_buffer_response *b = &m->item->message.buffer;
    struct channel *channel = m->channel;
    enum fnet_err err = FNET_OK;

    if (m->item->missing)
        channel_records_lose(m);
    m->part = m->item->payload;
    m->parts = (struct payload_parts){.left = 0};
    m->is_fed = false;
    if (b->is_compressed)
        err = begin_compressed(m, b);
    m->has_records = channel->are_records_known;
    if (channel->are_records_known)
        return err;
    channel->is_record_missed = true;
    if (b->data_type == FNET_DATA_BUFFER_WITH_CLEAR_END)
        channel_records_know(channel);
    return err;
}

/* The same from the decoder, buffer by buffer. */
static enum fnet_err next_decoded(struct inspected *m, struct fnet_span *records, size_t max,
                                  size_t *n)
{
    struct fnet_record_deserializer *decoder = &m->channel->decoder;
    enum fnet_err err;

    do {
        if (!m->is_fed)
            fnet_record_deserializer_feed(decoder, m->part);
        m->is_fed = true;
        err = fnet_record_deserializer_next(decoder, records, max, n);
    } while (err == FNET_AGAIN && (err = next_block(m)) == FNET_OK);
    return err;
}

enum fnet_err conversation_next_records(struct inspected *m, struct fnet_span *records, size_t max,
                                        size_t *n, uint64_t *number)
{
    struct channel *channel = m->channel;

    if (!m->has_records)
        return FNET_AGAIN;
    enum fnet_err err = next_decoded(m, records, max, n);
    if (err == FNET_BAD_LENGTH) {
        break_records(m, FOUND_BAD_RECORD);
        return FNET_AGAIN;
    }
    if (err == FNET_OK) {
        *number = channel->records;
        channel->records += *n;
    }
    return err;
}

struct record_place conversation_place(const struct connection *connection,
                                       const struct fnet_message *message)
{
    const struct channel *channel =
        connection ? fnet_id_map_get(&connection->map, &message->receiver) : NULL;

    return channel && channel->are_records_known ? channel->place
                                                 : (struct record_place){.body_left = 0};
}

enum fnet_err conversation_count_records(struct inspected *m, const struct record_count *passed)
{
    struct channel *channel = m->channel;
    struct record_count count;
    enum fnet_err err = FNET_AGAIN;

    if (!m->has_records)
        return FNET_OK;
    count = passed ? *passed : record_count_from(channel->place);
    if (!passed) {
        do
            record_count_add(&count, m->part);
        while ((err = next_block(m)) == FNET_OK);
    }
    if (err != FNET_AGAIN)
        return err;
    m->has_records = false;
    if (!record_place_is_same(&count.from, &channel->place)) {
        /* While the payload went past the channel began anew, which no peer does. */
        channel_records_lose(m);
        return FNET_OK;
    }
    channel->records += count.records;
    channel->place = count.to;
    if (count.is_bad)
        break_records(m, FOUND_BAD_RECORD);
    return FNET_OK;
}
