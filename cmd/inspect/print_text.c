/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line for people: time, connection, direction, type, then names and values.
 */
#include <inttypes.h>

#include "cli/escape.h"
#include "inspect/message_fields.h"
#include "inspect/print_element.h"
#include "inspect/printers.h"

#define RECORDS_AT_ONCE 64
#define DUMP_WIDTH 16

static void print_place(FILE *out, const struct connection *connection,
                        const struct frame_item *item)
{
    char name[CONNECTION_NAME_BYTES];

    conversation_name(connection, name);
    if (item && item->has_time)
        fprintf(out, "%" PRIu64 ".%09" PRIu64, item->time_ns / 1000000000,
                item->time_ns % 1000000000);
    else
        putc('-', out);
    fprintf(out, " %s ", name);
}

static void print_columns(FILE *out, const struct inspected *m)
{
    print_place(out, m->connection, m->item);
    fprintf(out, "%s %s", m->direction == REQUEST ? "request" : "response",
            fnet_message_type_name(m->item->message.type));
}

void print_dialect(FILE *out, const struct connection *connection, const struct frame_item *item)
{
    print_place(out, connection, item);
    print_dialect_words(out, connection->guess);
}

static void print_numbers(FILE *out, struct fnet_span numbers)
{
    for (size_t at = 0; at < numbers.len; at += 4)
        fprintf(out, "%s%" PRIu32, at ? "," : "", fnet_load_be32(numbers.ptr + at));
}

/* What stands before the value: the key, or words of its own. */
static void print_lead(FILE *out, const struct field *field)
{
    if (field->words)
        fputs(field->words, out);
    else if (field->kind == FIELD_END)
        putc(')', out);
    else
        fprintf(out, " %s%s", field->key,
                field->kind == FIELD_FLAG     ? ""
                : field->kind == FIELD_OBJECT ? " ("
                                              : " ");
}

/* A flag is its name, if it is set, without a value. */
static void print_field(FILE *out, const struct field *field)
{
    if (field->kind == FIELD_STACK || (field->kind == FIELD_FLAG && !field->number))
        return;
    print_lead(out, field);
    switch (field->kind) {
    case FIELD_NUMBER: fprintf(out, "%" PRId64, field->number); break;
    case FIELD_TEXT: escape_print(out, field->bytes); break;
    case FIELD_BYTES: escape_print_hex(out, field->bytes); break;
    case FIELD_NUMBERS: print_numbers(out, field->bytes); break;
    case FIELD_FLAG:
    case FIELD_OBJECT:
    case FIELD_STACK:
    case FIELD_END: break;
    }
}

/* 16 bytes a line: offset, hex, characters. */
static void print_dump(FILE *out, struct fnet_span bytes)
{
    for (size_t line = 0; line < bytes.len; line += DUMP_WIDTH) {
        size_t n = bytes.len - line < DUMP_WIDTH ? bytes.len - line : DUMP_WIDTH;
        fprintf(out, "    %08zx", line);
        for (size_t i = 0; i < DUMP_WIDTH; i++) {
            fputs(i % 8 ? " " : "  ", out);
            if (i < n)
                fprintf(out, "%02x", bytes.ptr[line + i]);
            else
                fputs("  ", out);
        }
        fputs("  |", out);
        for (size_t i = 0; i < n; i++) {
            uint8_t c = bytes.ptr[line + i];
            putc(c >= ' ' && c <= '~' ? c : '.', out);
        }
        fputs("|\n", out);
    }
}

static enum fnet_err print_records(FILE *out, const struct print_options *options,
                                   struct inspected *m)
{
    struct element_printer elements = element_printer_of(out, options, m);
    struct fnet_span records[RECORDS_AT_ONCE];
    uint64_t number;
    size_t n;
    enum fnet_err err;

    if (!m->has_records && message_is_data(m))
        fputs("    records not known\n", out);
    while ((err = conversation_next_records(m, records, RECORDS_AT_ONCE, &n, &number)) == FNET_OK) {
        for (size_t i = 0; err == FNET_OK && i < n; i++) {
            fprintf(out, "    record %" PRIu64 " (%zu bytes): ", number + i, records[i].len);
            if (fnet_serde_is_raw(&options->serde))
                escape_print(out, records[i]);
            else
                err = print_element(&elements, records[i]);
            putc('\n', out);
        }
        if (err != FNET_OK)
            break;
    }
    element_printer_clear(&elements);
    return err == FNET_AGAIN ? FNET_OK : err;
}

static void print_fields(FILE *out, const struct message_fields *f)
{
    for (size_t i = 0; i < f->count; i++) {
        const bool is_first_of_object = i > 0 && f->fields[i - 1].kind == FIELD_OBJECT;
        if (is_first_of_object)
            escape_print(out, f->fields[i].bytes);
        else
            print_field(out, &f->fields[i]);
    }
}

/* Each like the only one of a message; what does not decode keeps its place. */
static void print_events(FILE *out, const struct inspected *m)
{
    struct payload_parts parts = conversation_events(m);
    struct message_fields f;
    struct fnet_event event;
    bool is_decoded;

    while (conversation_next_event(m, &parts, &event, &is_decoded)) {
        if (is_decoded) {
            message_fields_of_event(m->item->dialect, "event", &event, &f);
            print_fields(out, &f);
        } else {
            fputs(" event ?", out);
        }
    }
}

enum fnet_err print_text(FILE *out, const struct print_options *options, struct inspected *m)
{
    struct message_fields f;

    message_fields_list(m, &f);
    print_columns(out, m);
    print_fields(out, &f);
    if (m->events > 1)
        print_events(out, m);
    putc('\n', out);
    if (options->has_payload)
        print_dump(out, message_payload(m));
    return options->has_records ? print_records(out, options, m) : FNET_OK;
}
