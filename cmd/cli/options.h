/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli: the command line. One table per command drives both the parser and --help.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fnet/err.h"

#define OPTIONS_MAX 62 /**< most entries of a table */

/** What an option without a setter is, and the type of the member of CONFIG it goes to. */
enum options_value {
    OPTIONS_END_GROUP, /**< none: the option ends a group of arguments (--next) */
    OPTIONS_FLAG,      /**< bool: true */
    OPTIONS_CONSTANT,  /**< an enum: MIN */
    OPTIONS_TEXT,      /**< const char *: the argument as it is */
    OPTIONS_NUMBER,    /**< uint32_t: a number from MIN to MAX */
    OPTIONS_NUMBER64,  /**< uint64_t */
    OPTIONS_SIZE,      /**< uint32_t: bytes, with k, M or G, from MIN to MAX */
    OPTIONS_SIZE64,    /**< uint64_t */
    OPTIONS_DURATION,  /**< uint64_t: nanoseconds, with ms, s, m or h, at least MIN */
};

struct options_entry {
    const char *name;          /**< long form without dashes; NULL: none */
    char letter;               /**< short form; 0: none */
    const char *argument;      /**< its argument's name in the help; NULL: takes none */
    bool is_argument_optional; /**< given as --name=ARGUMENT or not at all */
    const char *help;          /**< '\n' begins another line */

    /**
     * Take the option into the command's CONFIG.
     *
     * @param text  its argument, NULL when it has none.
     * @param why   on failure set to a static text: "not a number".
     *
     * Errors: any; FNET_OK alone means that it was taken.
     *
     * NULL: VALUE says what to do.
     */
    enum fnet_err (*set)(void *config, const char *text, const char **why);

    enum options_value value;
    size_t offset; /**< of the member in CONFIG */
    uint64_t min;
    uint64_t max;
};

struct options_table {
    const char *program;
    const char *synopsis; /**< behind the program's name: "[OPTION]... [FILE]..." */
    const char *purpose;  /**< a sentence */
    const char *notes;    /**< behind the list of options; NULL: nothing */
    const struct options_entry *entries;
    size_t count;
    const struct options_entry *shared; /**< of several commands; NULL: none */
    size_t shared_count;
    size_t shared_offset; /**< of the struct in CONFIG that they go to */

    /** Take an operand, in the manner of an entry's set(). */
    enum fnet_err (*operand)(void *config, const char *text, const char **why);
};

enum options_result {
    OPTIONS_RUN,     /**< everything was taken */
    OPTIONS_SHOWN,   /**< --help or --version was printed */
    OPTIONS_MISTAKE, /**< and it was said on standard error */
};

/**
 * Read ARGV[1] and what follows, options and operands mixed as the user likes, "--" before
 * operands only; up to the end, or to an option that ends the group. --help and --version are
 * known in every table.
 *
 * @param used  the index of the option that ended the group, else ARGC. The next group is parsed
 *              with argc - used and argv + used: that option stands where the program's name would.
 *              Set with OPTIONS_RUN only.
 */
enum options_result options_parse(const struct options_table *table, void *config, int argc,
                                  char *argv[], int *used);

/** Say a mistake that options_parse() could not see ("program: TEXT" and where to find help). */
__attribute__((format(printf, 2, 3))) void options_mistake(const struct options_table *table,
                                                           const char *format, ...);

/** The exit status after anything but OPTIONS_RUN. Help that could not be written is an error. */
int options_exit(const struct options_table *table, enum options_result result);

#endif
