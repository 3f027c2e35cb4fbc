/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The texts of a throwable that was read, and its stack lines as Java writes them.
 *
 * Source: java.lang.StackTraceElement.toString.
 */
#include "fnet/throwable.h"

#include <assert.h>
#include <stdio.h>

#include "java_text.h"
#include "object_stream.h"

/* Flags of a line: the loader is one of the JDK's own, the module is part of it. */
#define BUILT_IN_LOADER 0x01
#define JDK_MODULE 0x02
/* The number of a line that is in no file. */
#define NATIVE_METHOD (-2)

static void copy_text(struct fnet_span from, char to[static FNET_THROWABLE_TEXT_BYTES])
{
    struct fnet__wire_text text = fnet__wire_text_of(to);

    fnet__wire_text_add(&text, from);
    fnet__wire_text_end(&text);
}

void fnet_throwable_chain_get(const struct fnet_throwable_chain *chain, size_t i,
                              struct fnet_throwable *out)
{
    assert(i < chain->count);
    copy_text(chain->throwables[i].class_name, out->class_name);
    copy_text(chain->throwables[i].message, out->message);
    copy_text(chain->throwables[i].original_class, out->original_class);
}

enum fnet_err fnet_throwable_decode(struct fnet_span stream, struct fnet_throwable *out)
{
    struct fnet_throwable_chain chain;
    enum fnet_err err = fnet_throwable_chain_decode(stream, &chain);

    if (err == FNET_OK)
        fnet_throwable_chain_get(&chain, 0, out);
    return err;
}

/* "LOADER/MODULE@VERSION/" in front of the class; an empty name counts as none. */
static void add_module(struct fnet__wire_text *text, const struct fnet_stack_line *line,
                       const struct fnet_span texts[static FNET_STACK_TEXTS])
{
    const struct fnet_span loader = texts[FNET_STACK_LOADER];
    const struct fnet_span version = texts[FNET_STACK_MODULE_VERSION];
    const bool has_loader = !(line->format & BUILT_IN_LOADER) && loader.len > 0;
    const bool has_module = texts[FNET_STACK_MODULE].len > 0;

    if (has_loader) {
        fnet__wire_text_add(text, loader);
        fnet__wire_text_add_ascii(text, "/");
    }
    if (has_module)
        fnet__wire_text_add(text, texts[FNET_STACK_MODULE]);
    if (has_module && !(line->format & JDK_MODULE) && version.len > 0) {
        fnet__wire_text_add_ascii(text, "@");
        fnet__wire_text_add(text, version);
    }
    if (has_loader || has_module)
        fnet__wire_text_add_ascii(text, "/");
}

static void add_known(struct fnet__wire_text *text, const struct fnet_stack_line *line,
                      enum fnet_stack_text which, struct fnet_span known)
{
    if (line->texts[which])
        fnet__wire_text_add(text, known);
    else
        fnet__wire_text_add_ascii(text, "?");
}

/* "(FILE:NUMBER)", or what there is of it. */
static void add_place(struct fnet__wire_text *text, const struct fnet_stack_line *line,
                      struct fnet_span file)
{
    char number[16];

    if (line->number == NATIVE_METHOD) {
        fnet__wire_text_add_ascii(text, "(Native Method)");
        return;
    }
    if (!line->texts[FNET_STACK_FILE]) {
        fnet__wire_text_add_ascii(text, "(Unknown Source)");
        return;
    }
    fnet__wire_text_add_ascii(text, "(");
    fnet__wire_text_add(text, file);
    if (line->number >= 0) {
        snprintf(number, sizeof number, ":%d", (int)line->number);
        fnet__wire_text_add_ascii(text, number);
    }
    fnet__wire_text_add_ascii(text, ")");
}

void fnet_throwable_chain_line(const struct fnet_throwable_chain *chain, size_t i, size_t line,
                               char out[static FNET_THROWABLE_TEXT_BYTES])
{
    assert(i < chain->count && line < chain->throwables[i].line_count);
    const struct fnet_stack_line *l = &chain->throwables[i].lines[line];
    const uint8_t *begin = chain->stream.ptr;
    struct fnet__wire_text text = fnet__wire_text_of(out);
    struct fnet_span texts[FNET_STACK_TEXTS];

    for (size_t t = 0; t < FNET_STACK_TEXTS; t++)
        texts[t] = fnet__wire_string_at(begin + l->texts[t], begin + chain->stream.len);
    add_module(&text, l, texts);
    add_known(&text, l, FNET_STACK_CLASS, texts[FNET_STACK_CLASS]);
    fnet__wire_text_add_ascii(&text, ".");
    add_known(&text, l, FNET_STACK_METHOD, texts[FNET_STACK_METHOD]);
    add_place(&text, l, texts[FNET_STACK_FILE]);
    fnet__wire_text_end(&text);
}
