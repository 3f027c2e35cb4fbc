/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire, private: a walk over one serialized Java object that is a Throwable.
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

/** The object at the head of a stream. Spans borrow from the stream and are modified UTF-8. */
struct fnet__wire_object {
    struct fnet_span class_name; /**< never empty */
    struct fnet_span message;    /**< its Throwable.detailMessage; empty: null, or not found */
    size_t bytes;                /**< stream bytes of the object; 0: its end was not found */
};

/**
 * Walk over the object that begins STREAM, as far as it goes.
 *
 * Errors: FNET_BAD_VALUE  STREAM does not begin with an object and the name of its class.
 * Cost:   O(length of STREAM), fixed memory.
 */
FNET_CHECKED enum fnet_err fnet__wire_object_read(struct fnet_span stream,
                                                  struct fnet__wire_object *out);

#endif
