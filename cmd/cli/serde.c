/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Flink's records are, from the command line; what is wrong with a text, in words.
 */
#include "cli/serde.h"

#include <stdio.h>
#include <string.h>

/* Of a text that is no value so much is shown. */
#define SHOWN_BYTES 40

enum fnet_err serde_parse(const char *text, struct fnet_serde *serde, const char **why)
{
    enum fnet_err err = fnet_serde_parse(text, serde);

    if (err == FNET_INVALID)
        *why = "not raw, string, long, int, bytes or tuple(TYPE,...) of these";
    else if (err != FNET_OK)
        *why = "a tuple has at most 25 fields";
    return err;
}

static void explain(const struct fnet_serde *serde, const struct fnet_value_fault *fault,
                    char text[static SERDE_FAULT_BYTES])
{
    const char *type = fnet_value_type_name(fault->type);
    const char *article = fault->type == FNET_VALUE_INT ? "an" : "a";

    if (fault->fields > 0)
        snprintf(text, SERDE_FAULT_BYTES, "%zu field%s, not %zu", fault->fields,
                 fault->fields == 1 ? "" : "s", serde->field_count);
    else if (fault->field > 0)
        snprintf(text, SERDE_FAULT_BYTES, "field %zu is not %s %s", fault->field, article, type);
    else
        snprintf(text, SERDE_FAULT_BYTES, "not %s %s", article, type);
}

void serde_explain(const struct fnet_serde *serde, const struct fnet_value_fault *fault,
                   char text[static SERDE_FAULT_BYTES])
{
    const bool is_long = fault->text.len > SHOWN_BYTES;
    const int shown = (int)(is_long ? SHOWN_BYTES : fault->text.len);

    explain(serde, fault, text);
    const size_t len = strlen(text);
    /* Reports are escaped as a whole; a NUL in the text would end it. */
    snprintf(text + len, SERDE_FAULT_BYTES - len, ": '%.*s%s'", shown,
             shown > 0 ? (const char *)fault->text.ptr : "", is_long ? "..." : "");
}
