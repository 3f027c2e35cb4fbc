/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire, private: a walk over one serialized Java object.
 */
#ifndef FNET_WIRE_OBJECT_STREAM_H
#define FNET_WIRE_OBJECT_STREAM_H

#include "fnet/bytes.h"
#include "fnet/err.h"

#define FNET__JAVA_MAGIC 0xACEDu
#define FNET__JAVA_VERSION 5u

/* Tags of the grammar. */
enum fnet__java_tag {
    FNET__JAVA_NULL = 0x70,
    FNET__JAVA_REFERENCE = 0x71,
    FNET__JAVA_CLASS_DESC = 0x72,
    FNET__JAVA_OBJECT = 0x73,
    FNET__JAVA_STRING = 0x74,
    FNET__JAVA_ARRAY = 0x75,
    FNET__JAVA_CLASS = 0x76,
    FNET__JAVA_BLOCK_DATA = 0x77,
    FNET__JAVA_END_BLOCK_DATA = 0x78,
    FNET__JAVA_BLOCK_DATA_LONG = 0x7A,
    FNET__JAVA_LONG_STRING = 0x7C,
    FNET__JAVA_ENUM = 0x7E,
};

/* Flags of a class. */
enum {
    FNET__JAVA_WRITE_METHOD = 0x01,
    FNET__JAVA_SERIALIZABLE = 0x02,
    FNET__JAVA_EXTERNALIZABLE = 0x04,
    FNET__JAVA_BLOCK_DATA_MODE = 0x08,
};

/* A part of an object or array, or the whole object, as the walk passes it. */
struct fnet__wire_part {
    uint8_t tag;            /* an enum fnet__java_tag, or the letter of a number's type */
    uint8_t role;           /* that the listener gave to what it is a part of; 0 of the whole */
    unsigned depth;         /* how many objects and arrays it stands in */
    uint32_t handle;        /* its own; of a reference, what it refers to */
    const uint8_t *at;      /* where it begins: at its tag, if it is no number */
    struct fnet_span bytes; /* of a string or number; of an object or array, the class's name */
    struct fnet_span
        class_name;         /* whose field it is; empty: an element or annotation, or the whole */
    struct fnet_span field; /* the name of the field */
};

/* Who wants to know what the walk passes: objects, arrays, strings, references, numeric fields. */
struct fnet__wire_listener {
    /* Of an object or array the role is returned with which its parts are told. */
    uint8_t (*part)(void *arg, const struct fnet__wire_part *part);
    void *arg;
};

/*
 * Find the name of the class of the object that begins STREAM.
 *
 * Errors: FNET_BAD_VALUE  STREAM does not begin with an object, or the name is empty.
 *         FNET_TRUNCATED  it ends before that is clear.
 */
FNET_CHECKED enum fnet_err fnet__wire_object_class(struct fnet_span stream,
                                                   struct fnet_span *class_name);

/* The string that begins at AT, its tag; empty if there is none. */
struct fnet_span fnet__wire_string_at(const uint8_t *at, const uint8_t *end);

/*
 * Walk over the object that begins STREAM, telling LISTENER (NULL: nobody) of its parts.
 *
 * @param bytes  stream bytes of the object.
 *
 * Errors: FNET_TRUNCATED  STREAM ends before the object does.
 *         FNET_BAD_VALUE  it is no object, or the walk gives up. What was told counts.
 * Cost:   O(length of STREAM), fixed memory.
 */
FNET_CHECKED enum fnet_err fnet__wire_object_walk(struct fnet_span stream,
                                                  const struct fnet__wire_listener *listener,
                                                  size_t *bytes);

#endif
