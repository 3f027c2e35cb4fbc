/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An error of the producer, its root cause once.
 *
 * Source: Flink ProducerFailedException, SerializedThrowable: their messages, 1.5 to 2.3.
 */
#include "thrown.h"

#include <stdio.h>

#define CAUSED_BY ", caused by "
#define CUT "..."

/* "CLASS: CLASS: words" and "CLASS: CLASS" without the first CLASS, however often. */
static const char *without_repetition(const char *text)
{
    for (;;) {
        const char *colon = strstr(text, ": ");
        if (!colon)
            return text;
        const char *rest = colon + 2;
        const size_t len = (size_t)(colon - text);
        if (strncmp(rest, text, len) != 0 || (rest[len] != '\0' && rest[len] != ':'))
            return text;
        text = rest;
    }
}

/* Is TEXT "CLASS: words" or "CLASS"? */
static bool names_class(const char *text, const char *class)
{
    const size_t len = strlen(class);

    return strncmp(text, class, len) == 0 && (text[len] == '\0' || text[len] == ':');
}

static bool ends_with(const char *text, const char *end)
{
    const size_t len = strlen(text);
    const size_t end_len = strlen(end);

    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

/* "CLASS: MESSAGE", or what there is of it, without the class where the message begins with it. */
static void name_cause(const struct fnet_throwable *cause, char *text, size_t size)
{
    const char *class = cause->original_class[0] ? cause->original_class : cause->class_name;
    const char *message = without_repetition(cause->message);

    if (names_class(message, class))
        snprintf(text, size, "%s", message);
    else
        snprintf(text, size, "%s%s%s", class, message[0] ? ": " : "", message);
}

/* How many bytes of TEXT to print in ROOM, CUT to be added if it is not all of them. */
static int fitting(const char *text, size_t room)
{
    size_t len = strlen(text);

    if (len > room) {
        len = room - strlen(CUT);
        while (len > 0 && ((uint8_t)text[len] & 0xC0) == 0x80) /* whole characters only */
            len--;
    }
    return (int)len;
}

static const char *cut_mark(const char *text, int fits)
{
    return text[fits] ? CUT : "";
}

/* Each of the two has half of the room at least. */
static void join(const char *text, const char *cause, char out[static FNET__SESSION_TEXT_BYTES])
{
    const char *between = cause[0] ? CAUSED_BY : "";
    const size_t room = FNET__SESSION_TEXT_BYTES - 1 - strlen(between);
    const size_t cause_len = strlen(cause);
    const int first = fitting(text, cause_len < room / 2 ? room - cause_len : room / 2);
    const int second = fitting(cause, room - (size_t)first - strlen(cut_mark(text, first)));

    snprintf(out, FNET__SESSION_TEXT_BYTES, "%.*s%s%s%.*s%s", first, text, cut_mark(text, first),
             between, second, cause, cut_mark(cause, second));
}

enum fnet_err fnet__session_thrown_read(struct fnet_span stream, struct fnet__session_thrown *out)
{
    struct fnet_throwable_chain chain;
    struct fnet_throwable thrown;
    struct fnet_throwable root;
    char cause[2 * FNET_THROWABLE_TEXT_BYTES] = "";
    enum fnet_err err = fnet_throwable_chain_decode(stream, &chain);

    if (err != FNET_OK)
        return err;
    fnet_throwable_chain_get(&chain, 0, &thrown);
    fnet_throwable_chain_get(&chain, chain.count - 1, &root);

    const char *text = thrown.message[0] ? without_repetition(thrown.message) : thrown.class_name;
    if (chain.count > 1)
        name_cause(&root, cause, sizeof cause);
    if (strstr(text, cause) || (root.message[0] && ends_with(text, root.message)))
        cause[0] = '\0';

    out->is_not_found = strcmp(thrown.class_name, FNET_PARTITION_NOT_FOUND_CLASS) == 0;
    join(text, cause, out->text);
    return FNET_OK;
}
