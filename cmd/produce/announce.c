/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tell whoever waits for it that we listen, and where.
 */
#include "produce/announce.h"

#include <errno.h>
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

static int write_to(const struct server *server, const char *file)
{
    FILE *out = fopen(file, "we");

    return out ? write_addresses(server, out) : -1;
}

/* Under another name first: who sees the file sees all of it. */
static int replace_port_file(const struct server *server, const char *port_file)
{
    char *temporary;

    if (asprintf(&temporary, "%s.%ld", port_file, (long)getpid()) < 0)
        return -1;
    int rc = write_to(server, temporary);
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

/* A FIFO or a device keeps its place. */
static int write_port_file(const struct server *server, const char *port_file)
{
    return is_special(port_file) ? write_to(server, port_file)
                                 : replace_port_file(server, port_file);
}

static int write_ready_fd(const struct server *server, int ready_fd)
{
    FILE *out = fdopen(ready_fd, "w");

    return out ? write_addresses(server, out) : -1;
}

int announce_addresses(const struct report *report, const struct server *server,
                       const char *port_file, int ready_fd)
{
    for (size_t i = 0; i < server_listeners(server); i++) {
        char text[FNET_ADDRESS_TEXT_BYTES];
        fnet_address_format(server_address(server, i), text);
        report_say(report, REPORT_DETAIL, text, "listening");
    }
    if (port_file && write_port_file(server, port_file) != 0) {
        report_error(report, port_file, "cannot write", FNET_SYSTEM, errno);
        return EXIT_LOCAL;
    }
    if (ready_fd >= 0 && write_ready_fd(server, ready_fd) != 0) {
        report_error(report, "--ready-fd", "cannot write", FNET_SYSTEM, errno);
        return EXIT_LOCAL;
    }
    return EXIT_DONE;
}
