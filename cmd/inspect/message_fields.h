/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect: a message as a list of named fields, for every printer. The names are the JSON keys of
 * fnet-inspect(1), in their order there.
 */
#ifndef INSPECT_MESSAGE_FIELDS_H
#define INSPECT_MESSAGE_FIELDS_H

#include "inspect/conversation.h"

/** Most fields of a message, the ends of objects counted: of an error with all its causes. */
#define FIELDS_MAX (8 + 6 * FNET_THROWABLE_CHAIN_MAX)

enum field_kind {
    FIELD_NUMBER,  /**< NUMBER */
    FIELD_FLAG,    /**< NUMBER, 0 or 1 */
    FIELD_TEXT,    /**< BYTES, which need not be printable */
    FIELD_BYTES,   /**< BYTES, no text: shown as hex */
    FIELD_NUMBERS, /**< BYTES, an int32 each */
    FIELD_OBJECT,  /**< the fields up to FIELD_END are its; the first, a text, says what it is */
    FIELD_STACK,   /**< lines of throwable NUMBER of the message's error; not for a line of text */
    FIELD_END,     /**< no key, no value */
};

struct field {
    const char *key;
    const char *words; /**< what a line of text has instead of the key and what is around it */
    enum field_kind kind;
    int64_t number;
    struct fnet_span bytes; /**< borrowed from the message or the list */
};

/** All fields of a message behind its type. */
struct message_fields {
    struct field fields[FIELDS_MAX];
    size_t count;
    const struct fnet_dialect *dialect; /**< what it does not carry is no field */
    const struct fnet_throwable_chain *error;
    struct fnet_throwable thrown[FNET_THROWABLE_CHAIN_MAX]; /**< the texts of ERROR */
    char receiver[FNET_ID_TEXT_BYTES];
    char partition[FNET_PARTITION_ID_TEXT_BYTES];
};

/** List the fields of M, of several events none. OUT borrows from M. */
void message_fields_list(const struct inspected *m, struct message_fields *out);

/** List EVENT alone, an object KEY; NULL: without a key. OUT borrows from EVENT. */
void message_fields_of_event(const struct fnet_dialect *dialect, const char *key,
                             const struct fnet_event *event, struct message_fields *out);

/**
 * Write the text of ID, as far as DIALECT carries it, to TEXT: a string of the partition and,
 * behind its end, the returned one of its producer.
 */
const char *message_partition_split(const struct fnet_dialect *dialect,
                                    const struct fnet_partition_id *id,
                                    char text[static FNET_PARTITION_ID_TEXT_BYTES]);

/** Is M a data buffer, one that holds records? */
bool message_is_data(const struct inspected *m);

/** What an -x dump shows of M: a payload, an event of a request, a throwable; may be empty. */
struct fnet_span message_payload(const struct inspected *m);

#endif
