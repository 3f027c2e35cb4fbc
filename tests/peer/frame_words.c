/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames out of words. The layouts stand here a second time, so that tests do not believe the
 * library about itself.
 */
#include "frame_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names of fields with a form of their own, or "name:bytes=default". */
static const struct {
    const char *name;
    uint8_t type;
    const char *body;
} frames[] = {
    {"BufferResponse", 0,
     "receiver subpartition:4=0 partials:4=0 sequence:4=next backlog:4=0 type:1=1 compressed:1=0 "
     "size:4=rest rest"},
    {"ErrorResponse", 1, "rest addressed:1=1 receiver"},
    {"FatalErrorResponse", 1, "rest addressed:1=0"},
    {"PartitionRequest", 2, "partition first:4=0 last:4=0 receiver credit:4=2"},
    {"TaskEventRequest", 3, "size:4=rest rest partition receiver"},
    {"CancelPartitionRequest", 4, "receiver"},
    {"CloseRequest", 5, ""},
    {"AddCredit", 6, "credit:4=1 receiver"},
    {"ResumeConsumption", 7, "receiver"},
    {"AckAllUserRecordsProcessed", 8, "receiver"},
    {"BacklogAnnouncement", 9, "backlog:4=1 receiver"},
    {"NewBufferSize", 10, "size:4=16384 receiver"},
    {"SegmentId", 11, "subpartition:4=0 segment:4=1 receiver"},
    {"DescriptionRequest", 64, "receiver all:1=0 partition"},
    {"DescriptionResponse", 65,
     "receiver remaining:4=0 partition subpartitions:4=1 kind:1=1 format:1=0 state:1=0 codec:1=0 "
     "name:1=rest rest"},
};

#define FRAMES (sizeof frames / sizeof *frames)

/* ---- words ------------------------------------------------------------------------------- */

/* VALUE of the field "NAME=VALUE"; NULL when it is not given. */
static const char *field(const struct step *step, const char *name)
{
    const size_t len = strlen(name);

    for (size_t i = 2; i < step->count; i++)
        if (strncmp(step->words[i], name, len) == 0 && step->words[i][len] == '=')
            return step->words[i] + len + 1;
    return NULL;
}

uint64_t number(const char *text)
{
    char *end;
    long long value = strtoll(text, &end, 0);

    if (end == text || *end)
        fail("not a number: %s", text);
    return (uint64_t)value;
}

void put_hex(const char *text, struct fnet_writer *w)
{
    for (; *text; text += 2) {
        const char digits[3] = {text[0], text[1], '\0'};
        char *end;
        unsigned long byte = strtoul(digits, &end, 16);
        if (end != digits + 2)
            fail("not hex: %s", text);
        fnet_put_u8(w, (uint8_t)byte);
    }
}

/* ---- fields ------------------------------------------------------------------------------ */

static void put_receiver(const struct conversation *c, const struct step *step,
                         struct fnet_writer *w)
{
    const char *value = field(step, "receiver");
    struct fnet_id id = {.bytes = {0}};

    if (!value)
        value = c->is_producer ? "@0" : "1";
    if (value[0] == '@') {
        size_t i = number(value + 1);
        if (i >= c->request_count)
            fail("no request %s came", value);
        id = c->requests[i];
    } else {
        memset(id.bytes, (int)number(value), sizeof id.bytes);
    }
    fnet_put_id(w, &id);
}

static void put_partition(const struct step *step, struct fnet_writer *w)
{
    const char *name = field(step, "partition");
    struct fnet_partition_id id;

    if (fnet_partition_id_parse(name ? name : "main", &id) != FNET_OK)
        fail("not a partition: %s", name);
    fnet_put_partition_id(w, &id);
}

static void put_record(const char *bytes, size_t len, struct fnet_writer *w)
{
    fnet_put_u32(w, (uint32_t)len);
    for (size_t i = 0; i < len; i++)
        fnet_put_u8(w, (uint8_t)(bytes ? bytes[i] : 'x'));
}

static void put_throwable(bool is_missing, const char *message, struct fnet_writer *w)
{
    if (fnet_throwable_encode(is_missing, message, w) != FNET_OK)
        fail("no room for the error");
}

/* The part of a frame that has no fixed length. */
static void put_rest(const struct step *step, struct fnet_writer *w)
{
    const char *value;

    if ((value = field(step, "record")) != NULL)
        put_record(value, strlen(value), w);
    if ((value = field(step, "fill")) != NULL)
        put_record(NULL, number(value), w);
    if ((value = field(step, "body")) != NULL)
        put_hex(value, w);
    if ((value = field(step, "event")) != NULL)
        put_hex(strcmp(value, "EndOfData") == 0 ? "0000000800" : "00000000", w);
    if ((value = field(step, "error")) != NULL)
        put_throwable(false, value, w);
    if ((value = field(step, "missing")) != NULL)
        put_throwable(true, value, w);
}

static uint64_t default_of(const struct conversation *c, const struct step *step, const char *name,
                           const char *value, size_t rest)
{
    const char *event = field(step, "event");

    if (strcmp(value, "next") == 0)
        return c->sequence;
    if (strcmp(value, "rest") == 0)
        return rest;
    if (event && strcmp(name, "type") == 0)
        return strcmp(event, "EndOfData") == 0 ? FNET_END_OF_DATA : FNET_END_OF_PARTITION;
    return number(value);
}

/* NAME, and behind it what stands behind the colon in frames[]. */
static void put_field(struct conversation *c, const struct step *step, const char *name,
                      const char *spec, size_t rest, struct fnet_writer *w)
{
    const char *given = field(step, name);
    uint64_t n = given ? number(given) : default_of(c, step, name, spec + 2, rest);

    if (strcmp(name, "sequence") == 0)
        c->sequence = (uint32_t)n + 1;
    if (spec[0] == '4')
        fnet_put_u32(w, (uint32_t)n);
    else
        fnet_put_u8(w, (uint8_t)n);
}

/* ---- frames ------------------------------------------------------------------------------ */

static void put_body(struct conversation *c, const struct step *step, const char *body,
                     struct fnet_writer *w)
{
    static uint8_t bytes[FRAME_BYTES];
    struct fnet_writer rest = fnet_writer_of(bytes, sizeof bytes);
    char fields[256];
    char *next = fields;
    char *name;

    put_rest(step, &rest);
    const size_t rest_len = sizeof bytes - fnet_writer_left(&rest);
    snprintf(fields, sizeof fields, "%s", body);
    while ((name = strsep(&next, " ")) != NULL) {
        char *spec = name;
        (void)strsep(&spec, ":");
        if (spec)
            put_field(c, step, name, spec, rest_len, w);
        else if (strcmp(name, "receiver") == 0)
            put_receiver(c, step, w);
        else if (strcmp(name, "partition") == 0)
            put_partition(step, w);
        else if (strcmp(name, "rest") == 0)
            fnet_put_bytes(w, bytes, rest_len);
    }
}

void put_frame(struct conversation *c, const struct step *step, struct fnet_writer *w)
{
    const size_t room = fnet_writer_left(w);
    uint8_t *head = w->pos;
    const char *length = field(step, "length");
    const char *magic = field(step, "magic");
    size_t i = 0;

    while (i < FRAMES && strcmp(frames[i].name, step->words[1]) != 0)
        i++;
    if (i == FRAMES || room < FNET_FRAME_HEADER_BYTES)
        fail("no such message, or no room: %s", step->words[1]);
    fnet_put_u32(w, 0);
    fnet_put_u32(w, magic ? (uint32_t)number(magic) : FNET_MAGIC);
    fnet_put_u8(w, frames[i].type);
    put_body(c, step, frames[i].body, w);
    fnet_store_be32(head, (uint32_t)(length ? number(length) : room - fnet_writer_left(w)));
}
