/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests: read golden files. An entry is a line of words, a name first and bytes in hex last,
 *
 *     EndOfPartition 51 00000033badc0ffe00...
 *
 * or a name alone and, indented below it, a dump of offset, hex and words a line, up to its total.
 * Lines that begin with # are comments. Files are found from the top directory of the project.
 */
#ifndef TESTS_GOLDEN_H
#define TESTS_GOLDEN_H

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fnet/bytes.h"

#define GOLDEN_WORDS 4

/** One entry; all zero before the first. What it holds lives until the next. */
struct golden {
    FILE *file;
    char *line;
    size_t line_bytes;
    char name[64];
    const char *words[GOLDEN_WORDS]; /**< the words between name and bytes */
    uint8_t *bytes;
    size_t len;
};

__attribute__((unused)) static struct golden golden_open(const char *path)
{
    struct golden g = {.file = fopen(path, "r")};

    if (!g.file) {
        fprintf(stderr, "%s: %s (tests run in the top directory)\n", path, strerror(errno));
        exit(1);
    }
    return g;
}

static void golden_add_hex(struct golden *g, const char *hex)
{
    size_t n = strspn(hex, "0123456789abcdef") / 2;

    g->bytes = realloc(g->bytes, g->len + n + 1);
    if (!g->bytes)
        exit(1);
    for (size_t i = 0; i < n; i++) {
        const char digits[] = {hex[2 * i], hex[2 * i + 1], '\0'};
        g->bytes[g->len++] = (uint8_t)strtoul(digits, NULL, 16);
    }
}

static void golden_read_dump(struct golden *g)
{
    char hex[64];

    while (getline(&g->line, &g->line_bytes, g->file) > 0 && g->line[0] == ' ')
        if (sscanf(g->line, " %*4d %63s", hex) == 1)
            golden_add_hex(g, hex);
}

/** The next entry; 0 at the end, when everything is freed. */
__attribute__((unused)) static int golden_next(struct golden *g)
{
    do {
        if (getline(&g->line, &g->line_bytes, g->file) < 0) {
            fclose(g->file);
            free(g->line);
            free(g->bytes);
            return 0;
        }
    } while (g->line[0] == '#' || isspace((unsigned char)g->line[0]));

    char *rest = NULL;
    snprintf(g->name, sizeof g->name, "%s", strtok_r(g->line, " \n", &rest));
    g->len = 0;
    memset(g->words, 0, sizeof g->words);

    const char *word = strtok_r(NULL, " \n", &rest);
    if (!word) {
        golden_read_dump(g);
        return 1;
    }
    for (size_t i = 0; i < GOLDEN_WORDS; i++) {
        const char *next = strtok_r(NULL, " \n", &rest);
        if (!next)
            break;
        g->words[i] = word;
        word = next;
    }
    golden_add_hex(g, word);
    return 1;
}

__attribute__((unused)) static struct fnet_span golden_span(const struct golden *g)
{
    return fnet_span_of(g->bytes, g->len);
}

/** The bytes of entry NAME of the file at PATH, owned by caller; the program ends without it. */
__attribute__((unused)) static struct fnet_span golden_load(const char *path, const char *name)
{
    struct fnet_span found = {.ptr = NULL};
    struct golden g = golden_open(path);

    while (golden_next(&g))
        if (strcmp(g.name, name) == 0) {
            free((void *)(uintptr_t)found.ptr);
            found = golden_span(&g);
            g.bytes = NULL;
        }
    if (!found.ptr) {
        fprintf(stderr, "%s: no entry %s\n", path, name);
        exit(1);
    }
    return found;
}

#endif
