/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/escape: what may reach a terminal, and what JSON.
 */
#include "cli/escape.h"

#include <stdlib.h>

#include "../tap.h"

/* A literal of bytes, its NULs included. */
#define BYTES(literal) fnet_span_of(literal, sizeof(literal) - 1)

/* What PRINT makes of BYTES; static. */
static const char *printed(void (*print)(FILE *, struct fnet_span), struct fnet_span bytes)
{
    static char text[256];
    FILE *file = fmemopen(text, sizeof text, "w");

    print(file, bytes);
    fclose(file);
    return text;
}

static void test_utf8(void)
{
    static const char *const right[] = {"",
                                        "plain",
                                        "\xc2\x80",
                                        "\xdf\xbf",
                                        "\xe0\xa0\x80",
                                        "\xed\x9f\xbf",
                                        "\xef\xbf\xbf",
                                        "\xf0\x90\x80\x80",
                                        "\xf4\x8f\xbf\xbf"};
    static const char *const wrong[] = {"\x80",
                                        "\xc1\xbf",
                                        "\xc3",
                                        "\xc3\x41",
                                        "\xe0\x9f\xbf",
                                        "\xed\xa0\x80",
                                        "\xe2\x82",
                                        "\xe2\x82\x41",
                                        "\xf0\x8f\xbf\xbf",
                                        "\xf4\x90\x80\x80",
                                        "\xf5\x80\x80\x80",
                                        "ok\xff"};

    CASE("well-formed UTF-8 is told from the rest: overlong, surrogates, too high, cut");
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        CHECK(escape_is_utf8(fnet_span_of(right[i], strlen(right[i]))));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(!escape_is_utf8(fnet_span_of(wrong[i], strlen(wrong[i]))));
}

static void test_terminal(void)
{
    CASE("text stays text");
    CHECK_STR(printed(escape_print, BYTES("a \"b\" gr\xc3\xbc\xc3\x9f \xe2\x82\xac")),
              "a \"b\" gr\xc3\xbc\xc3\x9f \xe2\x82\xac");
    CASE("nothing a terminal obeys gets through");
    CHECK_STR(printed(escape_print, BYTES("\033[2J\t\n\r\0\x7f")), "\\x1b[2J\\t\\n\\r\\x00\\x7f");
    CHECK_STR(printed(escape_print, BYTES("\xc2\x9b"
                                          "0m")),
              "\\xc2\\x9b0m");
    CASE("bytes that are not text can be told back");
    CHECK_STR(printed(escape_print, BYTES("\\x00\xff\xc3")), "\\\\x00\\xff\\xc3");
}

static void test_json(void)
{
    CASE("a JSON string escapes quotes, backslashes and control characters");
    CHECK_STR(printed(escape_print_json, BYTES("\"\\\n\t\r\0\x1f\x7f \xc3\xa9")),
              "\"\\\"\\\\\\n\\t\\r\\u0000\\u001f\\u007f \xc3\xa9\"");
    CHECK_STR(printed(escape_print_hex, BYTES("\0\xff\x5a")), "00ff5a");
}

int main(void)
{
    test_utf8();
    test_terminal();
    test_json();
    return tap_done();
}
