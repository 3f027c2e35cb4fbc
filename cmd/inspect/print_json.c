/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A JSON object on a line for each message.
 *
 * Source: RFC 8259. Numbers stay below 2^53 but for 64-bit ids and times of events, which are
 * written with all their digits; what is not UTF-8 becomes {"hex": "..."}.
 */
#include <inttypes.h>

#include "cli/escape.h"
#include "inspect/message_fields.h"
#include "inspect/print_element.h"
#include "inspect/printers.h"

#define RECORDS_AT_ONCE 64

static void print_text_value(FILE *out, struct fnet_span text)
{
    if (escape_is_utf8(text)) {
        escape_print_json(out, text);
        return;
    }
    fputs("{\"hex\":\"", out);
    escape_print_hex(out, text);
    fputs("\"}", out);
}

static void print_numbers(FILE *out, struct fnet_span numbers)
{
    putc('[', out);
    for (size_t at = 0; at < numbers.len; at += 4)
        fprintf(out, "%s%" PRIu32, at ? "," : "", fnet_load_be32(numbers.ptr + at));
    putc(']', out);
}

/* Lines that were not kept are counted behind the array. */
static void print_stack(FILE *out, const struct fnet_throwable_chain *error, size_t i)
{
    const struct fnet_chained_throwable *thrown = &error->throwables[i];
    char line[FNET_THROWABLE_TEXT_BYTES];

    putc('[', out);
    for (size_t n = 0; n < thrown->line_count; n++) {
        fnet_throwable_chain_line(error, i, n, line);
        fputs(n ? "," : "", out);
        escape_print_json(out, fnet_span_of(line, strlen(line)));
    }
    putc(']', out);
    if (thrown->lines_more > 0)
        fprintf(out, ",\"stack_more\":%" PRIu32, thrown->lines_more);
}

static void print_value(FILE *out, const struct message_fields *f, const struct field *field)
{
    switch (field->kind) {
    case FIELD_NUMBER: fprintf(out, "%" PRId64, field->number); break;
    case FIELD_FLAG: fputs(field->number ? "true" : "false", out); break;
    case FIELD_TEXT: print_text_value(out, field->bytes); break;
    case FIELD_BYTES:
        putc('"', out);
        escape_print_hex(out, field->bytes);
        putc('"', out);
        break;
    case FIELD_NUMBERS: print_numbers(out, field->bytes); break;
    case FIELD_STACK: print_stack(out, f->error, (size_t)field->number); break;
    case FIELD_OBJECT: putc('{', out); break;
    case FIELD_END: putc('}', out); break;
    }
}

static void print_fields(FILE *out, const struct message_fields *f)
{
    for (size_t i = 0; i < f->count; i++) {
        const struct field *field = &f->fields[i];
        if (field->key && (i == 0 || f->fields[i - 1].kind != FIELD_OBJECT))
            putc(',', out);
        if (field->key)
            fprintf(out, "\"%s\":", field->key);
        print_value(out, f, field);
    }
}

/* Which message it is; FIELDS follow. */
static void print_head(FILE *out, const struct inspected *m)
{
    const struct frame_item *item = m->item;
    char name[CONNECTION_NAME_BYTES];

    putc('{', out);
    if (item->has_time)
        fprintf(out, "\"time\":%" PRIu64 ".%09" PRIu64 ",", item->time_ns / 1000000000,
                item->time_ns % 1000000000);
    if (m->connection->has_ends) {
        conversation_name(m->connection, name);
        fprintf(out, "\"connection\":\"%s\",", name);
    }
    fprintf(out, "\"direction\":\"%s\",\"dialect\":\"%s\",\"dialect_certain\":%s,\"type\":\"%s\"",
            m->direction == REQUEST ? "request" : "response", m->connection->guess->versions,
            m->connection->guess->is_sure ? "true" : "false",
            fnet_message_type_name(item->message.type));
}

/* An array of records, or null for data whose record boundaries are not known. */
static enum fnet_err print_records(FILE *out, const struct print_options *options,
                                   struct inspected *m)
{
    struct element_printer elements = element_printer_of(out, options, m);
    struct fnet_span records[RECORDS_AT_ONCE];
    const bool are_known = m->has_records;
    bool is_first = true;
    uint64_t number;
    size_t n;
    enum fnet_err err;

    if (!message_is_data(m))
        return FNET_OK;
    fputs(are_known ? ",\"records\":[" : ",\"records\":null", out);
    while ((err = conversation_next_records(m, records, RECORDS_AT_ONCE, &n, &number)) == FNET_OK) {
        for (size_t i = 0; err == FNET_OK && i < n; i++) {
            if (!is_first)
                putc(',', out);
            is_first = false;
            if (fnet_serde_is_raw(&options->serde))
                print_text_value(out, records[i]);
            else
                err = print_element(&elements, records[i]);
        }
        if (err != FNET_OK)
            break;
    }
    if (are_known)
        putc(']', out);
    element_printer_clear(&elements);
    return err == FNET_AGAIN ? FNET_OK : err;
}

/* Each in its place, null if it does not decode. */
static void print_events(FILE *out, const struct inspected *m)
{
    struct payload_parts parts = conversation_events(m);
    const char *before = ",\"events\":[";
    struct message_fields f;
    struct fnet_event event;
    bool is_decoded;

    while (conversation_next_event(m, &parts, &event, &is_decoded)) {
        fputs(before, out);
        before = ",";
        if (is_decoded) {
            message_fields_of_event(m->item->dialect, NULL, &event, &f);
            print_fields(out, &f);
        } else {
            fputs("null", out);
        }
    }
    putc(']', out);
}

enum fnet_err print_json(FILE *out, const struct print_options *options, struct inspected *m)
{
    struct message_fields f;
    struct fnet_span payload = message_payload(m);

    message_fields_list(m, &f);
    print_head(out, m);
    print_fields(out, &f);
    if (m->events > 1)
        print_events(out, m);
    if (options->has_payload && payload.len > 0) {
        fputs(",\"payload\":\"", out);
        escape_print_hex(out, payload);
        putc('"', out);
    }
    enum fnet_err err = options->has_records ? print_records(out, options, m) : FNET_OK;
    fputs("}\n", out);
    return err;
}
