/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames for Flink to read: every message, with values at their limits and by chance.
 */
#include "../unit/flink_messages.h"

#include "../unit/flink_events.h"
#include "dice.h"
#include "encode.h"

#define NO_BYTES fnet_span_of(NULL, 0)

static const int32_t positive[] = {1, 2, 16384, INT32_MAX - 1, INT32_MAX};

/* ---- one message ------------------------------------------------------------------------- */

struct fnet_span message_bytes(const struct fnet_dialect *dialect, const struct fnet_message *m)
{
    const size_t bytes = fnet_message_encoded_bytes(dialect, m);
    struct fnet_writer w = fnet_writer_of(scratch(bytes), bytes);

    must(fnet_message_encode(dialect, m, &w), fnet_message_type_name(m->type));
    return fnet_span_of(w.pos - bytes, bytes);
}

void add_nested_event(struct flink_fields *f, const struct fnet_dialect *dialect,
                      const struct fnet_event *event)
{
    snprintf(f->prefix, sizeof f->prefix, "event.");
    flink_add_event(f, dialect, event);
    f->prefix[0] = '\0';
}

static void write_message(const struct fnet_dialect *dialect, const struct fnet_message *m)
{
    struct flink_fields f = {.text = NULL};
    const struct fnet_span frame = message_bytes(dialect, m);

    flink_add_message(&f, dialect, frame.len, m);
    write_line(fnet_message_type_name(m->type), &f, frame, NO_BYTES);
}

/* ---- task events ------------------------------------------------------------------------- */

/* An event to the producer goes without padding. */
static void write_task_event(const struct fnet_dialect *dialect, const struct fnet_event *event)
{
    struct flink_fields f = {.text = NULL};
    struct fnet_message m = {.type = FNET_TASK_EVENT_REQUEST, .receiver = roll_id()};

    if (event->type != FNET_EVENT_OTHER)
        return;
    m.task_event.partition = roll_partition();
    m.task_event.event = event_bytes(dialect, event);
    m.task_event.event.len = event_own_bytes(dialect, event, m.task_event.event);
    const struct fnet_span frame = message_bytes(dialect, &m);
    flink_add_message(&f, dialect, frame.len, &m);
    add_nested_event(&f, dialect, event);
    flink_add_hex(&f, "payload", m.task_event.event);
    write_line("TaskEventRequest", &f, frame, NO_BYTES);
}

/* ---- errors ------------------------------------------------------------------------------ */

/* SAID is to be understood as READ; until 1.8 the exception makes its words of an id. */
static void write_error(const struct fnet_dialect *dialect, bool is_fatal, bool not_found,
                        const char *said, struct fnet_span read)
{
    uint8_t *stream = scratch(FNET_THROWABLE_ENCODED_MAX_BYTES);
    struct fnet_writer w = fnet_writer_of(stream, FNET_THROWABLE_ENCODED_MAX_BYTES);
    struct fnet_message m = {.type = FNET_ERROR_RESPONSE};
    struct flink_fields f = {.text = NULL};

    must(fnet_throwable_encode(not_found, said, &w), "a throwable");
    m.error.has_receiver = !is_fatal;
    m.error.throwable = fnet_span_of(stream, (size_t)(w.pos - stream));
    if (!is_fatal)
        m.receiver = roll_id();
    const struct fnet_span frame = message_bytes(dialect, &m);
    flink_add_message(&f, dialect, frame.len, &m);
    flink_add(&f, "error.type", "%s",
              not_found ? FNET_PARTITION_NOT_FOUND_CLASS : "java.io.IOException");
    if (not_found && !is_since(dialect, "1.9"))
        flink_add(&f, "error.message", "Partition null not found.");
    else
        flink_add_text(&f, "error.message", read);
    write_line("ErrorResponse", &f, frame, NO_BYTES);
}

/* What is left of TEXT where fnet cuts it: whole characters. */
static struct fnet_span cut(struct fnet_span text)
{
    const uint8_t *end = text.ptr + text.len;
    const uint8_t *most =
        text.len < FNET_THROWABLE_TEXT_BYTES ? end : text.ptr + FNET_THROWABLE_TEXT_BYTES - 1;
    const uint8_t *pos = text.ptr;
    uint32_t code;

    while (pos < end && pos + fnet_utf8_next(pos, end, &code) <= most)
        pos += fnet_utf8_next(pos, end, &code);
    return fnet_span_of(text.ptr, (size_t)(pos - text.ptr));
}

/* N characters of any width but NUL, which ends what is said. */
static void write_rolled_error(const struct fnet_dialect *dialect, size_t n)
{
    const struct fnet_span text = roll_text(n);
    char *said = (char *)scratch(text.len + 1);

    for (size_t i = 0; i < text.len; i++)
        said[i] = text.ptr[i] ? (char)text.ptr[i] : '0';
    said[text.len] = '\0';
    const bool is_fatal = roll_flag();
    write_error(dialect, is_fatal, roll_flag(), said, cut(fnet_span_of(said, text.len)));
}

static void encode_errors(const struct fnet_dialect *dialect)
{
    static const struct {
        const char *said;
        const char *read;
    } messages[] = {
        {"", ""},
        {"x", "x"},
        {"Partition a0#3@b0_c0_3_1 not found.", "Partition a0#3@b0_c0_3_1 not found."},
        {"disk é full; 日本 \\ 😀", "disk é full; 日本 \\ 😀"},
        {"\x01\t\n\x7f", "\x01\t\n\x7f"},
        {"\xc2\x80\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff",
         "\xc2\x80\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff"},
        {"a\xff\xed\xa0\x80z\xc3", "a????z?"},
    };

    for (size_t i = 0; i < 4 * COUNT(messages); i++) {
        const char *read = messages[i / 4].read;
        write_error(dialect, i & 1, i & 2, messages[i / 4].said, fnet_span_of(read, strlen(read)));
    }
    for (size_t n = FNET_THROWABLE_TEXT_BYTES / 4 - 8; n < FNET_THROWABLE_TEXT_BYTES + 8; n += 5)
        write_rolled_error(dialect, n);
}

/* ---- the others -------------------------------------------------------------------------- */

static void encode_requests(const struct fnet_dialect *dialect)
{
    static const int32_t numbers[] = {0, 1, 2, INT32_MAX};

    for (size_t i = 0; i < COUNT(numbers) * COUNT(numbers) * COUNT(numbers); i++) {
        struct fnet_message m = {.type = FNET_PARTITION_REQUEST, .receiver = roll_id()};
        m.request.partition = roll_partition();
        m.request.first = numbers[i % COUNT(numbers)];
        m.request.last = numbers[i / COUNT(numbers) % COUNT(numbers)];
        m.request.credit = numbers[i / COUNT(numbers) / COUNT(numbers)];
        if (m.request.last == m.request.first ||
            (m.request.last > m.request.first && dialect->has_ranges))
            write_message(dialect, &m);
    }
}

/* Message of TYPE with NUMBER in it, where there is one. */
static void write_number(const struct fnet_dialect *dialect, enum fnet_message_type type,
                         int32_t number, int32_t subpartition)
{
    struct fnet_message m = {.type = type};

    if (type != FNET_CLOSE_REQUEST)
        m.receiver = roll_id();
    if (type == FNET_ADD_CREDIT) {
        m.credit = number;
        m.credited = roll_partition();
    } else if (type == FNET_BACKLOG_ANNOUNCEMENT) {
        m.backlog = number;
    } else if (type == FNET_NEW_BUFFER_SIZE) {
        m.buffer_size = number;
    } else if (type == FNET_SEGMENT_ID) {
        m.segment.segment = number;
        m.segment.subpartition = dialect->segment_names_subpartition ? subpartition : 0;
    }
    write_message(dialect, &m);
}

static void encode_numbers(const struct fnet_dialect *dialect)
{
    for (unsigned type = FNET_CANCEL_PARTITION_REQUEST; type <= FNET_SEGMENT_ID; type++)
        for (size_t i = 0; i < COUNT(positive) && fnet_dialect_has_message(dialect, type); i++)
            write_number(dialect, (enum fnet_message_type)type, positive[i], positive[i] - 1);
}

/* ---- by chance --------------------------------------------------------------------------- */

static void encode_rolled_request(const struct fnet_dialect *dialect)
{
    struct fnet_message m = {.type = FNET_PARTITION_REQUEST, .receiver = roll_id()};

    m.request.partition = roll_partition();
    m.request.first = roll_int_from(0);
    m.request.last = m.request.first;
    if (dialect->has_ranges && roll_flag())
        m.request.last = roll_int_from(m.request.first);
    m.request.credit = roll_int_from(0);
    write_message(dialect, &m);
}

static void encode_rolled(const struct fnet_dialect *dialect)
{
    const unsigned type = roll_below(FNET_SEGMENT_ID + 1);
    struct fnet_event event = {.type = FNET_EVENT_END_OF_PARTITION};

    if (!fnet_dialect_has_message(dialect, type) || type == FNET_BUFFER_RESPONSE) {
        encode_rolled_buffer(dialect);
    } else if (type == FNET_ERROR_RESPONSE) {
        write_rolled_error(dialect, roll_below(100));
    } else if (type == FNET_PARTITION_REQUEST) {
        encode_rolled_request(dialect);
    } else if (type == FNET_TASK_EVENT_REQUEST) {
        while (event.type != FNET_EVENT_OTHER)
            event = roll_event(dialect);
        write_task_event(dialect, &event);
    } else {
        write_number(dialect, (enum fnet_message_type)type, roll_int_from(1), roll_int_from(0));
    }
}

void encode_messages(const struct fnet_dialect *dialect, unsigned count)
{
    encode_buffers(dialect);
    visit_events(dialect, write_task_event);
    encode_errors(dialect);
    encode_requests(dialect);
    encode_numbers(dialect);
    for (unsigned i = 0; i < count; i++)
        encode_rolled(dialect);
}
