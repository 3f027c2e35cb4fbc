/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A throwable, its causes and their stack lines, collected from a walk over their stream.
 *
 * A throwable is written with its cause inside, in front of its own message and stack; so throwable
 * number N of the chain stands at depth N, and is known before those that it caused.
 *
 * Source: java.lang.Throwable, StackTraceElement; Flink SerializedThrowable.
 */
#include "fnet/throwable.h"

#include <stdlib.h>

#include "object_stream.h"

/* Flink's error of a failed producer with three causes holds some 150 strings. */
#define STRINGS_MAX 1024

/* What the parts of an object or array are. */
enum role {
    ROLE_NONE,
    ROLE_THROWABLE, /* fields of one of the chain */
    ROLE_STACK,     /* elements of its stack trace */
    ROLE_LINE,      /* fields of one of these */
};

/* A string that was passed. */
struct string {
    uint32_t handle;
    uint32_t at; /* offset in the stream */
};

/* Where to put a string that so far is only known by its handle. */
struct wanted {
    uint32_t handle;
    struct fnet_span *text;
};

/* What of a throwable that is kept is known by its handle. */
struct handles {
    uint32_t message; /* 0: it is known, or there is none */
    uint32_t original_class;
};

struct collection {
    struct fnet_throwable_chain *chain;
    size_t seen; /* throwables of the chain, kept or not */
    struct fnet_stack_line *line;
    struct handles handles[FNET_THROWABLE_CHAIN_MAX];
    size_t string_count;
    struct string strings[STRINGS_MAX]; /* of ascending handles */
};

static bool is_text(struct fnet_span span, const char *text)
{
    return span.len == strlen(text) && memcmp(span.ptr, text, span.len) == 0;
}

static bool ends_with(struct fnet_span span, const char *end)
{
    size_t len = strlen(end);

    return span.len >= len && memcmp(span.ptr + span.len - len, end, len) == 0;
}

/* ---- strings ----------------------------------------------------------------------------- */

static uint32_t offset_of(const struct collection *c, const uint8_t *at)
{
    return (uint32_t)(at - c->chain->stream.ptr);
}

static void add_string(struct collection *c, const struct fnet__wire_part *part)
{
    if (c->string_count < STRINGS_MAX)
        c->strings[c->string_count++] =
            (struct string){.handle = part->handle, .at = offset_of(c, part->at)};
}

static int compare_handles(const void *a, const void *b)
{
    uint32_t x = ((const struct string *)a)->handle;
    uint32_t y = ((const struct string *)b)->handle;

    return (x > y) - (x < y);
}

/* Offset of the string that PART is, or refers to; 0: neither, or not known. */
static uint32_t string_of(const struct collection *c, const struct fnet__wire_part *part)
{
    const struct string key = {.handle = part->handle};

    if (part->tag == FNET__JAVA_STRING)
        return offset_of(c, part->at);
    if (part->tag != FNET__JAVA_REFERENCE)
        return 0;
    const struct string *found =
        bsearch(&key, c->strings, c->string_count, sizeof key, compare_handles);
    return found ? found->at : 0;
}

/* ---- stack lines ------------------------------------------------------------------------- */

static struct fnet_stack_line line_of_handle(const struct fnet_throwable_chain *chain,
                                             uint32_t handle)
{
    for (size_t i = 0; i < chain->count; i++)
        for (uint32_t n = 0; n < chain->throwables[i].line_count; n++)
            if (chain->throwables[i].lines[n].handle == handle)
                return chain->throwables[i].lines[n];
    return (struct fnet_stack_line){.number = -1};
}

/* An element may be that of another throwable, where one took over the stack of its cause. */
static enum role add_line(struct collection *c, struct fnet_chained_throwable *t,
                          const struct fnet__wire_part *part)
{
    struct fnet_stack_line line = {.number = -1};

    if (part->tag == FNET__JAVA_REFERENCE)
        line = line_of_handle(c->chain, part->handle);
    else if (part->tag != FNET__JAVA_OBJECT)
        return ROLE_NONE;
    if (t->line_count == FNET_THROWABLE_STACK_MAX) {
        t->lines_more++;
        return ROLE_NONE;
    }
    line.handle = part->handle;
    c->line = &t->lines[t->line_count++];
    *c->line = line;
    return part->tag == FNET__JAVA_OBJECT ? ROLE_LINE : ROLE_NONE;
}

static void add_line_field(struct collection *c, const struct fnet__wire_part *part)
{
    static const char *const texts[FNET_STACK_TEXTS] = {
        [FNET_STACK_LOADER] = "classLoaderName",
        [FNET_STACK_MODULE] = "moduleName",
        [FNET_STACK_MODULE_VERSION] = "moduleVersion",
        [FNET_STACK_CLASS] = "declaringClass",
        [FNET_STACK_METHOD] = "methodName",
        [FNET_STACK_FILE] = "fileName",
    };

    if (!is_text(part->class_name, "java.lang.StackTraceElement"))
        return;
    if (part->tag == 'I' && is_text(part->field, "lineNumber"))
        c->line->number = (int32_t)fnet_load_be32(part->bytes.ptr);
    else if (part->tag == 'B' && is_text(part->field, "format"))
        c->line->format = part->bytes.ptr[0];
    for (size_t i = 0; i < FNET_STACK_TEXTS; i++)
        if (is_text(part->field, texts[i]))
            c->line->texts[i] = string_of(c, part);
}

/* ---- throwables -------------------------------------------------------------------------- */

/*
 * Where number N of the chain is kept, NULL: nowhere. The last place is that of the innermost one
 * so far: the root cause in the end.
 */
static struct fnet_chained_throwable *kept(const struct collection *c, size_t n)
{
    if (n < FNET_THROWABLE_CHAIN_MAX - 1)
        return &c->chain->throwables[n];
    return n + 1 == c->seen ? &c->chain->throwables[FNET_THROWABLE_CHAIN_MAX - 1] : NULL;
}

static struct handles *handles_of(struct collection *c, const struct fnet_chained_throwable *t)
{
    return &c->handles[t - c->chain->throwables];
}

/* One more at the end of the chain, whose class is named CLASS_NAME. */
static void add_throwable(struct collection *c, struct fnet_span class_name)
{
    struct fnet_throwable_chain *chain = c->chain;

    c->seen++;
    if (chain->count < FNET_THROWABLE_CHAIN_MAX)
        chain->count++;
    else
        chain->left_out++;

    struct fnet_chained_throwable *t = kept(c, c->seen - 1);
    t->class_name = class_name;
    t->message = t->original_class = fnet_span_of(NULL, 0);
    t->line_count = t->lines_more = 0;
    *handles_of(c, t) = (struct handles){.message = 0};
}

/* A reference leads back to the throwable itself or one that it caused: there is no cause. */
static enum role add_cause(struct collection *c, const struct fnet__wire_part *part)
{
    if (part->tag != FNET__JAVA_OBJECT || part->depth != c->seen)
        return ROLE_NONE;
    add_throwable(c, part->bytes);
    return ROLE_THROWABLE;
}

static void set_text(const struct fnet__wire_part *part, struct fnet_span *text, uint32_t *handle)
{
    if (part->tag == FNET__JAVA_STRING)
        *text = part->bytes;
    else if (part->tag == FNET__JAVA_REFERENCE)
        *handle = part->handle;
}

static enum role add_field(struct collection *c, const struct fnet__wire_part *part)
{
    struct fnet_chained_throwable *t = kept(c, part->depth - 1);

    if (is_text(part->class_name, "java.lang.Throwable")) {
        if (is_text(part->field, "cause"))
            return add_cause(c, part);
        if (t && is_text(part->field, "detailMessage"))
            set_text(part, &t->message, &handles_of(c, t)->message);
        /* A reference is to an array that Java's throwables without a stack share. */
        if (t && is_text(part->field, "stackTrace") && part->tag == FNET__JAVA_ARRAY)
            return ROLE_STACK;
    } else if (t && is_text(part->field, "originalErrorClassName") &&
               ends_with(part->class_name, ".SerializedThrowable")) {
        set_text(part, &t->original_class, &handles_of(c, t)->original_class);
    }
    return ROLE_NONE;
}

static uint8_t collect(void *arg, const struct fnet__wire_part *part)
{
    struct collection *c = arg;

    if (part->tag == FNET__JAVA_STRING)
        add_string(c, part);
    switch ((enum role)part->role) {
    case ROLE_NONE: return part->depth == 0 ? ROLE_THROWABLE : ROLE_NONE;
    case ROLE_THROWABLE: return (uint8_t)add_field(c, part);
    case ROLE_STACK: {
        struct fnet_chained_throwable *t = kept(c, part->depth - 2);
        return t ? (uint8_t)add_line(c, t, part) : ROLE_NONE;
    }
    case ROLE_LINE: add_line_field(c, part); break;
    }
    return ROLE_NONE;
}

/* ---- reading ----------------------------------------------------------------------------- */

struct search {
    size_t count;
    struct wanted wanted[2 * FNET_THROWABLE_CHAIN_MAX];
};

static uint8_t find_strings(void *arg, const struct fnet__wire_part *part)
{
    const struct search *s = arg;

    for (size_t i = 0; part->tag == FNET__JAVA_STRING && i < s->count; i++)
        if (s->wanted[i].handle == part->handle)
            *s->wanted[i].text = part->bytes;
    return ROLE_NONE;
}

static void want(struct search *s, uint32_t handle, struct fnet_span *text)
{
    if (handle != 0)
        s->wanted[s->count++] = (struct wanted){.handle = handle, .text = text};
}

/* Texts that are references may lie beyond the table of strings: walk once more. */
static void find_texts(struct collection *c)
{
    struct search search = {.count = 0};
    const struct fnet__wire_listener listener = {.part = find_strings, .arg = &search};
    size_t bytes;

    for (size_t i = 0; i < c->chain->count; i++) {
        want(&search, c->handles[i].message, &c->chain->throwables[i].message);
        want(&search, c->handles[i].original_class, &c->chain->throwables[i].original_class);
    }
    if (search.count > 0)
        (void)!fnet__wire_object_walk(c->chain->stream, &listener, &bytes);
}

/* What Java writes for a throwable that was made without a stack trace: one line of nothing. */
static void drop_marks(struct fnet_throwable_chain *chain)
{
    for (size_t i = 0; i < chain->count; i++)
        if (chain->throwables[i].line_count == 1 &&
            chain->throwables[i].lines[0].number == INT32_MIN)
            chain->throwables[i].line_count = 0;
}

enum fnet_err fnet_throwable_chain_decode(struct fnet_span stream, struct fnet_throwable_chain *out)
{
    struct collection c = {.chain = out};
    const struct fnet__wire_listener listener = {.part = collect, .arg = &c};
    struct fnet_span class_name;
    size_t bytes;
    enum fnet_err err = fnet__wire_object_class(stream, &class_name);

    if (err != FNET_OK)
        return err;
    if (stream.len > UINT32_MAX) /* offsets have 32 bits; no frame comes near */
        stream.len = UINT32_MAX;
    out->stream = stream;
    out->count = out->left_out = 0;
    add_throwable(&c, class_name);
    out->end = fnet__wire_object_walk(stream, &listener, &bytes);
    find_texts(&c);
    drop_marks(out);
    return FNET_OK;
}
