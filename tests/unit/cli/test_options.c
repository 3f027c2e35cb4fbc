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
static enum options_result parse(struct config *config, const char *line, int *used)
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
    enum options_result result = options_parse(&table, config, argc, argv, used);
    restore(stdout, out, files[0], printed[0]);
    restore(stderr, err, files[1], printed[1]);
    return result;
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

int main(void)
{
    test_mixed();
    test_groups();
    test_mistakes();
    test_help();
    return tap_done();
}
