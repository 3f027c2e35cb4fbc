/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every message that each version of Flink wrote: its fields, its bytes again, each part of it.
 */
#include "fnet/wire.h"

#include "../flink_golden.h"
#include "../flink_messages.h"

static void check_fields(const struct flink_line *line, const struct fnet_message *m)
{
    struct flink_fields f = {.text = NULL};

    flink_add_message(&f, line->dialect, line->bytes.len, m);
    flink_check_begins(line, &f);
    if (m->type == FNET_BUFFER_RESPONSE && !line->dialect->buffer.subpartition)
        CHECK_INT(m->buffer.subpartition, -1);
}

static void check_payload(const struct flink_line *line, struct fnet_span payload)
{
    struct flink_fields f = {.text = NULL};

    flink_add_hex(&f, "payload", payload);
    flink_check_has(line, &f);
}

/* TEXT, of which all is there; "" is no field. */
static void add_text(struct flink_fields *f, const char *key, const char *text)
{
    if (text[0] != '\0')
        flink_add_text(f, key, fnet_span_of(text, strlen(text)));
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
            flink_add_more(f, ",%s", text);
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
    struct flink_fields f = {.text = NULL};
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
    flink_fields_clear(&f);
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
