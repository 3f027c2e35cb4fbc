/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/descriptors: standard descriptors that were closed are not taken by anything else.
 */
#include "cli/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../tap.h"

/* In a child without the descriptors of MASK: exit 0 if after the guard each gives EBADF when it
 * is used and no file opened later gets its number. */
static int child_without(int mask)
{
    pid_t pid = fork();

    if (pid == 0) {
        char byte = 0;
        for (int fd = 0; fd < 3; fd++)
            if (mask & (1 << fd))
                close(fd);
        descriptors_guard();
        int next = open("/dev/null", O_RDWR);
        int bad = next < 3;
        if (mask & 1)
            bad |= read(0, &byte, 1) != -1 || errno != EBADF;
        if (mask & 2)
            bad |= write(1, &byte, 1) != -1 || errno != EBADF;
        if (mask & 4)
            bad |= write(2, &byte, 1) != -1 || errno != EBADF;
        _exit(bad);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    return status;
}

int main(void)
{
    CASE("whatever is missing is replaced by what cannot be used");
    for (int mask = 0; mask < 8; mask++)
        CHECK_INT(child_without(mask), 0);
    return tap_done();
}
