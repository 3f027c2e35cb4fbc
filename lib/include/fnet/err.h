/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base: what can go wrong, in families, and the two attributes every public function carries.
 */
#ifndef FNET_ERR_H
#define FNET_ERR_H

/** Part of the library's binary interface; everything else is hidden. */
#define FNET_API __attribute__((visibility("default")))

/** The returned enum fnet_err must be looked at. */
#define FNET_CHECKED __attribute__((warn_unused_result))

/**
 * What a function returns. Values come back through the last parameters and are untouched unless
 * FNET_OK.
 *
 * Families with gaps: flow (-1 ...) is no failure and changes nothing; caller (-10 ...) is a
 * mistake of the calling code or its user and changes nothing; peer (-30 ...), system (-60 ...)
 * kill the object that returned them: afterwards only its free and error getters are legal.
 * FNET_NO_PARTITION and FNET_REMOTE concern one channel; a session that meets them lives on.
 */
enum fnet_err {
    FNET_OK = 0,

    FNET_AGAIN = -1,          /**< nothing to give or no room now; a bell rings when that changes */
    FNET_EOF = -2,            /**< nothing will ever come again */
    FNET_INCOMPRESSIBLE = -3, /**< compressed it would be no smaller */

    FNET_INVALID = -10,     /**< an argument has no meaning */
    FNET_STATE = -11,       /**< not legal now */
    FNET_RANGE = -12,       /**< a number or a size is out of its range */
    FNET_UNSUPPORTED = -13, /**< built without what this needs */

    FNET_TRUNCATED = -30,        /**< the bytes end in the middle of something */
    FNET_BAD_MAGIC = -31,        /**< a frame does not carry the magic number */
    FNET_BAD_LENGTH = -32,       /**< a length is impossible or above its named limit */
    FNET_BAD_KIND = -33,         /**< an unknown or misplaced message, event or element */
    FNET_BAD_SEQUENCE = -34,     /**< a buffer is missing, repeated or out of order */
    FNET_BAD_VALUE = -35,        /**< a field holds a value the protocol rules out */
    FNET_NO_CREDIT = -36,        /**< a data buffer came that no credit paid for */
    FNET_UNKNOWN_RECEIVER = -37, /**< a message names a channel that does not exist */
    FNET_NO_PARTITION = -40,     /**< the peer does not have the partition or subpartition */
    FNET_REMOTE = -41,           /**< the peer reported an error of its own */
    FNET_LOST = -42,             /**< the connection ended before the end of partition */

    FNET_NOMEM = -60,  /**< memory, or the memory allowed, is used up */
    FNET_SYSTEM = -61, /**< a system call failed; errno is kept in the object */
};

/** The families of enum fnet_err. */
enum fnet_err_class {
    FNET_CLASS_OK,
    FNET_CLASS_FLOW,
    FNET_CLASS_CALLER,
    FNET_CLASS_PEER,
    FNET_CLASS_SYSTEM,
};

/** The family of ERR. */
FNET_API enum fnet_err_class fnet_err_class(enum fnet_err err);

/** ERR in words, static, lower case, without a full stop; "unknown error" for other numbers. */
FNET_API const char *fnet_strerror(enum fnet_err err);

#endif
