/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: the records of a file are the same however it grows while it is read, and framing
 * them and reading them again changes nothing. Input: format, its parameter, how the file grows,
 * then the file.
 */
#include <stdint.h>
#include <stdlib.h>

#include "fnet/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct found {
    struct fnet_span *records;
    size_t count;
    size_t used;
    enum fnet_err err; /**< why it ended */
};

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* Read FILE, STEP more bytes whenever nothing is found, at most MAX records at a time. */
static struct found read_all(const struct fnet_delimiter_config *config, struct fnet_span file,
                             size_t step, size_t max)
{
    struct found f = {.records = calloc(file.len + 1, sizeof *f.records)};
    struct fnet_delimiter d;
    size_t known = step < file.len ? step : file.len;

    require(f.records != NULL);
    fnet_delimiter_init(&d, config);
    for (;;) {
        size_t count = 0;
        size_t used = 0;
        size_t most = max < file.len - f.count ? max : file.len - f.count + 1;
        f.err = fnet_delimiter_find(&d, fnet_span_of(file.ptr + f.used, known - f.used),
                                    known == file.len, f.records + f.count, most, &count, &used);
        if (f.err == FNET_OK) {
            require(count > 0 && count <= most && used > 0 && used <= known - f.used);
            f.count += count;
            f.used += used;
        } else if (f.err == FNET_AGAIN && known < file.len) {
            known = step < file.len - known ? known + step : file.len;
        } else {
            return f;
        }
    }
}

static void require_same(const struct found *a, const struct found *b)
{
    require(a->count == b->count);
    for (size_t i = 0; i < a->count; i++) {
        require(a->records[i].len == b->records[i].len);
        require(a->records[i].len == 0 ||
                memcmp(a->records[i].ptr, b->records[i].ptr, a->records[i].len) == 0);
    }
}

/* Frame what was found; a delimiter may be added to FILE's last record, nothing else changes. */
static void require_framed(const struct fnet_delimiter_config *config, const struct found *f,
                           struct fnet_span file)
{
    size_t len = fnet_delimiter_framed_bytes(config, f->records, f->count);
    uint8_t *framed = malloc(len + 1);
    require(framed != NULL);
    struct fnet_writer w = fnet_writer_of(framed, len);

    require(fnet_delimiter_frame(config, f->records, f->count, &w) == FNET_OK);
    require(w.pos == framed + len && len >= f->used && len <= f->used + 1);
    require(memcmp(framed, file.ptr, f->used) == 0);

    struct found again = read_all(config, fnet_span_of(framed, len), len + 1, len + 1);
    require(again.err == FNET_EOF);
    if (config->format != FNET_FORMAT_BYTES)
        require_same(f, &again);
    free(again.records);
    free(framed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;

    struct fnet_delimiter_config config = {.format = (enum fnet_record_format)(data[0] % 5),
                                           .delimiter = data[1],
                                           .record_bytes = 1 + data[1]};
    struct fnet_span file = fnet_span_of(data + 3, size - 3);
    struct found whole = read_all(&config, file, file.len, file.len + 1);
    struct found growing = read_all(&config, file, 1 + data[2] % 99, 1 + data[2] % 5);

    require(whole.err == growing.err && whole.used == growing.used);
    if (config.format != FNET_FORMAT_BYTES)
        require_same(&whole, &growing);
    require_framed(&config, &whole, file);
    require_framed(&config, &growing, file);
    free(whole.records);
    free(growing.records);
    return 0;
}
