/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tell whoever waits for it that we listen, and where.
 */
#include "produce/announce.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_addresses(const struct server *server, FILE *out)
{
    for (size_t i = 0; i < server_listeners(server); i++) {
        char text[FNET_ADDRESS_TEXT_BYTES];
        fnet_address_format(server_address(server, i), text);
        fprintf(out, "%s\n", text);
    }
    return fclose(out);
}

static bool is_special(const char *file)
{
    struct stat st;

    return stat(file, &st) == 0 && !S_ISREG(st.st_mode);
}

static int write_to(const struct server *server, int fd)
{
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;

    return out ? write_addresses(server, out) : -1;
}

/* Under another name first: who sees the file sees all of it. */
static int replace_port_file(const struct server *server, const char *port_file)
{
    char *temporary;

    if (asprintf(&temporary, "%s.%ld", port_file, (long)getpid()) < 0)
        return -1;
    int rc = write_to(server, open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (rc == 0)
        rc = rename(temporary, port_file);
    if (rc != 0) {
        int saved_errno = errno;
        unlink(temporary);
        errno = saved_errno;
    }
    free(temporary);
    return rc;
}

/* Standard output and error stay open: the next socket would take their place. */
static int write_ready_fd(const struct server *server, int ready_fd)
{
    int fd =
        ready_fd > STDERR_FILENO ? ready_fd : fcntl(ready_fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

    return write_to(server, fd);
}

int announce_open(const struct report *report, const char *port_file, int *port_fd)
{
    *port_fd = -1;
    if (!port_file || !is_special(port_file))
        return EXIT_DONE;
    *port_fd = open(port_file, O_WRONLY | O_CLOEXEC);
    if (*port_fd >= 0)
        return EXIT_DONE;
    report_error(report, port_file, "cannot open", FNET_SYSTEM, errno);
    return EXIT_LOCAL;
}

int announce_addresses(const struct report *report, const struct server *server,
                       const char *port_file, int port_fd, int ready_fd)
{
    int rc = 0;

    for (size_t i = 0; i < server_listeners(server); i++) {
        char text[FNET_ADDRESS_TEXT_BYTES];
        fnet_address_format(server_address(server, i), text);
        report_say(report, REPORT_DETAIL, text, "listening");
    }
    if (port_fd >= 0)
        rc = write_to(server, port_fd);
    else if (port_file)
        rc = replace_port_file(server, port_file);
    if (rc != 0) {
        report_error(report, port_file, "cannot write", FNET_SYSTEM, errno);
        return EXIT_LOCAL;
    }
    if (ready_fd >= 0 && write_ready_fd(server, ready_fd) != 0) {
        report_error(report, "--ready-fd", "cannot write", FNET_SYSTEM, errno);
        return EXIT_LOCAL;
    }
    return EXIT_DONE;
}
