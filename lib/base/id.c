/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identifiers: text and wire forms, ids from names.
 *
 * Source: Flink AbstractID, ExecutionAttemptID.toString, ResultPartitionID.toString (1.16+).
 */
#include "fnet/id.h"

#include <inttypes.h>
#include <stdio.h>

#include <sodium.h>

bool fnet_id_is_equal(const struct fnet_id *a, const struct fnet_id *b)
{
    return memcmp(a->bytes, b->bytes, FNET_ID_BYTES) == 0;
}

void fnet_id_random(struct fnet_id *id)
{
    randombytes_buf(id->bytes, sizeof id->bytes);
}

void fnet_id_format(const struct fnet_id *id, char text[static FNET_ID_TEXT_BYTES])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < FNET_ID_BYTES; i++) {
        text[2 * i] = digits[id->bytes[i] >> 4];
        text[2 * i + 1] = digits[id->bytes[i] & 15];
    }
    text[2 * FNET_ID_BYTES] = '\0';
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* A text cursor in the manner of struct fnet_reader: a failed scan makes all later ones fail. */
struct scan {
    const char *at;
    bool failed;
};

static void scan_id(struct scan *s, struct fnet_id *id)
{
    for (size_t i = 0; i < FNET_ID_BYTES && !s->failed; i++) {
        int high = hex_value(s->at[0]);
        int low = high < 0 ? -1 : hex_value(s->at[1]);
        if (low < 0) {
            s->failed = true;
            return;
        }
        id->bytes[i] = (uint8_t)(high << 4 | low);
        s->at += 2;
    }
}

static void scan_char(struct scan *s, char c)
{
    if (s->failed || *s->at != c)
        s->failed = true;
    else
        s->at++;
}

/* Digits only: what Flink prints is an index, never negative and never padded. */
static void scan_index(struct scan *s, int32_t *value)
{
    int64_t v = 0;
    const char *from = s->at;

    while (!s->failed && *s->at >= '0' && *s->at <= '9' && v <= INT32_MAX)
        v = v * 10 + (*s->at++ - '0');
    if (s->at == from || v > INT32_MAX || (*from == '0' && s->at - from > 1))
        s->failed = true;
    else
        *value = (int32_t)v;
}

enum fnet_err fnet_id_parse(const char *text, struct fnet_id *id)
{
    struct scan s = {.at = text};
    struct fnet_id parsed;

    scan_id(&s, &parsed);
    scan_char(&s, '\0');
    if (s.failed)
        return FNET_INVALID;
    *id = parsed;
    return FNET_OK;
}

bool fnet_partition_id_is_equal(const struct fnet_partition_id *a,
                                const struct fnet_partition_id *b)
{
    return fnet_id_is_equal(&a->data_set, &b->data_set) && a->number == b->number &&
           fnet_id_is_equal(&a->graph, &b->graph) && fnet_id_is_equal(&a->vertex, &b->vertex) &&
           a->subtask == b->subtask && a->attempt == b->attempt;
}

static bool is_name(const char *name, size_t len)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz0123456789._-";

    return len > 0 && len <= FNET_NAME_MAX_BYTES && strspn(name, allowed) == len;
}

static void derive(struct fnet_id *id, const char *name, size_t len, const char *role)
{
    static const unsigned char no_salt[crypto_generichash_blake2b_SALTBYTES];
    unsigned char personal[crypto_generichash_blake2b_PERSONALBYTES] = {0};

    memcpy(personal, role, strlen(role));
    crypto_generichash_blake2b_salt_personal(
        id->bytes, sizeof id->bytes, (const unsigned char *)name, len, NULL, 0, no_salt, personal);
}

enum fnet_err fnet_partition_id_from_name(const char *name, struct fnet_partition_id *id)
{
    size_t len = strlen(name);

    if (!is_name(name, len))
        return FNET_INVALID;
    *id = (struct fnet_partition_id){.number = 0};
    derive(&id->data_set, name, len, "fnet data set");
    derive(&id->graph, name, len, "fnet graph");
    derive(&id->vertex, name, len, "fnet vertex");
    return FNET_OK;
}

/* What stands behind the execution graph. */
static void scan_attempt(struct scan *s, struct fnet_partition_id *id)
{
    scan_char(s, '_');
    scan_id(s, &id->vertex);
    scan_char(s, '_');
    scan_index(s, &id->subtask);
    scan_char(s, '_');
    scan_index(s, &id->attempt);
}

enum fnet_err fnet_partition_id_parse(const char *text, struct fnet_partition_id *id)
{
    struct scan s = {.at = text};
    struct fnet_partition_id parsed = {.number = 0};

    scan_id(&s, &parsed.data_set);
    if (!s.failed && *s.at == '#') {
        scan_char(&s, '#');
        scan_index(&s, &parsed.number);
    }
    scan_char(&s, '@');
    scan_id(&s, &parsed.graph);
    if (!s.failed && *s.at == '_')
        scan_attempt(&s, &parsed);
    scan_char(&s, '\0');
    if (s.failed)
        return fnet_partition_id_from_name(text, id);
    *id = parsed;
    return FNET_OK;
}

void fnet_partition_id_format(const struct fnet_partition_id *id,
                              char text[static FNET_PARTITION_ID_TEXT_BYTES])
{
    char data_set[FNET_ID_TEXT_BYTES];
    char graph[FNET_ID_TEXT_BYTES];
    char vertex[FNET_ID_TEXT_BYTES];

    fnet_id_format(&id->data_set, data_set);
    fnet_id_format(&id->graph, graph);
    fnet_id_format(&id->vertex, vertex);
    snprintf(text, FNET_PARTITION_ID_TEXT_BYTES, "%s#%" PRId32 "@%s_%s_%" PRId32 "_%" PRId32,
             data_set, id->number, graph, vertex, id->subtask, id->attempt);
}

void fnet_put_id(struct fnet_writer *w, const struct fnet_id *id)
{
    fnet_put_bytes(w, id->bytes, FNET_ID_BYTES);
}

void fnet_get_id(struct fnet_reader *r, struct fnet_id *id)
{
    struct fnet_span s = fnet_get_span(r, FNET_ID_BYTES);

    memset(id->bytes, 0, FNET_ID_BYTES);
    if (s.len)
        memcpy(id->bytes, s.ptr, FNET_ID_BYTES);
}

void fnet_put_partition_id(struct fnet_writer *w, const struct fnet_partition_id *id)
{
    fnet_put_id(w, &id->data_set);
    fnet_put_i32(w, id->number);
    fnet_put_id(w, &id->graph);
    fnet_put_id(w, &id->vertex);
    fnet_put_i32(w, id->subtask);
    fnet_put_i32(w, id->attempt);
}

void fnet_get_partition_id(struct fnet_reader *r, struct fnet_partition_id *id)
{
    fnet_get_id(r, &id->data_set);
    id->number = fnet_get_i32(r);
    fnet_get_id(r, &id->graph);
    fnet_get_id(r, &id->vertex);
    id->subtask = fnet_get_i32(r);
    id->attempt = fnet_get_i32(r);
}
