/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts out of Java's strings: what UTF-8 cannot hold, and what does not fit.
 */
#include "../../../lib/wire/java_text.h"

#include "../tap.h"

#define MOST (FNET_THROWABLE_TEXT_BYTES - 1)

static char out[FNET_THROWABLE_TEXT_BYTES];

/* MODIFIED as a text. */
static const char *text_of(struct fnet_span modified)
{
    struct fnet__wire_text text = fnet__wire_text_of(out);

    memset(out, 'u', sizeof out);
    fnet__wire_text_add(&text, modified);
    fnet__wire_text_end(&text);
    return out;
}

#define TEXT(literal) text_of(fnet_span_of(literal, sizeof literal - 1))
#define UNKNOWN "\xef\xbf\xbd"

static void test_characters(void)
{
    CASE("characters of one to four bytes; the last is six in Java");
    CHECK_STR(TEXT("az\x7f"), "az\x7f");
    CHECK_STR(TEXT("\xc3\xbc \xe2\x82\xac"), "\xc3\xbc \xe2\x82\xac");
    CHECK_STR(TEXT("\xed\xa0\xbd\xed\xb8\x80"), "\xf0\x9f\x98\x80");
    CHECK_STR(TEXT("\xed\xa0\x80\xed\xb0\x80"), "\xf0\x90\x80\x80");
    CHECK_STR(TEXT("\xed\xaf\xbf\xed\xbf\xbf"), "\xf4\x8f\xbf\xbf");

    CASE("what a C string or UTF-8 cannot hold");
    CHECK_STR(TEXT("a\xc0\x80z"), "a" UNKNOWN "z");
    CHECK_STR(TEXT("a\0z"), "a" UNKNOWN "z");
    CHECK_STR(TEXT("\xed\xa0\xbd"), UNKNOWN);
    CHECK_STR(TEXT("\xed\xa0\xbdz"), UNKNOWN "z");
    CHECK_STR(TEXT("\xed\xb8\x80"), UNKNOWN);
    CHECK_STR(TEXT("\xed\xa0\xbd\xed\xa0\xbd\xed\xb8\x80"), UNKNOWN "\xf0\x9f\x98\x80");

    CASE("what is no modified UTF-8");
    CHECK_STR(TEXT("\x80z"), UNKNOWN "z");
    CHECK_STR(TEXT("\xc3"), UNKNOWN);
    CHECK_STR(TEXT("\xc3z"), UNKNOWN "z");
    CHECK_STR(TEXT("\xe2\x82"), UNKNOWN UNKNOWN);
    CHECK_STR(TEXT("\xf0\x9f\x98\x80"), UNKNOWN UNKNOWN UNKNOWN UNKNOWN);
    CHECK_STR(TEXT(""), "");
}

static void test_long(void)
{
    static uint8_t bytes[3 * FNET_THROWABLE_TEXT_BYTES];
    char mark[64];

    CASE("as much as fits is there, one byte more is not, and is counted");
    memset(bytes, 'x', sizeof bytes);
    CHECK_INT(strlen(text_of(fnet_span_of(bytes, MOST))), MOST);
    CHECK(strchr(out, '.') == NULL);
    for (size_t len = MOST + 1; len <= sizeof bytes; len += 501) {
        CHECK(strlen(text_of(fnet_span_of(bytes, len))) <= MOST);
        size_t kept = strspn(out, "x");
        CHECK(kept > MOST - 50);
        snprintf(mark, sizeof mark, "... (%zu more bytes)", len - kept);
        CHECK_STR(out + kept, mark);
    }

    CASE("whole characters are kept, and none behind what did not fit");
    for (size_t shift = 0; shift < 3; shift++) {
        memset(bytes, 'x', sizeof bytes);
        for (size_t i = shift; i + 3 <= sizeof bytes; i += 3)
            memcpy(bytes + i, "\xe2\x82\xac", 3);
        text_of(fnet_span_of(bytes, MOST - 1 + shift));
        text_of(fnet_span_of(bytes, sizeof bytes));
        size_t kept = (size_t)(strchr(out, '.') - out);
        CHECK_INT((kept - shift) % 3, 0);
        CHECK_MEM(out, bytes, kept);
        snprintf(mark, sizeof mark, "... (%zu more bytes)", sizeof bytes - kept);
        CHECK_STR(out + kept, mark);
    }
    memset(bytes, 'x', sizeof bytes);
    memcpy(bytes + MOST - 1, "\xc3\xbc", 2); /* no room for it, but for the next one */
    CHECK_STR(strchr(text_of(fnet_span_of(bytes, MOST + 2)), '.'), "... (42 more bytes)");

    CASE("what is behind the first that did not fit is not looked at");
    memset(bytes, 'x', sizeof bytes);
    for (size_t i = MOST + 1; i + 6 <= sizeof bytes; i += 6)
        memcpy(bytes + i, "\xed\xa0\xbd\xed\xb8\x80", 6);
    text_of(fnet_span_of(bytes, sizeof bytes));
    snprintf(mark, sizeof mark, "... (%zu more bytes)", sizeof bytes - strspn(out, "x"));
    CHECK_STR(strchr(out, '.'), mark);

    CASE("pieces count together");
    struct fnet__wire_text text = fnet__wire_text_of(out);
    memset(bytes, 'x', sizeof bytes);
    for (unsigned i = 0; i < 20; i++) {
        fnet__wire_text_add(&text, fnet_span_of(bytes, 99));
        fnet__wire_text_add_ascii(&text, "/");
    }
    fnet__wire_text_end(&text);
    CHECK_INT(text.total, 2000);
    CHECK_STR(strchr(out, '.'), "... (1017 more bytes)");
}

int main(void)
{
    test_characters();
    test_long();
    return tap_done();
}
