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
    uint8_t role;         /* from the listener */
};

struct field {
    uint8_t type; /* a letter as in Java's descriptors; 0: none of them */
    struct fnet_span name;
    bool has_new_string; /* the type of an object field is spelled out, and took a handle */
};

struct walk {
    struct fnet_reader in;
    bool gave_up; /* IN failed although bytes were left */
    uint32_t next_handle;
    const struct fnet__wire_listener *listener;
    struct fnet__wire_part part; /* what is read just now, as far as it is known */
    uint16_t class_count;
    uint16_t level_count;
    struct class classes[CLASSES_MAX];
    struct level levels[LEVELS_MAX];
};

/* What the stream has here cannot be followed. */
static void give_up(struct walk *w)
{
    w->gave_up |= !w->in.failed;
    w->in.failed = true;
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

/* Bytes of a number of TYPE; 0: it is none. */
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

static struct field get_field(struct fnet_reader *r)
{
    struct field f = {.type = fnet_get_u8(r), .name = get_utf(r)};

    if (width_of(f.type))
        return f;
    if (f.type != 'L' && f.type != '[') {
        f.type = 0;
        return f;
    }
    switch (fnet_get_u8(r)) {
    case FNET__JAVA_STRING:
        f.has_new_string = true;
        get_utf(r);
        break;
    case FNET__JAVA_REFERENCE: fnet_get_u32(r); break;
    default: f.type = 0;
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
    for (unsigned i = 0; i < class->field_count && !w->in.failed; i++) {
        struct field f = get_field(&w->in);
        w->next_handle += f.has_new_string;
        if (f.type == 0)
            give_up(w);
    }
    if (fnet_get_u8(&w->in) != FNET__JAVA_END_BLOCK_DATA)
        give_up(w);
}

/* The class with HANDLE among the first COUNT. */
static uint16_t find_class(struct walk *w, uint32_t handle, uint16_t count)
{
    for (uint16_t i = 0; i < count; i++)
        if (w->classes[i].handle == handle)
            return i;
    give_up(w);
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
            give_up(w);
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
        give_up(w);
        return NONE;
    }
}

/* As read_class_chain(), where null is not possible. */
static const struct class *read_known_class(struct walk *w, uint16_t *index)
{
    *index = read_class_chain(w);
    if (*index == NONE)
        give_up(w);
    return w->in.failed ? NULL : &w->classes[*index];
}

/* ---- contents ---------------------------------------------------------------------------- */

/* Say what was read; its role is returned. */
static uint8_t tell(struct walk *w, uint8_t tag, uint32_t handle, struct fnet_span bytes)
{
    if (!w->listener || w->in.failed)
        return 0;
    w->part.tag = tag;
    w->part.handle = handle;
    w->part.bytes = bytes;
    return w->listener->part(w->listener->arg, &w->part);
}

static void push_level(struct walk *w, struct level level)
{
    if (w->level_count < LEVELS_MAX)
        w->levels[w->level_count++] = level;
    else
        give_up(w);
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
            give_up(w); /* only the class itself knows where its data end */
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
    const struct class *class = read_known_class(w, &index);

    if (!class)
        return;
    struct level level = {.last_class = index};
    level.role = tell(w, FNET__JAVA_OBJECT, w->next_handle++, class->name);
    begin_class(w, &level, class_at(w, index, 0));
    push_level(w, level);
}

static void read_array(struct walk *w)
{
    uint16_t index;
    const struct class *class = read_known_class(w, &index);

    if (!class)
        return;

    uint8_t role = tell(w, FNET__JAVA_ARRAY, w->next_handle++, class->name);
    uint32_t elements = fnet_get_u32(&w->in);
    uint8_t type = class->name.len > 1 ? class->name.ptr[1] : 0;
    if (type == 'L' || type == '[')
        push_level(w, (struct level){.left = elements, .class = NONE, .role = role});
    else if (width_of(type))
        fnet_get_span(&w->in, (size_t)elements * width_of(type));
    else
        give_up(w);
}

static void read_string(struct walk *w, struct fnet_span text)
{
    tell(w, FNET__JAVA_STRING, w->next_handle++, text);
}

/* One thing of any kind; the parts of an object or object array come with the next steps. */
static void read_content(struct walk *w)
{
    uint16_t index;

    w->part.at = w->in.pos;
    switch (fnet_get_u8(&w->in)) {
    case FNET__JAVA_NULL: break;
    case FNET__JAVA_REFERENCE:
        tell(w, FNET__JAVA_REFERENCE, fnet_get_u32(&w->in), fnet_span_of(NULL, 0));
        break;
    case FNET__JAVA_OBJECT: read_object(w); break;
    case FNET__JAVA_ARRAY: read_array(w); break;
    case FNET__JAVA_STRING: read_string(w, get_utf(&w->in)); break;
    case FNET__JAVA_LONG_STRING: read_string(w, get_long_utf(&w->in)); break;
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
    default: give_up(w);
    }
}

static void read_field(struct walk *w, struct level *l)
{
    struct fnet_reader description = {.pos = l->field, .end = w->in.end};
    struct field f = get_field(&description);

    l->field = description.pos;
    l->left--;
    w->part.class_name = w->classes[l->class].name;
    w->part.field = f.name;
    if (width_of(f.type)) {
        w->part.at = w->in.pos;
        tell(w, f.type, 0, fnet_get_span(&w->in, width_of(f.type)));
    } else {
        read_content(w);
    }
}

/* The next part of the innermost level, or its end. */
static void step(struct walk *w)
{
    struct level *l = &w->levels[w->level_count - 1];

    w->part = (struct fnet__wire_part){.role = l->role, .depth = w->level_count};
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

/* Pass the head of the stream, up to and with the tag of its object. */
static bool is_object(struct fnet_reader *r)
{
    return fnet_get_u16(r) == FNET__JAVA_MAGIC && fnet_get_u16(r) == FNET__JAVA_VERSION &&
           fnet_get_u8(r) == FNET__JAVA_OBJECT;
}

enum fnet_err fnet__wire_object_class(struct fnet_span stream, struct fnet_span *class_name)
{
    struct fnet_reader r = fnet_reader_of(stream);

    if (!is_object(&r) || fnet_get_u8(&r) != FNET__JAVA_CLASS_DESC)
        return r.failed ? FNET_TRUNCATED : FNET_BAD_VALUE;
    struct fnet_span name = get_utf(&r);
    if (name.len == 0)
        return r.failed ? FNET_TRUNCATED : FNET_BAD_VALUE;
    *class_name = name;
    return FNET_OK;
}

struct fnet_span fnet__wire_string_at(const uint8_t *at, const uint8_t *end)
{
    struct fnet_reader r = {.pos = at, .end = end};

    switch (fnet_get_u8(&r)) {
    case FNET__JAVA_STRING: return get_utf(&r);
    case FNET__JAVA_LONG_STRING: return get_long_utf(&r);
    default: return fnet_span_of(at, 0);
    }
}

enum fnet_err fnet__wire_object_walk(struct fnet_span stream,
                                     const struct fnet__wire_listener *listener, size_t *bytes)
{
    struct walk w;

    w.in = fnet_reader_of(stream);
    w.gave_up = false;
    w.next_handle = FIRST_HANDLE;
    w.listener = listener;
    w.part = (struct fnet__wire_part){.at = stream.ptr};
    w.class_count = 0;
    w.level_count = 0;
    if (is_object(&w.in))
        read_object(&w);
    else
        give_up(&w);
    while (w.level_count > 0 && !w.in.failed)
        step(&w);
    if (w.in.failed)
        return w.gave_up ? FNET_BAD_VALUE : FNET_TRUNCATED;
    *bytes = (size_t)(w.in.pos - stream.ptr);
    return FNET_OK;
}
