/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli: the exit statuses, the same in every command and in every man page.
 */
#ifndef CLI_EXITCODE_H
#define CLI_EXITCODE_H

enum exit_code {
    EXIT_DONE = 0,        /**< all done */
    EXIT_INCOMPLETE = 1,  /**< data incomplete: a peer left or failed early */
    EXIT_USAGE = 2,       /**< a mistake on the command line */
    EXIT_UNREACHABLE = 3, /**< could not bind, connect, or find the partition in time */
    EXIT_MALFORMED = 4,   /**< malformed data or broken protocol */
    EXIT_LOCAL = 6,       /**< local input/output or resources */
    EXIT_SIGNAL = 128,    /**< plus n: ended by signal n */
};

#endif
