/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests: give the files of a corpus to a fuzz target without a fuzzer, so that every input that
 * ever mattered is part of `make check`. Arguments are files and folders of files.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned replayed;

static void die(const char *path)
{
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    exit(2);
}

static void replay_file(const char *path)
{
    struct stat about;
    FILE *file = fopen(path, "rb");
    if (!file || fstat(fileno(file), &about) != 0)
        die(path);
    size_t size = (size_t)about.st_size;
    /* Exactly as long as the input, so that a sanitizer sees the first byte behind it. */
    uint8_t *data = malloc(size ? size : 1);
    if (!data || fread(data, 1, size, file) != size)
        die(path);
    fclose(file);
    printf("%s\n", path);
    fflush(stdout);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    replayed++;
}

/* The files of a folder in the order of their names; hidden ones do not count. */
static void replay_folder(const char *path)
{
    struct dirent **entries = NULL;
    int n = scandir(path, &entries, NULL, alphasort);
    if (n < 0)
        die(path);
    for (int i = 0; i < n; i++) {
        char inner[4096];
        snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            replay_file(inner);
        free(entries[i]);
    }
    free(entries);
}

int main(int argc, char *argv[])
{
    for (int i = 1; i < argc; i++) {
        struct stat about;
        if (stat(argv[i], &about) == 0 && S_ISDIR(about.st_mode))
            replay_folder(argv[i]);
        else
            replay_file(argv[i]);
    }
    if (replayed == 0)
        fprintf(stderr, "%s: nothing to replay\n", argv[0]);
    return replayed ? 0 : 2;
}
