/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fnet-inspect: shows the messages in captured traffic of fnet and of Flink.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/compression.h"
#include "cli/descriptors.h"
#include "cli/options.h"
#include "cli/serde.h"
#include "inspect/capture_input.h"
#include "inspect/pipeline.h"

struct inspect {
    struct report report;
    struct problems problems;
    struct pipeline_config config;
    bool is_strict;
    int output_errno;   /* why standard output failed; 0: it did not */
    const char **files; /* as many as operands, in argv's memory */
    size_t file_count;
    struct capture_input input;
    struct pipeline *pipeline; /* of the file that is read */
};

/* ---- options ----------------------------------------------------------------------------- */

static enum fnet_err add_file(void *inspect, const char *text, const char **why)
{
    struct inspect *i = inspect;

    (void)why;
    i->files[i->file_count++] = text;
    return FNET_OK;
}

static enum fnet_err set_serde(void *inspect, const char *text, const char **why)
{
    return serde_parse(text, &((struct inspect *)inspect)->config.print.serde, why);
}

static enum fnet_err set_dialect(void *inspect, const char *text, const char **why)
{
    const struct fnet_dialect **dialect = &((struct inspect *)inspect)->config.dialect;

    if (strcmp(text, "auto") == 0) {
        *dialect = NULL;
        return FNET_OK;
    }
    enum fnet_err err = fnet_dialect_parse(text, dialect);
    if (err != FNET_OK)
        *why = "neither auto nor a version of Flink from 1.5 to 2.4, as in 1.17 or 1.11.3";
    return err;
}

static enum fnet_err set_codec(void *inspect, const char *text, const char **why)
{
    enum fnet_codec *codec = &((struct inspect *)inspect)->config.codec;

    if (strcmp(text, "auto") == 0) {
        *codec = FNET_CODEC_NONE;
        return FNET_OK;
    }
    enum fnet_err err = compression_parse(text, codec, why);
    if (err == FNET_INVALID)
        *why = "not auto, lz4, zstd or lzo";
    return err;
}

#define MEMBER(member) .offset = offsetof(struct inspect, member)

static const struct options_entry entries[] = {
    {.name = "json",
     .letter = 'j',
     .help = "a JSON object per line",
     .value = OPTIONS_FLAG,
     MEMBER(config.print.is_json)},
    {.name = "summary",
     .letter = 's',
     .help = "only what each connection and channel amounted to",
     .value = OPTIONS_FLAG,
     MEMBER(config.print.is_summary)},
    {.name = "records",
     .help = "decode records, too",
     .value = OPTIONS_FLAG,
     MEMBER(config.print.has_records)},
    {.name = "serde",
     .argument = "S",
     .help = "with --records: raw (default), or they are Flink's elements\n"
             "of string, long, int, bytes or tuple(TYPE,...)",
     .set = set_serde},
    {.name = "dialect",
     .argument = "V",
     .help = "read as Flink V writes, 1.5 to 2.4; auto (default): find it out\n"
             "for each connection",
     .set = set_dialect},
    {.name = "codec",
     .argument = "C",
     .help = "what compressed buffers are compressed with: lz4, zstd or,\n"
             "where fnet was built with it, lzo; auto (default): each tells",
     .set = set_codec},
    {.letter = 'x',
     .help = "hex dump of payloads, too",
     .value = OPTIONS_FLAG,
     MEMBER(config.print.has_payload)},
    {.name = "strict",
     .help = "exit 4 if anything was malformed, cut or missing",
     .value = OPTIONS_FLAG,
     MEMBER(is_strict)},
    {.name = "quiet",
     .letter = 'q',
     .help = "say errors only",
     .value = OPTIONS_CONSTANT,
     .min = REPORT_ERROR,
     MEMBER(report.most)},
    {.name = "verbose",
     .letter = 'v',
     .help = "say every problem",
     .value = OPTIONS_CONSTANT,
     .min = REPORT_DETAIL,
     MEMBER(report.most)},
};

static const struct options_table table = {
    .program = "fnet-inspect",
    .synopsis = "[OPTION]... FILE...",
    .purpose = "Show the messages in captured traffic of fnet and of Apache Flink.",
    .notes = "FILE is a pcap or pcapng capture, an fnet trace, or raw stream bytes, told by its\n"
             "content; - is standard input.",
    .entries = entries,
    .count = sizeof entries / sizeof *entries,
    .operand = add_file,
};

/* ---- files ------------------------------------------------------------------------------- */

/* Looked at soon after each write, while errno still says why. */
static bool is_output_broken(struct inspect *i)
{
    if (i->input.is_output_gone)
        i->output_errno = EPIPE;
    else if (ferror(i->config.out) && !i->output_errno)
        i->output_errno = errno;
    return i->output_errno != 0;
}

static enum fnet_err give_space(void *inspect, uint8_t **ptr, size_t *len)
{
    struct inspect *i = inspect;

    return pipeline_space(i->pipeline, ptr, len);
}

/* FNET_EOF: nobody can read the output any more. */
static enum fnet_err take_bytes(void *inspect, size_t n)
{
    struct inspect *i = inspect;
    enum fnet_err err = pipeline_commit(i->pipeline, n);

    return err == FNET_OK && is_output_broken(i) ? FNET_EOF : err;
}

/* Everything that can be read from FD into a pipeline. */
static enum fnet_err inspect_bytes(struct inspect *i, const char *name, int fd)
{
    const struct capture_sink sink = {.space = give_space, .commit = take_bytes, .arg = i};
    enum fnet_err err = pipeline_new(&i->config, name, &i->pipeline);

    if (err != FNET_OK)
        return err;
    err = capture_input_drain(&i->input, fd, &sink);
    if (err == FNET_OK && !is_output_broken(i))
        err = pipeline_finish(i->pipeline);
    pipeline_free(i->pipeline);
    return err;
}

static int inspect_file(struct inspect *i, const char *path)
{
    const bool is_stdin = strcmp(path, "-") == 0;
    const char *name = is_stdin ? "standard input" : path;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        report_error(&i->report, name, "open", FNET_SYSTEM, errno);
        return EXIT_LOCAL;
    }
    if (i->file_count > 1 && !i->config.print.is_json)
        fprintf(i->config.out, "==> %s <==\n", name);
    enum fnet_err err = inspect_bytes(i, name, fd);
    /* What is wrong with the file was said. */
    if (fnet_err_class(err) == FNET_CLASS_SYSTEM)
        report_error(&i->report, name, "read", err, errno);
    if (!is_stdin)
        close(fd);
    return report_exit_code(err);
}

/* The status of all files together: their own, what is wrong in them, the output, a signal. */
static int finish(struct inspect *i, int status)
{
    problems_finish(&i->problems);
    if (i->is_strict && i->problems.count) {
        report_say(&i->report, REPORT_ERROR, NULL, "data malformed, cut or missing: %" PRIu64 "%s",
                   i->problems.count, i->problems.count == 1 ? " problem" : " problems");
        status = status == EXIT_DONE ? EXIT_MALFORMED : status;
    }
    fflush(i->config.out);
    if (is_output_broken(i)) {
        if (i->output_errno == EPIPE)
            return EXIT_SIGNAL + SIGPIPE;
        report_error(&i->report, "standard output", "write", FNET_SYSTEM, i->output_errno);
        return EXIT_LOCAL;
    }
    return i->input.signal ? EXIT_SIGNAL + i->input.signal : status;
}

/* What the table cannot see. */
static bool is_sensible(const struct inspect *i)
{
    const struct print_options *print = &i->config.print;

    if (i->file_count == 0)
        options_mistake(&table, "no FILE given (- is standard input)");
    else if (print->is_summary && (print->is_json || print->has_records || print->has_payload))
        options_mistake(&table, "--summary: not together with --json, --records or -x");
    else if (!fnet_serde_is_raw(&print->serde) && !print->has_records)
        options_mistake(&table, "--serde: only together with --records");
    else
        return true;
    return false;
}

static int run(struct inspect *i, int argc, char *argv[])
{
    int status = EXIT_DONE;
    int used;

    enum options_result result = options_parse(&table, i, argc, argv, &used);
    if (result != OPTIONS_RUN)
        return options_exit(&table, result);
    if (!is_sensible(i))
        return EXIT_USAGE;
    signal(SIGPIPE, SIG_IGN);
    enum fnet_err err = capture_input_open(&i->input);
    if (err == FNET_INVALID)
        options_mistake(&table, "FNET_LOOP: neither epoll nor poll");
    else if (err != FNET_OK)
        report_error(&i->report, NULL, "event loop", err, errno);
    if (err != FNET_OK)
        return report_exit_code(err);
    for (size_t n = 0; n < i->file_count && !is_output_broken(i) && !i->input.signal; n++) {
        int code = inspect_file(i, i->files[n]);
        status = code > status ? code : status;
    }
    return finish(i, status);
}

int main(int argc, char *argv[])
{
    descriptors_guard();

    struct inspect *i = calloc(1, sizeof *i);
    const char **files = calloc((size_t)argc + 1, sizeof *files);
    int status = EXIT_LOCAL;

    if (i && files) {
        i->report = (struct report){.program = table.program, .most = REPORT_NOTE};
        i->problems.report = &i->report;
        i->config.problems = &i->problems;
        i->config.spill_dir = getenv("TMPDIR");
        i->config.out = stdout;
        i->files = files;
        status = run(i, argc, argv);
    } else {
        perror(table.program);
    }
    if (i)
        capture_input_close(&i->input);
    free(files);
    free(i);
    return status;
}
