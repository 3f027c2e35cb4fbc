/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests: what Flink itself wrote, version by version: tests/golden/flink/VERSION/NAME.tsv, lines of
 * a name, fields and bytes in hex. tests/flink/README explains the fields.
 */
#ifndef TESTS_FLINK_GOLDEN_H
#define TESTS_FLINK_GOLDEN_H

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fnet/bytes.h"
#include "fnet/dialect.h"

#include "flink_fields.h"
#include "tap.h"

struct flink_line {
    const struct fnet_dialect *dialect; /* of the version that wrote it */
    char *name;
    char *fields;
    struct fnet_span bytes;
};

static struct fnet_span flink_bytes(char *hex)
{
    uint8_t *bytes = (uint8_t *)hex; /* two digits of it become one byte */
    size_t n = strspn(hex, "0123456789abcdef") / 2;

    for (size_t i = 0; i < n; i++) {
        const char digits[] = {hex[2 * i], hex[2 * i + 1], '\0'};
        bytes[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return fnet_span_of(bytes, n);
}

static unsigned flink_visit_file(const char *path, const struct fnet_dialect *dialect,
                                 void (*visit)(const struct flink_line *line))
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t room = 0;
    unsigned lines = 0;

    while (file && getline(&text, &room, file) > 0) {
        char label[256];
        char *rest = NULL;
        struct flink_line line = {.dialect = dialect};

        line.name = strtok_r(text, "\t\n", &rest);
        line.fields = strtok_r(NULL, "\t\n", &rest);
        line.bytes = flink_bytes(strtok_r(NULL, "\t\n", &rest));
        snprintf(label, sizeof label, "%s %s", path, line.name);
        CASE(label);
        visit(&line);
        lines++;
    }
    if (file)
        fclose(file);
    free(text);
    CASE("");
    return lines;
}

/* Every line of NAME.tsv of every version; how many versions there are. */
__attribute__((unused)) static size_t flink_visit(const char *name,
                                                  void (*visit)(const struct flink_line *line))
{
    char pattern[128];
    glob_t found;
    size_t versions;

    snprintf(pattern, sizeof pattern, "tests/golden/flink/[0-9]*/%s.tsv", name);
    if (glob(pattern, 0, NULL, &found) != 0)
        return 0;
    versions = found.gl_pathc;
    for (size_t i = 0; i < versions; i++) {
        const struct fnet_dialect *dialect = NULL;
        char version[32] = "";

        sscanf(found.gl_pathv[i], "tests/golden/flink/%31[^/]", version);
        CASE(found.gl_pathv[i]);
        if (CHECK_INT(fnet_dialect_parse(version, &dialect), FNET_OK))
            CHECK(flink_visit_file(found.gl_pathv[i], dialect, visit) > 10);
    }
    globfree(&found);
    return versions;
}

/* ---- fields, which are used up ------------------------------------------------------------ */

/* Is MADE what the line says, but for what the line has behind it? */
__attribute__((unused)) static void flink_check_begins(const struct flink_line *line,
                                                       struct flink_fields *made)
{
    const char *fields = line->fields;

    if (strncmp(fields, made->text, made->len) != 0 ||
        (fields[made->len] != '\0' && fields[made->len] != ';'))
        CHECK_STR(made->text, fields);
    flink_fields_clear(made);
}

/* Does the line say MADE somewhere? */
__attribute__((unused)) static void flink_check_has(const struct flink_line *line,
                                                    struct flink_fields *made)
{
    const char *at = line->fields;
    size_t len = made->len;

    while (at && (strncmp(at, made->text, len) != 0 || (at[len] != '\0' && at[len] != ';'))) {
        at = strchr(at, ';');
        at = at ? at + 1 : NULL;
    }
    if (!at)
        CHECK_STR(line->fields, made->text);
    flink_fields_clear(made);
}

#endif
