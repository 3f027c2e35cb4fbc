/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes what fnet encodes for a version of Flink, in the form of its golden files: name, fields,
 * bytes. The bytes are made of the same structs as the fields, by fnet's encoders; Flink is to say
 * what it reads (tests/flink/README, Decode).
 *
 *     encode VERSION messages|events|elements [SEED]
 */
#include "encode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dice.h"

#define LINES_BY_CHANCE 3000

static const struct {
    const char *name;
    void (*encode)(const struct fnet_dialect *dialect, unsigned count);
} kinds[] = {
    {"messages", encode_messages},
    {"events", encode_events},
    {"elements", encode_elements},
};

static const char *version;

bool is_since(const struct fnet_dialect *dialect, const char *since)
{
    const struct fnet_dialect *first;

    must(fnet_dialect_parse(since, &first), since);
    for (size_t i = 0; fnet_dialect_at(i) != dialect; i++)
        if (fnet_dialect_at(i) == first)
            return true;
    return dialect == first;
}

bool has_event(const struct fnet_dialect *dialect, unsigned type)
{
    const bool is_older = strncmp(version, "2.0", 3) == 0 || strncmp(version, "2.1", 3) == 0;

    return fnet_dialect_has_event(dialect, type) &&
           !(type == FNET_EVENT_END_OF_INPUT_CHANNEL_STATE && is_older);
}

void must(enum fnet_err err, const char *what)
{
    if (err != FNET_OK) {
        fprintf(stderr, "encode: %s: %s\n", what, fnet_strerror(err));
        exit(1);
    }
}

static void print_hex(struct fnet_span bytes)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < bytes.len; i++) {
        putchar(digits[bytes.ptr[i] >> 4]);
        putchar(digits[bytes.ptr[i] & 15]);
    }
}

void write_line(const char *name, struct flink_fields *fields, struct fnet_span head,
                struct fnet_span tail)
{
    static unsigned lines;

    printf("%s-%u\t%s\t", name, ++lines, fields->text);
    print_hex(head);
    print_hex(tail);
    putchar('\n');
    flink_fields_clear(fields);
    scratch_reset();
}

int main(int argc, char **argv)
{
    const struct fnet_dialect *dialect;

    if (argc < 3 || argc > 4) {
        fprintf(stderr, "usage: encode VERSION messages|events|elements [SEED]\n");
        return 2;
    }
    version = argv[1];
    must(fnet_dialect_parse(version, &dialect), version);
    roll_seed(argc > 3 ? strtoull(argv[3], NULL, 0) : 1);
    for (size_t i = 0; i < COUNT(kinds); i++)
        if (strcmp(argv[2], kinds[i].name) == 0) {
            kinds[i].encode(dialect, LINES_BY_CHANCE);
            return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
        }
    fprintf(stderr, "encode: no kind %s\n", argv[2]);
    return 2;
}
