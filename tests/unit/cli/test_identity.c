/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/identity: one file under several names is one file.
 */
#include "cli/identity.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../tap.h"

static bool are_same(struct identity a, struct identity b)
{
    return identity_is_same(&a, &b);
}

int main(void)
{
    char dir[] = "/tmp/fnet-identity.XXXXXX";
    char *made = mkdtemp(dir);

    CASE("a place for the files");
    if (!CHECK(made && chdir(made) == 0))
        return tap_done();
    int fd = open("a", O_WRONLY | O_CREAT, 0600);
    int other = open("b", O_WRONLY | O_CREAT, 0600);
    CHECK_INT(link("a", "hard"), 0);
    CHECK_INT(symlink("a", "soft"), 0);
    CHECK_INT(mkfifo("pipe", 0600), 0);

    CASE("a file is the same under all its names and descriptors");
    CHECK(are_same(identity_of_fd(fd), identity_of_path("a")));
    CHECK(are_same(identity_of_fd(fd), identity_of_path("./a")));
    CHECK(are_same(identity_of_fd(fd), identity_of_path("hard")));
    CHECK(are_same(identity_of_fd(fd), identity_of_path("soft")));
    CHECK(identity_of_fd(fd).is_regular);

    CASE("another file is another");
    CHECK(!are_same(identity_of_fd(fd), identity_of_fd(other)));

    CASE("a pipe is the same too, but not regular");
    CHECK(are_same(identity_of_path("pipe"), identity_of_path("./pipe")));
    CHECK(!identity_of_path("pipe").is_regular);

    CASE("/dev/null, -, nothing and what is missing are never the same as anything");
    CHECK(!are_same(identity_of_path("/dev/null"), identity_of_path("/dev/null")));
    CHECK(!are_same(identity_of_path("-"), identity_of_path("-")));
    CHECK(!are_same(identity_of_path(NULL), identity_of_path(NULL)));
    CHECK(!are_same(identity_of_path("missing"), identity_of_path("missing")));

    close(fd);
    close(other);
    unlink("a");
    unlink("b");
    unlink("hard");
    unlink("soft");
    unlink("pipe");
    CHECK_INT(rmdir(made), 0);
    return tap_done();
}
