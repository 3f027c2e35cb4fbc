/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elements in words, "StreamRecord timestamp 5 value x", and in JSON,
 * {"type":"StreamRecord","timestamp":5,"value":"x"}.
 */
#include "inspect/print_element.h"

#include <inttypes.h>

#include "cli/escape.h"
#include "fnet/element.h"

struct element_printer element_printer_of(FILE *out, const struct print_options *options,
                                          struct inspected *m)
{
    return (struct element_printer){
        .out = out,
        .options = options,
        .message = m,
        .text = {.dir = m->channel ? m->channel->decoder.record.dir : NULL}};
}

void element_printer_clear(struct element_printer *p)
{
    fnet_spill_buffer_clear(&p->text);
}

/* The name of a field; its value follows. */
static void print_name(const struct element_printer *p, const char *name)
{
    fprintf(p->out, p->options->is_json ? ",\"%s\":" : " %s ", name);
}

static void print_number(const struct element_printer *p, const char *name, int64_t number)
{
    print_name(p, name);
    fprintf(p->out, "%" PRId64, number);
}

/* In words only what is set. */
static void print_flag(const struct element_printer *p, const char *name, bool is_set)
{
    if (p->options->is_json)
        fprintf(p->out, ",\"%s\":%s", name, is_set ? "true" : "false");
    else if (is_set)
        fprintf(p->out, " %s", name);
}

static void print_hex(const struct element_printer *p, struct fnet_span bytes)
{
    const char *quote = p->options->is_json ? "\"" : "";

    fputs(quote, p->out);
    escape_print_hex(p->out, bytes);
    fputs(quote, p->out);
}

/* ---- values ------------------------------------------------------------------------------ */

static enum fnet_err print_string(struct element_printer *p, const struct fnet_value *value)
{
    if (value->is_null) {
        fputs(p->options->is_json ? "null" : "\\N", p->out);
        return FNET_OK;
    }
    const size_t room = fnet_value_text_max(value);
    enum fnet_err err = fnet_spill_buffer_reserve(&p->text, room);
    if (err != FNET_OK) {
        p->message->channel->decoder.record.saved_errno = p->text.saved_errno;
        return err;
    }
    struct fnet_writer w = fnet_writer_of(p->text.ptr, room);
    fnet_value_put_text(value, &w);
    const struct fnet_span text = fnet_span_of(p->text.ptr, room - fnet_writer_left(&w));
    if (p->options->is_json)
        escape_print_json(p->out, text);
    else
        escape_print(p->out, text);
    return FNET_OK;
}

static enum fnet_err print_one(struct element_printer *p, const struct fnet_value *value)
{
    switch (value->type) {
    case FNET_VALUE_STRING: return print_string(p, value);
    case FNET_VALUE_LONG:
    case FNET_VALUE_INT: fprintf(p->out, "%" PRId64, value->number); break;
    case FNET_VALUE_BYTES: print_hex(p, value->bytes); break;
    }
    return FNET_OK;
}

/* A tuple is an array in JSON, and in words as Flink has it: (a,1). */
static enum fnet_err print_values(struct element_printer *p, const struct fnet_value *values)
{
    const struct fnet_serde *serde = &p->options->serde;
    enum fnet_err err = FNET_OK;

    print_name(p, "value");
    if (serde->is_tuple)
        putc(p->options->is_json ? '[' : '(', p->out);
    for (size_t i = 0; err == FNET_OK && i < serde->field_count; i++) {
        if (i > 0)
            putc(',', p->out);
        err = print_one(p, &values[i]);
    }
    if (serde->is_tuple)
        putc(p->options->is_json ? ']' : ')', p->out);
    return err;
}

/* ---- elements ---------------------------------------------------------------------------- */

static void print_operator(const struct element_printer *p, const struct fnet_id *id)
{
    print_name(p, "operator");
    print_hex(p, fnet_span_of(id->bytes, sizeof id->bytes));
}

/* What stands between type and value. */
static void print_fields(const struct element_printer *p, const struct fnet_element *e)
{
    switch (e->tag) {
    case FNET_ELEMENT_RECORD: break;
    case FNET_ELEMENT_TIMED_RECORD:
    case FNET_ELEMENT_WATERMARK: print_number(p, "timestamp", e->timestamp); break;
    case FNET_ELEMENT_LATENCY_MARKER:
        print_number(p, "marked", e->timestamp);
        print_operator(p, &e->operator_id);
        print_number(p, "subtask", e->subtask);
        break;
    case FNET_ELEMENT_WATERMARK_STATUS: print_flag(p, "idle", e->is_idle); break;
    case FNET_ELEMENT_RECORD_ATTRIBUTES: print_flag(p, "backlog", e->is_backlog); break;
    case FNET_ELEMENT_INTERNAL_WATERMARK:
        print_number(p, "subpartition", e->subpartition);
        print_number(p, "timestamp", e->timestamp);
        break;
    }
}

static void print_bad(const struct element_printer *p, struct fnet_span record, enum fnet_err err)
{
    fprintf(p->out, p->options->is_json ? "{\"error\":\"%s\",\"hex\":" : "malformed (%s) ",
            fnet_strerror(err));
    print_hex(p, record);
    if (p->options->is_json)
        putc('}', p->out);
}

enum fnet_err print_element(struct element_printer *p, struct fnet_span record)
{
    const bool is_json = p->options->is_json;
    struct fnet_value values[FNET_TUPLE_MAX_FIELDS];
    struct fnet_element element;
    enum fnet_err err = fnet_element_decode(record, &element);

    if (err == FNET_OK && fnet_element_is_record(&element))
        err = fnet_values_decode(&p->options->serde, element.value, values);
    if (err != FNET_OK) {
        print_bad(p, record, err);
        p->message->findings |= FOUND_BAD_ELEMENT;
        return FNET_OK;
    }
    fprintf(p->out, is_json ? "{\"type\":\"%s\"" : "%s", fnet_element_type_name(element.tag));
    print_fields(p, &element);
    if (fnet_element_is_record(&element))
        err = print_values(p, values);
    if (is_json)
        putc('}', p->out);
    return err;
}
