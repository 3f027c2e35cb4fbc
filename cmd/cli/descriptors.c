/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The three descriptors that a program is started with.
 */
#include "cli/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

void descriptors_guard(void)
{
    /* The wrong way round: what is read from or written to them fails with EBADF. The lowest free
     * number is the one that is missing, since those below are there by now. */
    static const int modes[] = {O_WRONLY, O_RDONLY, O_RDONLY};

    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", modes[fd]);
}
