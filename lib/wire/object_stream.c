/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Java's object serialization grammar, walked without recursion and without building objects:
 * what a Throwable with its stack trace, causes and suppressed exceptions is made of. The walk
 * gives up, and what it had found by then counts, at a proxy class, an exception or a reset inside
 * the stream, an annotated class, or where one of the limits below is passed.
 *
 * Source: Java Object Serialization Specification, 6.4 (protocol version 2); java.lang.Throwable.
 */
#include "object_stream.h"

/* A Throwable with ten causes names some 30 classes and is 40 levels deep. */
#define CLASSES_MAX 128
#define LEVELS_MAX 128
#define SUPERCLASSES_MAX 32

#define FIRST_HANDLE 0x7E0000u
#define NONE UINT16_MAX

/* A class description that was passed. */
struct class
{
    struct fnet_span name;
    const uint8_t *fields; /* where the descriptions of its fields begin */
    uint32_t handle;
    uint16_t field_count;
    uint16_t superclass; /* index, NONE above the topmost; always of a lower depth */
    uint16_t depth;      /* number of classes above this one */
    uint8_t flags;
};

/* An object or array whose parts are being read; the last level is the innermost. */
struct level {
    const uint8_t *field; /* object: description of the next field of CLASS */
    uint32_t left;        /* fields of CLASS, or elements, still to come */
    uint16_t class;       /* the class whose part is being read, topmost first; NONE: array */
    uint16_t last_class;  /* the object's own class, whose part comes last */
    bool has_annotation;  /* more contents up to an end tag follow the fields of CLASS */
};

struct field {
    uint8_t type; /* a letter as in Java's descriptors */
    struct fnet_span name;
    bool has_new_string; /* the type of an object field is spelled out, and took a handle */
};

struct walk {
    struct fnet_reader in;
    uint32_t next_handle;
    uint32_t wanted; /* handle of the string that is the message; 0: none */
    struct fnet_span message;
    uint16_t class_count;
    uint16_t level_count;
    struct class classes[CLASSES_MAX];
    struct level levels[LEVELS_MAX];
};

static bool is_text(struct fnet_span span, const char *text)
{
    return span.len == strlen(text) && memcmp(span.ptr, text, span.len) == 0;
}

static struct fnet_span get_utf(struct fnet_reader *r)
{
    return fnet_get_span(r, fnet_get_u16(r));
}

static struct fnet_span get_long_utf(struct fnet_reader *r)
{
    uint64_t len = fnet_get_u64(r);

    return fnet_get_span(r, len > SIZE_MAX ? SIZE_MAX : (size_t)len);
}

/* ---- class descriptions ------------------------------------------------------------------ */

static struct field get_field(struct fnet_reader *r)
{
    struct field f = {.type = fnet_get_u8(r), .name = get_utf(r)};

    if (f.type != 'L' && f.type != '[')
        return f;
    switch (fnet_get_u8(r)) {
    case FNET__JAVA_STRING:
        f.has_new_string = true;
        get_utf(r);
        break;
    case FNET__JAVA_REFERENCE: fnet_get_u32(r); break;
    default: r->failed = true;
    }
    return f;
}

/* A description behind its tag, up to that of its superclass. */
static void read_class(struct walk *w, struct class *class)
{
    class->name = get_utf(&w->in);
    fnet_get_u64(&w->in); /* serialVersionUID */
    class->handle = w->next_handle++;
    class->flags = fnet_get_u8(&w->in);
    class->field_count = fnet_get_u16(&w->in);
    class->fields = w->in.pos;
    class->superclass = NONE;
    class->depth = 0;
    for (unsigned i = 0; i < class->field_count && !w->in.failed; i++)
        w->next_handle += get_field(&w->in).has_new_string;
    if (fnet_get_u8(&w->in) != FNET__JAVA_END_BLOCK_DATA)
        w->in.failed = true;
}

/* The class with HANDLE among the first COUNT. */
static uint16_t find_class(struct walk *w, uint32_t handle, uint16_t count)
{
    for (uint16_t i = 0; i < count; i++)
        if (w->classes[i].handle == handle)
            return i;
    w->in.failed = true;
    return NONE;
}

/* Depths of the classes from FIRST on, each the subclass of the next, the last of SUPERCLASS. */
static void link_classes(struct walk *w, uint16_t first, uint16_t superclass)
{
    for (uint16_t i = w->class_count; i-- > first;) {
        w->classes[i].superclass = superclass;
        if (superclass != NONE)
            w->classes[i].depth = (uint16_t)(w->classes[superclass].depth + 1);
        if (w->classes[i].depth > SUPERCLASSES_MAX)
            w->in.failed = true;
        superclass = i;
    }
}

/*
 * A class: null, one that was described before, or a chain of descriptions from subclass to
 * superclass that ends in one of those two. Such an end lies outside the chain, so no class is
 * its own superclass.
 */
static uint16_t read_class_chain(struct walk *w)
{
    const uint16_t first = w->class_count;

    for (;;) {
        uint16_t end = NONE;
        switch (fnet_get_u8(&w->in)) {
        case FNET__JAVA_CLASS_DESC:
            if (w->class_count < CLASSES_MAX) {
                read_class(w, &w->classes[w->class_count++]);
                if (!w->in.failed)
                    continue;
            }
            break;
        case FNET__JAVA_REFERENCE:
            end = find_class(w, fnet_get_u32(&w->in), first);
            if (end == NONE)
                break;
            link_classes(w, first, end);
            return first < w->class_count ? first : end;
        case FNET__JAVA_NULL:
            link_classes(w, first, NONE);
            return first < w->class_count ? first : NONE;
        default: break;
        }
        w->in.failed = true;
        return NONE;
    }
}

/* As read_class_chain(), where null is not possible. */
static const struct class *read_known_class(struct walk *w, uint16_t *index)
{
    *index = read_class_chain(w);
    if (*index == NONE)
        w->in.failed = true;
    return w->in.failed ? NULL : &w->classes[*index];
}

/* ---- contents ---------------------------------------------------------------------------- */

static uint32_t width_of(uint8_t type)
{
    switch (type) {
    case 'B':
    case 'Z': return 1;
    case 'C':
    case 'S': return 2;
    case 'F':
    case 'I': return 4;
    case 'D':
    case 'J': return 8;
    default: return 0;
    }
}

static void push_level(struct walk *w, struct level level)
{
    if (w->level_count < LEVELS_MAX)
        w->levels[w->level_count++] = level;
    else
        w->in.failed = true;
}

/* Go on with the fields that CLASS has in the object at L. */
static void begin_class(struct walk *w, struct level *l, uint16_t index)
{
    const struct class *class = &w->classes[index];

    l->class = index;
    l->field = class->fields;
    l->left = class->field_count;
    l->has_annotation = class->flags & FNET__JAVA_WRITE_METHOD;
    if (class->flags & FNET__JAVA_EXTERNALIZABLE) {
        l->left = 0;
        l->has_annotation = true;
        if (!(class->flags & FNET__JAVA_BLOCK_DATA_MODE))
            w->in.failed = true; /* only the class itself knows where its data end */
    }
}

/* The class DEPTH levels below the topmost one in the chain above INDEX. */
static uint16_t class_at(const struct walk *w, uint16_t index, uint16_t depth)
{
    while (w->classes[index].depth > depth)
        index = w->classes[index].superclass;
    return index;
}

static void read_object(struct walk *w)
{
    uint16_t index;

    if (!read_known_class(w, &index))
        return;
    w->next_handle++;
    struct level level = {.last_class = index};
    begin_class(w, &level, class_at(w, index, 0));
    push_level(w, level);
}

static void read_array(struct walk *w)
{
    uint16_t index;
    const struct class *class = read_known_class(w, &index);

    if (!class)
        return;
    w->next_handle++;

    uint32_t elements = fnet_get_u32(&w->in);
    uint8_t type = class->name.len > 1 ? class->name.ptr[1] : 0;
    if (type == 'L' || type == '[')
        push_level(w, (struct level){.left = elements, .class = NONE});
    else if (width_of(type))
        fnet_get_span(&w->in, (size_t)elements * width_of(type));
    else
        w->in.failed = true;
}

static void note_string(struct walk *w, struct fnet_span text)
{
    if (w->next_handle == w->wanted)
        w->message = text;
    w->next_handle++;
}

/* One thing of any kind; the parts of an object or object array come with the next steps. */
static void read_content(struct walk *w)
{
    uint16_t index;

    switch (fnet_get_u8(&w->in)) {
    case FNET__JAVA_NULL: break;
    case FNET__JAVA_REFERENCE: fnet_get_u32(&w->in); break;
    case FNET__JAVA_OBJECT: read_object(w); break;
    case FNET__JAVA_ARRAY: read_array(w); break;
    case FNET__JAVA_STRING: note_string(w, get_utf(&w->in)); break;
    case FNET__JAVA_LONG_STRING: note_string(w, get_long_utf(&w->in)); break;
    case FNET__JAVA_BLOCK_DATA: fnet_get_span(&w->in, fnet_get_u8(&w->in)); break;
    case FNET__JAVA_BLOCK_DATA_LONG: fnet_get_span(&w->in, fnet_get_u32(&w->in)); break;
    case FNET__JAVA_CLASS:
        read_known_class(w, &index);
        w->next_handle++;
        break;
    case FNET__JAVA_ENUM: /* its one part is the name of the constant */
        read_known_class(w, &index);
        w->next_handle++;
        push_level(w, (struct level){.left = 1, .class = NONE});
        break;
    default: w->in.failed = true;
    }
}

/* The message stands at AT, or AT refers to an earlier string: then a second walk looks for it. */
static void note_message(struct walk *w, const uint8_t *at)
{
    struct fnet_reader r = {.pos = at, .end = w->in.pos};

    switch (fnet_get_u8(&r)) {
    case FNET__JAVA_STRING: w->message = get_utf(&r); break;
    case FNET__JAVA_LONG_STRING: w->message = get_long_utf(&r); break;
    case FNET__JAVA_REFERENCE: w->wanted = fnet_get_u32(&r); break;
    default: break;
    }
}

static void read_field(struct walk *w, struct level *l)
{
    struct fnet_reader description = {.pos = l->field, .end = w->in.end};
    struct field f = get_field(&description);
    const uint8_t *at = w->in.pos;

    l->field = description.pos;
    l->left--;
    if (width_of(f.type)) {
        fnet_get_span(&w->in, width_of(f.type));
        return;
    }

    bool is_message = l == w->levels && is_text(f.name, "detailMessage") &&
                      is_text(w->classes[l->class].name, "java.lang.Throwable");
    read_content(w);
    if (is_message && !w->in.failed)
        note_message(w, at);
}

/* The next part of the innermost level, or its end. */
static void step(struct walk *w)
{
    struct level *l = &w->levels[w->level_count - 1];

    if (l->left > 0 && l->class != NONE) {
        read_field(w, l);
    } else if (l->left > 0) {
        l->left--;
        read_content(w);
    } else if (l->class == NONE) {
        w->level_count--;
    } else if (l->has_annotation) {
        if (fnet_reader_left(&w->in) > 0 && *w->in.pos == FNET__JAVA_END_BLOCK_DATA) {
            w->in.pos++;
            l->has_annotation = false;
        } else {
            read_content(w);
        }
    } else if (l->class == l->last_class) {
        w->level_count--;
    } else {
        begin_class(w, l, class_at(w, l->last_class, w->classes[l->class].depth + 1));
    }
}

static void walk(struct walk *w, struct fnet_span stream, uint32_t wanted)
{
    w->in = fnet_reader_of(stream);
    w->next_handle = FIRST_HANDLE;
    w->wanted = wanted;
    w->message = fnet_span_of(NULL, 0);
    w->class_count = 0;
    w->level_count = 0;
    if (fnet_get_u16(&w->in) != FNET__JAVA_MAGIC || fnet_get_u16(&w->in) != FNET__JAVA_VERSION ||
        fnet_get_u8(&w->in) != FNET__JAVA_OBJECT)
        return;
    read_object(w);
    while (w->level_count > 0 && !w->in.failed)
        step(w);
}

enum fnet_err fnet__wire_object_read(struct fnet_span stream, struct fnet__wire_object *out)
{
    struct walk w;

    walk(&w, stream, 0);
    if (w.class_count == 0 || w.classes[0].name.len == 0)
        return FNET_BAD_VALUE;

    struct fnet__wire_object found = {.class_name = w.classes[0].name,
                                      .message = w.message,
                                      .bytes = w.in.failed ? 0 : (size_t)(w.in.pos - stream.ptr)};
    if (w.wanted) {
        walk(&w, stream, w.wanted);
        found.message = w.message;
    }
    *out = found;
    return FNET_OK;
}
