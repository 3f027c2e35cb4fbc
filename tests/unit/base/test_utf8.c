/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UTF-8 as Java reads it. The malformed cases are what JDK 17 gave for these bytes; many more keys
 * are in the vectors of test_key_group.
 */
#include "fnet/utf8.h"

#include "../tap.h"

/* The characters that BYTES are, each with its length. */
static void check(const char *bytes, size_t len, const uint32_t *codes, const size_t *lengths,
                  size_t n)
{
    const uint8_t *pos = (const uint8_t *)bytes;
    const uint8_t *end = pos + len;
    size_t i = 0;

    for (; pos < end && i < n; i++) {
        uint32_t code = 0;
        size_t used = fnet_utf8_next(pos, end, &code);
        CHECK_INT(code, codes[i]);
        CHECK_INT(used, lengths[i]);
        pos += used;
    }
    CHECK(pos == end && i == n);
}

#define CHARACTERS(bytes, count, ...)                                                              \
    do {                                                                                           \
        static const struct {                                                                      \
            uint32_t codes[count];                                                                 \
            size_t lengths[count];                                                                 \
        } expected = __VA_ARGS__;                                                                  \
        check(bytes, sizeof bytes - 1, expected.codes, expected.lengths, count);                   \
    } while (0)

int main(void)
{
    CASE("characters of one to four bytes, the first and the last of each");
    CHARACTERS("\0\x7f", 2, {{0, 0x7f}, {1, 1}});
    CHARACTERS("\xc2\x80\xdf\xbf", 2, {{0x80, 0x7ff}, {2, 2}});
    CHARACTERS("\xe0\xa0\x80\xef\xbf\xbf", 2, {{0x800, 0xffff}, {3, 3}});
    CHARACTERS("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", 2, {{0x10000, 0x10ffff}, {4, 4}});

    CASE("overlong forms, bytes that begin nothing and numbers too great are parts of one byte");
    CHARACTERS("\xc0\x80", 2, {{0xfffd, 0xfffd}, {1, 1}});
    CHARACTERS("\xe0\x9f\x80", 3, {{0xfffd, 0xfffd, 0xfffd}, {1, 1, 1}});
    CHARACTERS("\xf4\x90\x80", 3, {{0xfffd, 0xfffd, 0xfffd}, {1, 1, 1}});
    CHARACTERS("\xff\xbf", 2, {{0xfffd, 0xfffd}, {1, 1}});

    CASE("a surrogate is one part, and so is what is there of a character that is cut");
    CHARACTERS("\xed\xa0\x80", 1, {{0xfffd}, {3}});
    CHARACTERS("\xe2\x82", 1, {{0xfffd}, {2}});
    CHARACTERS("\xf0\x9f\x98"
               "a",
               2, {{0xfffd, 'a'}, {3, 1}});
    return tap_done();
}
