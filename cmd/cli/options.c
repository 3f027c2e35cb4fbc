/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line, by getopt_long(3) over a table.
 */
#include "cli/options.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/report.h"
#include "cli/units.h"

/* What getopt_long() returns: a letter, OPERAND, or a number that stands for a long name. */
enum {
    OPERAND = 1,
    FIRST_LONG = 256,
    HELP = FIRST_LONG + OPTIONS_MAX,
    VERSION,
};

#define HELP_COLUMN 29

/* The table in getopt's own form. */
struct getopt_form {
    char letters[3 * OPTIONS_MAX + 3];
    struct option names[OPTIONS_MAX + 3];
};

static size_t entry_count(const struct options_table *table)
{
    return table->count + table->shared_count;
}

/* Of the table's own entries and then the shared ones. */
static const struct options_entry *entry_at(const struct options_table *table, size_t i)
{
    return i < table->count ? &table->entries[i] : &table->shared[i - table->count];
}

/* The struct that entry E goes to. */
static void *config_of(const struct options_table *table, const struct options_entry *e,
                       void *config)
{
    bool is_own = e >= table->entries && e < table->entries + table->count;

    return is_own ? config : (char *)config + table->shared_offset;
}

/* Behind what is there; the form was zeroed, so that the text always ends. */
static void add_letter(struct getopt_form *form, const struct options_entry *e)
{
    size_t n = strlen(form->letters);

    form->letters[n++] = e->letter;
    if (e->argument)
        form->letters[n++] = ':';
    if (e->argument && e->is_argument_optional)
        form->letters[n++] = ':';
}

static struct option long_form(const struct options_entry *e, int code)
{
    return (struct option){
        .name = e->name,
        .has_arg = !e->argument              ? no_argument
                   : e->is_argument_optional ? optional_argument
                                             : required_argument,
        .val = code,
    };
}

static void translate(const struct options_table *table, struct getopt_form *form)
{
    size_t n = 0;

    assert(entry_count(table) <= OPTIONS_MAX);
    /* "-": operands come in their place, nothing is reordered; ":": a missing argument is told
     * apart from an unknown option. */
    *form = (struct getopt_form){.letters = "-:"};
    for (size_t i = 0; i < entry_count(table); i++) {
        const struct options_entry *e = entry_at(table, i);
        if (e->letter)
            add_letter(form, e);
        if (e->name)
            form->names[n++] = long_form(e, FIRST_LONG + (int)i);
    }
    form->names[n++] = (struct option){.name = "help", .val = HELP};
    form->names[n] = (struct option){.name = "version", .val = VERSION};
}

static const struct options_entry *find_entry(const struct options_table *table, int code)
{
    if (code >= FIRST_LONG && code < HELP)
        return entry_at(table, (size_t)(code - FIRST_LONG));
    for (size_t i = 0; i < entry_count(table); i++)
        if (code && entry_at(table, i)->letter == code)
            return entry_at(table, i);
    return NULL;
}

static void show_options(const struct options_table *table, FILE *out)
{
    static const struct options_entry both[] = {
        {.name = "help", .help = "show this text and stop"},
        {.name = "version", .help = "show the version and stop"},
    };

    const size_t count = entry_count(table);

    for (size_t i = 0; i < count + 2; i++) {
        const struct options_entry *e = i < count ? entry_at(table, i) : &both[i - count];
        int width = e->letter ? fprintf(out, "  -%c", e->letter) : fprintf(out, "    ");
        if (e->name)
            width += fprintf(out, "%s --%s", e->letter ? "," : " ", e->name);
        if (e->argument)
            width += fprintf(out, e->is_argument_optional ? "[=%s]" : " %s", e->argument);
        for (const char *line = e->help; line; line = strchr(line, '\n')) {
            if (*line == '\n')
                line++;
            if (width >= HELP_COLUMN - 1 || line != e->help) {
                putc('\n', out);
                width = 0;
            }
            fprintf(out, "%*s%.*s", HELP_COLUMN - width, "", (int)strcspn(line, "\n"), line);
        }
        putc('\n', out);
    }
}

static void show_help(const struct options_table *table, FILE *out)
{
    fprintf(out, "Usage: %s %s\n%s\n\n", table->program, table->synopsis, table->purpose);
    show_options(table, out);
    if (table->notes)
        fprintf(out, "\n%s\n", table->notes);
}

void options_mistake(const struct options_table *table, const char *format, ...)
{
    const struct report report = {.program = table->program};
    char text[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    report_say(&report, REPORT_ERROR, NULL, "%s", text);
    fprintf(stderr, "Try '%s --help' for more information.\n", table->program);
}

/* How the user wrote the option that getopt returned as CODE. */
static void name_option(const struct options_entry *e, int code, char name[static 64])
{
    if (code < FIRST_LONG)
        snprintf(name, 64, "-%c", code);
    else
        snprintf(name, 64, "--%s", e->name);
}

/* An option that getopt did not like: RETURNED is ':' or '?', optopt and ARGUMENT say which. */
static void say_rejected(const struct options_table *table, const struct option *names,
                         int returned, const char *argument)
{
    const struct options_entry *e = find_entry(table, optopt);
    const size_t len = strcspn(argument, "=");
    char name[64];
    bool is_prefix = false;

    if (returned == ':' && e) {
        name_option(e, optopt, name);
        options_mistake(table, "%s: needs an argument, %s", name, e->argument);
    } else if (optopt >= FIRST_LONG) {
        options_mistake(table, "%.*s: takes no argument: '%s'", (int)len, argument, argument);
    } else if (optopt) {
        options_mistake(table, "-%c: unknown option", optopt);
    } else {
        for (; names->name; names++)
            is_prefix |= strncmp(names->name, argument + 2, len - 2) == 0;
        options_mistake(table, "%.*s: %s option", (int)len, argument,
                        is_prefix ? "ambiguous" : "unknown");
    }
}

static enum fnet_err parse_number(const struct options_entry *e, const char *text, uint64_t *out,
                                  const char **why)
{
    if (e->value == OPTIONS_SIZE || e->value == OPTIONS_SIZE64)
        return units_parse_size(text, e->min, e->max, out, why);
    if (e->value != OPTIONS_DURATION)
        return units_parse_number(text, e->min, e->max, out, why);

    uint64_t ns;
    enum fnet_err err = units_parse_duration(text, &ns, why);
    if (err == FNET_OK && ns < e->min) {
        *why = "too short";
        err = FNET_RANGE;
    }
    if (err == FNET_OK)
        *out = ns;
    return err;
}

/* Put what the option says into its member of CONFIG. */
static enum fnet_err store(const struct options_entry *e, void *config, const char *text,
                           const char **why)
{
    char *member = (char *)config + e->offset;
    const int constant = (int)e->min;
    uint64_t number = 0;
    enum fnet_err err = FNET_OK;

    if (e->value >= OPTIONS_NUMBER)
        err = parse_number(e, text, &number, why);
    if (err != FNET_OK)
        return err;

    const uint32_t number32 = (uint32_t)number;
    switch (e->value) {
    case OPTIONS_END_GROUP: break;
    case OPTIONS_FLAG: *(bool *)member = true; break;
    case OPTIONS_CONSTANT: memcpy(member, &constant, sizeof constant); break;
    case OPTIONS_TEXT: memcpy(member, &text, sizeof text); break;
    case OPTIONS_NUMBER:
    case OPTIONS_SIZE: memcpy(member, &number32, sizeof number32); break;
    case OPTIONS_NUMBER64:
    case OPTIONS_SIZE64:
    case OPTIONS_DURATION: memcpy(member, &number, sizeof number); break;
    }
    return FNET_OK;
}

static bool take_option(const struct options_table *table, void *config, int code)
{
    const struct options_entry *e = find_entry(table, code);
    const char *why = "not accepted";
    char name[64];

    void *member_of = config_of(table, e, config);
    enum fnet_err err =
        e->set ? e->set(member_of, optarg, &why) : store(e, member_of, optarg, &why);
    if (err == FNET_OK)
        return true;
    name_option(e, code, name);
    if (optarg)
        options_mistake(table, "%s: %s: '%s'", name, why, optarg);
    else
        options_mistake(table, "%s: %s", name, why);
    return false;
}

static bool take_operand(const struct options_table *table, void *config, const char *text)
{
    const char *why = "not accepted";

    if (table->operand(config, text, &why) == FNET_OK)
        return true;
    options_mistake(table, "%s: %s", text, why);
    return false;
}

static bool ends_group(const struct options_entry *e)
{
    return !e->set && e->value == OPTIONS_END_GROUP;
}

enum options_result options_parse(const struct options_table *table, void *config, int argc,
                                  char *argv[], int *used)
{
    struct getopt_form form;
    int code;

    translate(table, &form);
    opterr = 0;
    optind = 0; /* glibc: forget what an earlier group left behind */
    while ((code = getopt_long(argc, argv, form.letters, form.names, NULL)) != -1) {
        switch (code) {
        case OPERAND:
            if (!take_operand(table, config, optarg))
                return OPTIONS_MISTAKE;
            break;
        case HELP: show_help(table, stdout); return OPTIONS_SHOWN;
        case VERSION: printf("%s %s\n", table->program, FNET_VERSION); return OPTIONS_SHOWN;
        case ':':
        case '?': say_rejected(table, form.names, code, argv[optind - 1]); return OPTIONS_MISTAKE;
        default:
            if (ends_group(find_entry(table, code))) {
                *used = optind - 1;
                return OPTIONS_RUN;
            }
            if (!take_option(table, config, code))
                return OPTIONS_MISTAKE;
        }
    }
    for (; optind < argc; optind++)
        if (!take_operand(table, config, argv[optind]))
            return OPTIONS_MISTAKE;
    *used = argc;
    return OPTIONS_RUN;
}

int options_exit(const struct options_table *table, enum options_result result)
{
    const struct report report = {.program = table->program};

    if (result == OPTIONS_MISTAKE)
        return EXIT_USAGE;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_DONE;
    report_error(&report, "standard output", "write", FNET_SYSTEM, errno);
    return EXIT_LOCAL;
}
