/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --list, what the producers serve: collected first, so that a list is whole or an error.
 */
#include "consume/listing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/escape.h"
#include "fnet/compress.h"
#include "fnet/partition.h"
#include "fnet/record.h"

struct listing {
    char *text;
    size_t len;
    FILE *out; /* into TEXT */
};

enum fnet_err listing_new(struct listing **out)
{
    struct listing *listing = calloc(1, sizeof *listing);

    if (!listing)
        return FNET_NOMEM;
    listing->out = open_memstream(&listing->text, &listing->len);
    if (!listing->out) {
        free(listing);
        return FNET_NOMEM;
    }
    *out = listing;
    return FNET_OK;
}

void listing_free(struct listing *listing)
{
    if (!listing)
        return;
    fclose(listing->out);
    free(listing->text);
    free(listing);
}

static const char *type_name(uint8_t type)
{
    return type == FNET_PIPELINED           ? "pipelined"
           : type == FNET_PIPELINED_BOUNDED ? "pipelined-bounded"
                                            : "unknown";
}

static const char *format_name(uint8_t format)
{
    static const char *const names[] = {[FNET_FORMAT_LINES] = "lines",
                                        [FNET_FORMAT_NUL] = "nul",
                                        [FNET_FORMAT_FIXED] = "fixed",
                                        [FNET_FORMAT_U32] = "u32",
                                        [FNET_FORMAT_BYTES] = "bytes"};
    return format < sizeof names / sizeof *names ? names[format] : "unknown";
}

static const char *codec_name(uint8_t codec)
{
    const char *name = fnet_codec_name(codec);

    return name ? name : "unknown";
}

void listing_add(struct listing *listing, const char *server,
                 const struct fnet_description_response *d)
{
    if (d->subpartitions == 0) /* the producer serves nothing */
        return;
    char id[FNET_PARTITION_ID_TEXT_BYTES];
    fnet_partition_id_format(&d->partition, id);
    fprintf(listing->out, "%s/", server);
    escape_print(listing->out, d->name.len > 0 ? d->name : fnet_span_of(id, strlen(id)));
    fprintf(listing->out, "\t%" PRId32 "\t%s\t%s\t%s\t%s\n", d->subpartitions,
            type_name(d->partition_type), format_name(d->format),
            d->state == 0 ? "producing" : "finished", codec_name(d->codec));
}

int listing_print(struct listing *listing, const struct report *report)
{
    errno = 0;
    if (fflush(listing->out) != 0 ||
        fwrite(listing->text, 1, listing->len, stdout) != listing->len || fflush(stdout) != 0) {
        report_error(report, "standard output", "cannot write", FNET_SYSTEM, errno);
        return EXIT_LOCAL;
    }
    return EXIT_DONE;
}
