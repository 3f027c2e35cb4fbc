/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/options: what a command line is taken for, and what is said about a wrong one.
 */
#include "cli/options.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "../tap.h"
#include "cli/exitcode.h"
#include "cli/units.h"

struct config {
    bool json;
    uint64_t port;
    const char *when;
    char operands[64]; /* joined by blanks */
};

static enum fnet_err set_json(void *config, const char *text, const char **why)
{
    (void)text;
    (void)why;
    ((struct config *)config)->json = true;
    return FNET_OK;
}

static enum fnet_err set_port(void *config, const char *text, const char **why)
{
    return units_parse_number(text, 0, 65535, &((struct config *)config)->port, why);
}

static enum fnet_err set_when(void *config, const char *text, const char **why)
{
    (void)why;
    ((struct config *)config)->when = text ? text : "default";
    return FNET_OK;
}

static enum fnet_err refuse(void *config, const char *text, const char **why)
{
    (void)config;
    (void)text;
    *why = "not with the others";
    return FNET_INVALID;
}

static enum fnet_err take_operand(void *config, const char *text, const char **why)
{
    struct config *c = config;

    if (strcmp(text, "bad") == 0) {
        *why = "no such thing";
        return FNET_INVALID;
    }
    strcat(c->operands, text);
    strcat(c->operands, " ");
    return FNET_OK;
}

static const struct options_entry entries[] = {
    {.name = "json", .letter = 'j', .help = "say it in JSON", .set = set_json},
    {.name = "port",
     .letter = 'p',
     .argument = "N",
     .help = "a port\nof this host",
     .set = set_port},
    {.name = "progress",
     .argument = "WHEN",
     .is_argument_optional = true,
     .help = "how it goes",
     .set = set_when},
    {.letter = 'r', .help = "refused always", .set = refuse},
    {.name = "next", .help = "begin another group"},
    {.name = "a-long-name-of-an-option", .argument = "ARGUMENT", .help = "wide", .set = set_when},
};

static const struct options_table table = {
    .program = "prog",
    .synopsis = "[OPTION]... [FILE]...",
    .purpose = "Do what is asked.",
    .notes = "FILE is a file.",
    .entries = entries,
    .count = sizeof entries / sizeof *entries,
    .operand = take_operand,
};

/* What a run printed to each of the two streams. */
static char printed[2][4096];

static int redirect(FILE *stream, FILE *to)
{
    int saved = dup(fileno(stream));

    fflush(stream);
    dup2(fileno(to), fileno(stream));
    return saved;
}

static void restore(FILE *stream, int saved, FILE *from, char *text)
{
    fflush(stream);
    dup2(saved, fileno(stream));
    close(saved);
    rewind(from);
    text[fread(text, 1, sizeof printed[0] - 1, from)] = '\0';
    fclose(from);
}

/* Parse LINE, split at blanks, with what is printed kept in PRINTED. */
static enum options_result parse_line(const struct options_table *options, void *config,
                                      const char *line, int *used)
{
    static char words[256];
    char *argv[32] = {(char *)"prog"};
    int argc = 1;
    FILE *files[2] = {tmpfile(), tmpfile()};

    strcpy(words, line);
    for (char *w = strtok(words, " "); w; w = strtok(NULL, " "))
        argv[argc++] = w;
    int out = redirect(stdout, files[0]);
    int err = redirect(stderr, files[1]);
    enum options_result result = options_parse(options, config, argc, argv, used);
    restore(stdout, out, files[0], printed[0]);
    restore(stderr, err, files[1], printed[1]);
    return result;
}

static enum options_result parse(struct config *config, const char *line, int *used)
{
    return parse_line(&table, config, line, used);
}

static void test_mixed(void)
{
    struct config c = {.port = 1};
    int used = 0;

    CASE("options and operands come in any order");
    CHECK_INT(parse(&c, "one -j two --port=7 - three", &used), OPTIONS_RUN);
    CHECK(c.json);
    CHECK_INT(c.port, 7);
    CHECK_STR(c.operands, "one two - three ");
    CHECK_INT(used, 7);

    CASE("behind -- everything is an operand");
    c = (struct config){.port = 1};
    CHECK_INT(parse(&c, "-p 5 -- -j --next", &used), OPTIONS_RUN);
    CHECK(!c.json);
    CHECK_INT(c.port, 5);
    CHECK_STR(c.operands, "-j --next ");

    CASE("an optional argument is glued on or absent");
    c = (struct config){.port = 1};
    CHECK_INT(parse(&c, "--progress never", &used), OPTIONS_RUN);
    CHECK_STR(c.when, "default");
    CHECK_STR(c.operands, "never ");
    CHECK_INT(parse(&c, "--progress=never", &used), OPTIONS_RUN);
    CHECK_STR(c.when, "never");

    CASE("letters may be joined, names shortened");
    c = (struct config){.port = 1};
    CHECK_INT(parse(&c, "-jp9 --a-long x", &used), OPTIONS_RUN);
    CHECK(c.json);
    CHECK_INT(c.port, 9);
    CHECK_STR(c.when, "x");

    CASE("no argument at all is fine");
    CHECK_INT(parse(&c, "", &used), OPTIONS_RUN);
    CHECK_INT(used, 1);
}

static void test_groups(void)
{
    char *argv[] = {(char *)"prog",   (char *)"-p",     (char *)"1",  (char *)"a",
                    (char *)"--next", (char *)"b",      (char *)"-j", (char *)"-p",
                    (char *)"2",      (char *)"--next", (char *)"c",  NULL};
    int argc = 11;
    char **args = argv;
    struct config c[3] = {{.port = 0}, {.port = 0}, {.port = 0}};
    int groups = 0;

    CASE("a group ends at the option without a setter and the next begins behind it");
    for (int used; argc > 0 && groups < 3; groups++) {
        CHECK_INT(options_parse(&table, &c[groups], argc, args, &used), OPTIONS_RUN);
        argc -= used;
        args += used;
    }
    CHECK_INT(groups, 3);
    CHECK_INT(argc, 0);
    CHECK_STR(c[0].operands, "a ");
    CHECK_INT(c[0].port, 1);
    CHECK(!c[0].json);
    CHECK_STR(c[1].operands, "b ");
    CHECK_INT(c[1].port, 2);
    CHECK(c[1].json);
    CHECK_STR(c[2].operands, "c ");
    CHECK_INT(c[2].port, 0);

    CASE("the argument of an option may look like the end of a group");
    struct config last = {.port = 0};
    int used;
    CHECK_INT(parse(&last, "--a-long-name-of-an-option --next x", &used), OPTIONS_RUN);
    CHECK_STR(last.when, "--next");
    CHECK_INT(used, 4);
}

static void test_mistakes(void)
{
    static const struct {
        const char *line;
        const char *message;
    } cases[] = {
        {"--port x", "prog: --port: not a number: 'x'\n"},
        {"-p x", "prog: -p: not a number: 'x'\n"},
        {"--po=99999", "prog: --port: out of range: '99999'\n"},
        {"--port", "prog: --port: needs an argument, N\n"},
        {"-p", "prog: -p: needs an argument, N\n"},
        {"-r", "prog: -r: not with the others\n"},
        {"--json=1", "prog: --json: takes no argument: '--json=1'\n"},
        {"--nonsense=2", "prog: --nonsense: unknown option\n"},
        {"-x", "prog: -x: unknown option\n"},
        {"-jx", "prog: -x: unknown option\n"},
        {"--p", "prog: --p: ambiguous option\n"},
        {"bad", "prog: bad: no such thing\n"},
        {"-- bad", "prog: bad: no such thing\n"},
        {"-\033", "prog: -\\x1b: unknown option\n"},
    };
    struct config c = {.port = 1};
    int used = 77;
    char expected[256];

    CASE("a mistake is said in one line that names it, and a hint");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_INT(parse(&c, cases[i].line, &used), OPTIONS_MISTAKE);
        snprintf(expected, sizeof expected, "%sTry 'prog --help' for more information.\n",
                 cases[i].message);
        CHECK_STR(printed[1], expected);
        CHECK_STR(printed[0], "");
    }
    CHECK_INT(used, 77);
    CHECK_INT(options_exit(&table, OPTIONS_MISTAKE), EXIT_USAGE);
}

static void test_help(void)
{
    static const char help[] = "Usage: prog [OPTION]... [FILE]...\n"
                               "Do what is asked.\n"
                               "\n"
                               "  -j, --json                 say it in JSON\n"
                               "  -p, --port N               a port\n"
                               "                             of this host\n"
                               "      --progress[=WHEN]      how it goes\n"
                               "  -r                         refused always\n"
                               "      --next                 begin another group\n"
                               "      --a-long-name-of-an-option ARGUMENT\n"
                               "                             wide\n"
                               "      --help                 show this text and stop\n"
                               "      --version              show the version and stop\n"
                               "\n"
                               "FILE is a file.\n";
    struct config c = {.port = 1};
    int used;

    CASE("--help prints the table to standard output");
    CHECK_INT(parse(&c, "--help --nonsense", &used), OPTIONS_SHOWN);
    CHECK_STR(printed[0], help);
    CHECK_STR(printed[1], "");
    CASE("--version prints one line");
    CHECK_INT(parse(&c, "--version", &used), OPTIONS_SHOWN);
    CHECK_STR(printed[0], "prog " FNET_VERSION "\n");
    CHECK_INT(options_exit(&table, OPTIONS_SHOWN), EXIT_DONE);
}

/* ---- options without a setter -----------------------------------------------------------------
 */

struct values {
    bool flag;
    enum { NONE, SOME = 7 } constant;
    const char *text;
    uint32_t number;
    uint64_t number64;
    uint32_t size;
    uint64_t size64;
    uint64_t duration_ns;
};

static const struct options_entry value_entries[] = {
    {.name = "flag", .value = OPTIONS_FLAG, .offset = offsetof(struct values, flag)},
    {.name = "constant",
     .value = OPTIONS_CONSTANT,
     .offset = offsetof(struct values, constant),
     .min = SOME},
    {.name = "text",
     .argument = "T",
     .value = OPTIONS_TEXT,
     .offset = offsetof(struct values, text)},
    {.name = "number",
     .argument = "N",
     .value = OPTIONS_NUMBER,
     .offset = offsetof(struct values, number),
     .min = 2,
     .max = 10},
    {.name = "number64",
     .argument = "N",
     .value = OPTIONS_NUMBER64,
     .offset = offsetof(struct values, number64),
     .max = UINT64_MAX},
    {.name = "size",
     .argument = "S",
     .value = OPTIONS_SIZE,
     .offset = offsetof(struct values, size),
     .max = 1 << 20},
    {.name = "size64",
     .argument = "S",
     .value = OPTIONS_SIZE64,
     .offset = offsetof(struct values, size64),
     .max = UINT64_MAX},
    {.name = "duration",
     .argument = "D",
     .value = OPTIONS_DURATION,
     .offset = offsetof(struct values, duration_ns),
     .min = 1},
};

static const struct options_table value_table = {
    .program = "prog",
    .synopsis = "",
    .purpose = "",
    .entries = value_entries,
    .count = sizeof value_entries / sizeof *value_entries,
    .operand = take_operand,
};

static enum options_result parse_values(struct values *v, const char *line)
{
    int used;

    return parse_line(&value_table, v, line, &used);
}

static void test_values(void)
{
    struct values v = {.number = 5, .duration_ns = 9};

    CASE("an option without a setter goes into its member, in its type");
    CHECK_INT(parse_values(&v, "--flag"), OPTIONS_RUN);
    CHECK(v.flag);
    CHECK_INT(parse_values(&v, "--constant"), OPTIONS_RUN);
    CHECK_INT(v.constant, SOME);
    CHECK_INT(parse_values(&v, "--text=as-it-is"), OPTIONS_RUN);
    CHECK_STR(v.text ? v.text : "", "as-it-is");
    CHECK_INT(parse_values(&v, "--number=10"), OPTIONS_RUN);
    CHECK_INT(v.number, 10);
    CHECK_INT(parse_values(&v, "--number64=18446744073709551615"), OPTIONS_RUN);
    CHECK(v.number64 == UINT64_MAX);
    CHECK_INT(parse_values(&v, "--size=32k"), OPTIONS_RUN);
    CHECK_INT(v.size, 32768);
    CHECK_INT(parse_values(&v, "--size64=8G"), OPTIONS_RUN);
    CHECK(v.size64 == UINT64_C(8) << 30);
    CHECK_INT(parse_values(&v, "--duration=250ms"), OPTIONS_RUN);
    CHECK_INT(v.duration_ns, 250000000);

    CASE("what is out of its bounds leaves the member as it was");
    CHECK_INT(parse_values(&v, "--number=1"), OPTIONS_MISTAKE);
    CHECK_INT(parse_values(&v, "--number=11"), OPTIONS_MISTAKE);
    CHECK_INT(parse_values(&v, "--number=x"), OPTIONS_MISTAKE);
    CHECK_INT(v.number, 10);
    CHECK_INT(parse_values(&v, "--size=2M"), OPTIONS_MISTAKE);
    CHECK_INT(v.size, 32768);
    CHECK_INT(parse_values(&v, "--duration=0"), OPTIONS_MISTAKE);
    CHECK_INT(parse_values(&v, "--duration=5"), OPTIONS_MISTAKE);
    CHECK_STR(printed[1], "prog: --duration: a duration needs a unit (ms, s, m or h): '5'\n"
                          "Try 'prog --help' for more information.\n");
    CHECK_INT(v.duration_ns, 250000000);
}

/* ---- entries that several commands share -------------------------------------------------------
 */

struct sharing {
    uint64_t own;
    struct values common;
};

static const struct options_entry own_entries[] = {
    {.name = "own",
     .argument = "N",
     .value = OPTIONS_NUMBER64,
     .offset = offsetof(struct sharing, own),
     .max = 9},
};

static const struct options_table sharing_table = {
    .program = "prog",
    .synopsis = "",
    .purpose = "",
    .entries = own_entries,
    .count = 1,
    .shared = value_entries,
    .shared_count = sizeof value_entries / sizeof *value_entries,
    .shared_offset = offsetof(struct sharing, common),
    .operand = take_operand,
};

static void test_shared(void)
{
    struct sharing s = {.own = 0};
    int used;

    CASE("shared entries go to their own struct in the config, and are in the help");
    CHECK_INT(parse_line(&sharing_table, &s, "--own=3 --number=4 --flag", &used), OPTIONS_RUN);
    CHECK_INT(s.own, 3);
    CHECK_INT(s.common.number, 4);
    CHECK(s.common.flag);
    CHECK_INT(parse_line(&sharing_table, &s, "--help", &used), OPTIONS_SHOWN);
    CHECK(strstr(printed[0], "--own N") && strstr(printed[0], "--duration D"));
}

int main(void)
{
    test_mixed();
    test_groups();
    test_mistakes();
    test_help();
    test_values();
    test_shared();
    return tap_done();
}
