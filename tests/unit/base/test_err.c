/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Error codes: their families and their words.
 */
#include "fnet/err.h"

#include "../tap.h"

static const struct {
    enum fnet_err err;
    enum fnet_err_class class;
} codes[] = {
    {FNET_OK, FNET_CLASS_OK},
    {FNET_AGAIN, FNET_CLASS_FLOW},
    {FNET_EOF, FNET_CLASS_FLOW},
    {FNET_INCOMPRESSIBLE, FNET_CLASS_FLOW},
    {FNET_INVALID, FNET_CLASS_CALLER},
    {FNET_STATE, FNET_CLASS_CALLER},
    {FNET_RANGE, FNET_CLASS_CALLER},
    {FNET_UNSUPPORTED, FNET_CLASS_CALLER},
    {FNET_TRUNCATED, FNET_CLASS_PEER},
    {FNET_BAD_MAGIC, FNET_CLASS_PEER},
    {FNET_BAD_LENGTH, FNET_CLASS_PEER},
    {FNET_BAD_KIND, FNET_CLASS_PEER},
    {FNET_BAD_SEQUENCE, FNET_CLASS_PEER},
    {FNET_BAD_VALUE, FNET_CLASS_PEER},
    {FNET_NO_CREDIT, FNET_CLASS_PEER},
    {FNET_UNKNOWN_RECEIVER, FNET_CLASS_PEER},
    {FNET_NO_PARTITION, FNET_CLASS_PEER},
    {FNET_REMOTE, FNET_CLASS_PEER},
    {FNET_LOST, FNET_CLASS_PEER},
    {FNET_NOMEM, FNET_CLASS_SYSTEM},
    {FNET_SYSTEM, FNET_CLASS_SYSTEM},
};

#define CODES (sizeof codes / sizeof *codes)

int main(void)
{
    CASE("every code is in its family");
    for (size_t i = 0; i < CODES; i++)
        CHECK_INT(fnet_err_class(codes[i].err), codes[i].class);

    CASE("every code has words of its own: lower case, no full stop");
    for (size_t i = 0; i < CODES; i++) {
        const char *words = fnet_strerror(codes[i].err);
        CHECK(words[0] >= 'a' && words[0] <= 'z');
        CHECK(words[strlen(words) - 1] != '.');
        CHECK(strcmp(words, "unknown error") != 0);
        for (size_t j = 0; j < i; j++)
            CHECK(strcmp(words, fnet_strerror(codes[j].err)) != 0);
    }

    CASE("another number is an unknown error");
    CHECK_STR(fnet_strerror((enum fnet_err) - 9), "unknown error");
    CHECK_STR(fnet_strerror((enum fnet_err)1), "unknown error");
    return tap_done();
}
