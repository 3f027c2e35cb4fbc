/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every message that each version of Flink wrote: its fields, its bytes again, each part of it.
 */
#include <inttypes.h>

#include "fnet/utf8.h"
#include "fnet/wire.h"

#include "../flink_golden.h"

static void add_id(struct flink_fields *f, const char *key, const struct fnet_id *id)
{
    char text[FNET_ID_TEXT_BYTES];

    fnet_id_format(id, text);
    flink_add(f, key, "%s", text);
}

static void add_partition(struct flink_fields *f, const struct fnet_dialect *dialect,
                          const struct fnet_partition_id *id)
{
    char graph[FNET_ID_TEXT_BYTES];
    char vertex[FNET_ID_TEXT_BYTES];

    add_id(f, "partition", &id->data_set);
    if (dialect->partition_bytes > 16)
        f->len += (size_t)snprintf(f->text + f->len, 16, "#%" PRId32, id->number);
    fnet_id_format(&id->graph, graph);
    fnet_id_format(&id->vertex, vertex);
    if (dialect->attempt_bytes > 16)
        flink_add(f, "producer", "%s_%s_%" PRId32 "_%" PRId32, graph, vertex, id->subtask,
                  id->attempt);
    else
        flink_add(f, "producer", "%s", graph);
}

static void add_buffer(struct flink_fields *f, const struct fnet_dialect *dialect,
                       const struct fnet_buffer_response *b)
{
    if (dialect->buffer.subpartition)
        flink_add(f, "subpartition", "%" PRId32, b->subpartition);
    else
        CHECK_INT(b->subpartition, -1);
    flink_add(f, "sequence", "%" PRId32, b->sequence);
    flink_add(f, "backlog", "%" PRId32, b->backlog);
    flink_add(f, "data_type", "%s", fnet_data_type_name(b->data_type));
    if (dialect->buffer.is_compressed)
        flink_add(f, "compressed", "%s", b->is_compressed ? "true" : "false");
    flink_add(f, "size", "%" PRIu32, b->size);
    for (uint32_t i = 0; i < b->partials; i++) {
        uint32_t size = fnet_load_be32(b->partial_sizes.ptr + 4 * i);
        if (i == 0)
            flink_add(f, "partial_sizes", "%" PRIu32, size);
        else
            f->len += (size_t)snprintf(f->text + f->len, 12, ",%" PRIu32, size);
    }
}

static void add_body(struct flink_fields *f, const struct fnet_dialect *dialect,
                     const struct fnet_message *m)
{
    switch (m->type) {
    case FNET_BUFFER_RESPONSE: add_buffer(f, dialect, &m->buffer); break;
    case FNET_PARTITION_REQUEST:
        add_partition(f, dialect, &m->request.partition);
        flink_add(f, "subpartition", "%" PRId32, m->request.first);
        if (m->request.last != m->request.first)
            flink_add(f, "last_subpartition", "%" PRId32, m->request.last);
        flink_add(f, "credit", "%" PRId32, m->request.credit);
        break;
    case FNET_TASK_EVENT_REQUEST: add_partition(f, dialect, &m->task_event.partition); break;
    case FNET_ADD_CREDIT:
        if (dialect->credit_names_partition)
            add_partition(f, dialect, &m->credited);
        flink_add(f, "credit", "%" PRId32, m->credit);
        break;
    case FNET_BACKLOG_ANNOUNCEMENT: flink_add(f, "backlog", "%" PRId32, m->backlog); break;
    case FNET_NEW_BUFFER_SIZE: flink_add(f, "buffer_size", "%" PRId32, m->buffer_size); break;
    case FNET_SEGMENT_ID:
        if (dialect->segment_names_subpartition)
            flink_add(f, "subpartition", "%" PRId32, m->segment.subpartition);
        flink_add(f, "segment", "%" PRId32, m->segment.segment);
        break;
    case FNET_ERROR_RESPONSE:
    case FNET_CANCEL_PARTITION_REQUEST:
    case FNET_CLOSE_REQUEST:
    case FNET_RESUME_CONSUMPTION:
    case FNET_ACK_ALL_USER_RECORDS_PROCESSED:
    case FNET_DESCRIPTION_REQUEST:
    case FNET_DESCRIPTION_RESPONSE:
    case FNET_DIALECT_PROBE: break;
    }
}

static void check_fields(const struct flink_line *line, const struct fnet_message *m)
{
    struct flink_fields f = {.len = 0};
    bool is_fatal = m->type == FNET_ERROR_RESPONSE && !m->error.has_receiver;

    flink_add(&f, "type", "%s", fnet_message_type_name(m->type));
    flink_add(&f, "length", "%zu", line->bytes.len);
    if (!is_fatal && m->type != FNET_CLOSE_REQUEST)
        add_id(&f, "receiver", &m->receiver);
    add_body(&f, line->dialect, m);
    flink_check_begins(line, &f);
}

static void check_payload(const struct flink_line *line, struct fnet_span payload)
{
    struct flink_fields f = {.len = 0};

    flink_add_hex(&f, "payload", payload);
    flink_check_has(line, &f);
}

/* TEXT, of which all is there, as the files have it; "" is no field. */
static void add_text(struct flink_fields *f, const char *key, const char *text)
{
    if (text[0] == '\0')
        return;
    flink_add(f, key, "%s", "");
    for (const uint8_t *p = (const uint8_t *)text, *end = p + strlen(text); p < end;) {
        uint32_t code;
        p += fnet_utf8_next(p, end, &code);
        const bool is_plain = code >= ' ' && code <= '~' && code != ';' && code != '\\';
        f->len += (size_t)snprintf(f->text + f->len, sizeof f->text - f->len,
                                   is_plain ? "%c" : "\\u%04x", code);
    }
}

static void add_stack(struct flink_fields *f, const char *key,
                      const struct fnet_throwable_chain *chain, size_t i)
{
    for (size_t n = 0; n < chain->throwables[i].line_count; n++) {
        char text[FNET_THROWABLE_TEXT_BYTES];
        fnet_throwable_chain_line(chain, i, n, text);
        if (n == 0)
            flink_add(f, key, "%s", text);
        else
            f->len += (size_t)snprintf(f->text + f->len, sizeof f->text - f->len, ",%s", text);
    }
}

/* Before 1.9 this class had no message in its stream, and made one out of other fields. */
static bool is_message_computed(const struct flink_line *line, const struct fnet_throwable *thrown)
{
    return strcmp(line->dialect->name, "1.5") == 0 && thrown->message[0] == '\0' &&
           strcmp(thrown->class_name, FNET_PARTITION_NOT_FOUND_CLASS) == 0;
}

/* Everything about the throwable and its causes, which is all that follows in the line. */
static void check_throwable(const struct flink_line *line, struct fnet_span stream)
{
    static struct fnet_throwable_chain chain;
    struct flink_fields f = {.len = 0};
    char prefix[128] = "error";
    const char *expected = strstr(line->fields, "error.type=");
    const char *message = strstr(line->fields, "error.message=");

    if (!CHECK_INT(fnet_throwable_chain_decode(stream, &chain), FNET_OK))
        return;
    CHECK_INT(chain.end, FNET_OK);
    CHECK_INT(chain.left_out, 0);
    for (size_t i = 0; i < chain.count; i++) {
        static const char *const names[] = {"type", "original_type", "message", "stack"};
        struct fnet_throwable thrown;
        char keys[4][160];
        for (size_t k = 0; k < 4; k++)
            snprintf(keys[k], sizeof keys[k], "%s.%s", prefix, names[k]);
        fnet_throwable_chain_get(&chain, i, &thrown);
        add_text(&f, keys[0], thrown.class_name);
        add_text(&f, keys[1], thrown.original_class);
        if (i == 0 && is_message_computed(line, &thrown) && CHECK(message != NULL))
            flink_add(&f, keys[2], "%.*s", (int)strcspn(message + 14, ";"), message + 14);
        else
            add_text(&f, keys[2], thrown.message);
        add_stack(&f, keys[3], &chain, i);
        snprintf(prefix + strlen(prefix), sizeof prefix - strlen(prefix), ".cause");
    }
    CHECK_STR(expected, f.text);
}

static void check_encodes(const struct flink_line *line, const struct fnet_message *m, size_t own)
{
    uint8_t out[4096];
    struct fnet_writer w = fnet_writer_of(out, sizeof out);

    memset(out, 0xa5, sizeof out);
    CHECK_INT(fnet_message_encoded_bytes(line->dialect, m), own);
    CHECK_INT(fnet_message_encode(line->dialect, m, &w), FNET_OK);
    if (CHECK_INT(w.pos - out, own))
        CHECK_MEM(out, line->bytes.ptr, own);
    w = fnet_writer_of(out, own - 1);
    CHECK_INT(fnet_message_encode(line->dialect, m, &w), FNET_RANGE);
}

static void check_truncations(const struct flink_line *line, size_t own)
{
    for (size_t len = 0; len < own; len++) {
        struct fnet_message m;
        size_t used = 0;
        CHECK_INT(fnet_message_decode(line->dialect, fnet_span_of(line->bytes.ptr, len), &used, &m),
                  FNET_AGAIN);
        CHECK(used > len && used <= own);
    }
}

/* The stream of one frame, cut in two everywhere, and in single bytes. */
static void check_pieces(const struct flink_line *line, size_t first, size_t piece)
{
    struct fnet_decoder *d;
    struct fnet_message m;
    size_t fed = 0;
    size_t payload = 0;
    unsigned messages = 0;

    if (!CHECK_INT(fnet_decoder_new(line->dialect, 1, &d), FNET_OK))
        return;
    while (fed < line->bytes.len) {
        uint8_t *space;
        size_t room;
        size_t n = fed < first ? first - fed : piece;
        fnet_decoder_space(d, &space, &room);
        n = n < room ? n : room;
        n = n < line->bytes.len - fed ? n : line->bytes.len - fed;
        memcpy(space, line->bytes.ptr + fed, n);
        fnet_decoder_commit(d, n);
        fed += n;
        for (;;) {
            struct fnet_span staged = fnet_decoder_payload(d);
            payload += staged.len;
            fnet_decoder_take(d, staged.len);
            if (fnet_decoder_next(d, &m) != FNET_OK)
                break;
            messages++;
            check_fields(line, &m);
        }
    }
    CHECK_INT(messages, 1);
    CHECK_INT(fnet_decoder_payload_left(d), 0);
    CHECK(!fnet_decoder_is_mid_frame(d));
    if (m.type == FNET_BUFFER_RESPONSE)
        CHECK_INT(payload, m.buffer.size);
    fnet_decoder_free(d);
}

/* No other dialect may take it for something else of the same length with other fields. */
static void check_request(const struct flink_line *line)
{
    const uint32_t length = (uint32_t)line->bytes.len;

    CHECK(fnet_dialect_of_request(length, line->dialect) == line->dialect);
    CHECK_INT(fnet_dialect_of_request(length, NULL)->partition_request_bytes, length);
}

static void check_line(const struct flink_line *line)
{
    struct fnet_message m;
    size_t used = 0;

    if (!CHECK_INT(fnet_message_decode(line->dialect, line->bytes, &used, &m), FNET_OK))
        return;

    size_t own = line->bytes.len - (m.type == FNET_BUFFER_RESPONSE ? m.buffer.size : 0);
    CHECK_INT(used, own);
    check_fields(line, &m);
    check_encodes(line, &m, own);
    check_truncations(line, own);
    if (m.type == FNET_BUFFER_RESPONSE)
        check_payload(line, fnet_span_of(line->bytes.ptr + own, m.buffer.size));
    if (m.type == FNET_TASK_EVENT_REQUEST)
        check_payload(line, m.task_event.event);
    if (m.type == FNET_ERROR_RESPONSE)
        check_throwable(line, m.error.throwable);
    if (m.type == FNET_PARTITION_REQUEST)
        check_request(line);
    check_pieces(line, line->bytes.len, 1);
    check_pieces(line, 0, 1);
    if (line->bytes.len < 256)
        for (size_t cut = 1; cut < line->bytes.len; cut++)
            check_pieces(line, cut, line->bytes.len);
}

int main(void)
{
    size_t versions = flink_visit("messages", check_line);

    CASE("every version is there");
    CHECK(versions >= 20);
    return tap_done();
}
