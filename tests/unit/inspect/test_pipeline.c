/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect/pipeline: what is printed about a file does not depend on how it is read, nor on whether
 * its payloads are kept or go past.
 */
#include "inspect/pipeline.h"

#include <stdlib.h>

#include "../failmalloc.h"
#include "../tap.h"

#define GOLDEN "tests/golden/pcap"

/* Read FILE to memory. */
static struct fnet_span load(const char *name)
{
    char path[512];
    static uint8_t bytes[1 << 20];

    snprintf(path, sizeof path, GOLDEN "/%s", name);
    FILE *file = fopen(path, "r");
    if (!file)
        abort();
    size_t len = fread(bytes, 1, sizeof bytes, file);
    CHECK(len < sizeof bytes);
    fclose(file);
    return fnet_span_of(bytes, len);
}

static enum fnet_err feed(struct pipeline *p, struct fnet_span bytes, size_t piece)
{
    enum fnet_err err = FNET_OK;

    while (bytes.len > 0 && err == FNET_OK) {
        uint8_t *ptr;
        size_t room;
        err = pipeline_space(p, &ptr, &room);
        if (err != FNET_OK)
            return err;
        size_t n = bytes.len < piece ? bytes.len : piece;
        n = n < room ? n : room;
        memcpy(ptr, bytes.ptr, n);
        bytes = fnet_span_of(bytes.ptr + n, bytes.len - n);
        err = pipeline_commit(p, n);
    }
    return err;
}

/* What is printed about a file, owned by caller, and how much is wrong with it. */
struct told {
    char *text;
    size_t len;
    uint64_t problems;
    enum fnet_err err;
};

static struct told tell(struct fnet_span bytes, size_t piece, struct print_options print)
{
    const struct report report = {.program = "test", .most = REPORT_ERROR};
    struct problems problems = {.report = &report};
    struct told told = {.text = NULL};
    struct pipeline_config config = {
        .print = print, .problems = &problems, .out = open_memstream(&told.text, &told.len)};
    struct pipeline *p;

    told.err = pipeline_new(&config, "file", &p);
    if (told.err == FNET_OK) {
        told.err = feed(p, bytes, piece);
        if (told.err == FNET_OK)
            told.err = pipeline_finish(p);
        pipeline_free(p);
    }
    fclose(config.out);
    told.problems = problems.count;
    return told;
}

static void check_same(const char *name, struct told a, struct told b)
{
    CHECK_INT(a.err, b.err);
    CHECK_INT(a.problems, b.problems);
    if (!CHECK(a.text && b.text && strcmp(a.text, b.text) == 0))
        fprintf(stderr, "  %s\n", name);
    free(a.text);
    free(b.text);
}

static void check_file(const char *name)
{
    static const struct print_options ways[] = {
        {.is_summary = true},
        {.is_json = true},
        {.is_json = true, .has_records = true},
        {.has_payload = true},
    };
    const struct fnet_span bytes = load(name);

    CASE("however a file is cut, the same is printed");
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
        for (size_t piece = 1; piece < 700; piece = piece * 3 + 1)
            check_same(name, tell(bytes, SIZE_MAX, ways[w]), tell(bytes, piece, ways[w]));

    CASE("payloads that go past make the same summary as those that are kept");
    check_same(
        name, tell(bytes, SIZE_MAX, (struct print_options){.is_summary = true}),
        tell(bytes, SIZE_MAX, (struct print_options){.is_summary = true, .has_payload = true}));
}

/* Every file of the list of golden captures but those that are refused, about which errors are
 * said.
 */
static void test_golden(void)
{
    FILE *list = fopen(GOLDEN "/list", "r");
    char line[256], name[64], input[64];
    unsigned files = 0;

    if (!list)
        abort();
    while (fgets(line, sizeof line, list))
        if (sscanf(line, "%63s %63s", name, input) == 2 && *name != '#' &&
            strncmp(name, "refuse/", 7) != 0) {
            check_file(input);
            files++;
        }
    fclose(list);
    CHECK(files > 20);
}

static void test_truncated(void)
{
    static const struct print_options print = {.is_summary = true};
    const struct fnet_span whole = load("ethernet.pcap");

    CASE("a file may end anywhere behind its magic number");
    for (size_t len = FNET_SAVEFILE_MAGIC_BYTES; len < whole.len; len++)
        check_same("ethernet.pcap", tell(fnet_span_of(whole.ptr, len), SIZE_MAX, print),
                   tell(fnet_span_of(whole.ptr, len), 100, print));
}

static void check_no_memory(const char *name)
{
    const struct fnet_span bytes = load(name);
    unsigned n = 0;
    bool failed;

    CASE("without memory the pipeline says so and leaves nothing behind");
    do {
        const struct report report = {.program = "test", .most = REPORT_ERROR};
        struct problems problems = {.report = &report};
        struct pipeline_config config = {
            .print = {.is_summary = true}, .problems = &problems, .out = fopen("/dev/null", "w")};
        struct pipeline *p = NULL;
        failmalloc_arm(++n);
        enum fnet_err err = pipeline_new(&config, "file", &p);
        if (err == FNET_OK)
            err = feed(p, bytes, SIZE_MAX);
        if (err == FNET_OK)
            err = pipeline_finish(p);
        failed = failmalloc_disarm();
        /* The last to fail may be stdio's own buffer, which it does without. */
        CHECK(err == FNET_OK || (failed && err == FNET_NOMEM));
        pipeline_free(p);
        fclose(config.out);
    } while (failed);
}

static void test_no_memory(void)
{
    check_no_memory("gap.pcap");
    check_no_memory("merged-events.raw");
    check_no_memory("compressed-lz4.raw");
}

int main(void)
{
    test_golden();
    test_truncated();
    test_no_memory();
    return tap_done();
}
