/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A producer or consumer for tests that does exactly what a script says, right or wrong.
 *
 *     fake_peer listen PORT-FILE <SCRIPT      a producer: its address goes to PORT-FILE, whole
 *     fake_peer connect HOST:PORT <SCRIPT     a consumer
 *
 * The script has steps, one per line or several divided by ";"; "repeat N" before a line plays it
 * N times. A step takes at most TIMEOUT seconds (environment, 30).
 *
 *     open                         accept or open a connection; earlier ones stay as they are
 *     send TYPE [FIELD=VALUE]...   a frame; frames[] below has the fields and what they are else
 *     hex HH...                    bytes
 *     text TEXT                    bytes; \r \n are understood
 *     expect TYPE                  the next message that comes (AddCredit aside) is of this type
 *     await TYPE                   the same, others before it do not matter
 *     end                          the peer ends the connection
 *     half                         close our half
 *     close / reset                close the connection, in order or not
 *     wait FILE                    until FILE exists
 *     flood STEP                   again and again, until the peer takes no more or is gone
 *
 * Fields hold numbers, 0x allowed. `length` and `magic` belong to every frame. `receiver` is a
 * number that fills all 16 bytes, or @N for the receiver of the Nth request that came, from 0 (@0
 * is what a producer says by default). `partition` is a name. `sequence` counts by itself. What
 * follows the fixed fields of a frame is given by record=TEXT, fill=N (a record so long), body=HH...,
 * event=EndOfData or EndOfPartition, error=TEXT, missing=TEXT (a PartitionNotFoundException).
 *
 * Every message that comes is printed on a line: its type, and what it says. The status is 0 when
 * the script was played to its end, 1 when something else came, or nothing in time.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "fnet/fnet.h"

enum {
    LINE_BYTES = 1024,
    STEP_WORDS = 24,
    REQUESTS_MAX = 64,
    FRAME_BYTES = 1 << 20,
    FLOOD_PATIENCE_MS = 200, /* who takes nothing for so long takes no more */
};

/* The body of a frame: "name:bytes=default", and the names of what has a form of its own. */
static const struct {
    const char *name;
    uint8_t type;
    const char *body;
} frames[] = {
    {"BufferResponse", 0,
     "receiver subpartition:4=0 partials:4=0 sequence:4=next backlog:4=0 type:1=1 compressed:1=0 "
     "size:4=rest rest"},
    {"ErrorResponse", 1, "rest addressed:1=1 receiver"},
    {"FatalErrorResponse", 1, "rest addressed:1=0"},
    {"PartitionRequest", 2, "partition first:4=0 last:4=0 receiver credit:4=2"},
    {"TaskEventRequest", 3, "size:4=rest rest partition receiver"},
    {"CancelPartitionRequest", 4, "receiver"},
    {"CloseRequest", 5, ""},
    {"AddCredit", 6, "credit:4=1 receiver"},
    {"ResumeConsumption", 7, "receiver"},
    {"AckAllUserRecordsProcessed", 8, "receiver"},
    {"BacklogAnnouncement", 9, "backlog:4=1 receiver"},
    {"NewBufferSize", 10, "size:4=16384 receiver"},
    {"SegmentId", 11, "subpartition:4=0 segment:4=1 receiver"},
    {"DescriptionRequest", 64, "receiver all:1=0 partition"},
    {"DescriptionResponse", 65,
     "receiver remaining:4=0 partition subpartitions:4=1 kind:1=1 format:1=0 state:1=0 "
     "length_of_name:1=rest rest"},
};

struct peer {
    bool is_listening;
    struct sockaddr_in address; /* where to connect */
    int listener;
    int fd; /* -1: none */
    bool is_gone;
    struct fnet_decoder *decoder;
    struct fnet_id requests[REQUESTS_MAX]; /* their receivers */
    size_t request_count;
    uint32_t sequence;
    int timeout_ms;
    int line; /* of the script */
    uint8_t frame[FRAME_BYTES];
};

__attribute__((format(printf, 2, 3))) static _Noreturn void fail(const struct peer *p,
                                                                 const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fprintf(stderr, "fake_peer: line %d: ", p->line);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(1);
}

static void say(const char *text)
{
    puts(text);
    fflush(stdout);
}

/* ---- steps in words ---------------------------------------------------------------------- */

struct step {
    const char *words[STEP_WORDS];
    size_t count;
};

/* VALUE of the field "NAME=VALUE"; NULL when it is not given. */
static const char *field(const struct step *step, const char *name, size_t len)
{
    for (size_t i = 2; i < step->count; i++)
        if (strncmp(step->words[i], name, len) == 0 && step->words[i][len] == '=')
            return step->words[i] + len + 1;
    return NULL;
}

static const char *field_named(const struct step *step, const char *name)
{
    return field(step, name, strlen(name));
}

static uint64_t number(const struct peer *p, const char *text)
{
    char *end;
    long long value = strtoll(text, &end, 0);

    if (end == text || *end)
        fail(p, "not a number: %s", text);
    return (uint64_t)value;
}

static void put_hex(const struct peer *p, const char *text, struct fnet_writer *w)
{
    unsigned byte;

    for (; *text; text += 2) {
        if (sscanf(text, "%2x", &byte) != 1 || !isxdigit((unsigned char)text[1]))
            fail(p, "not hex: %s", text);
        fnet_put_u8(w, (uint8_t)byte);
    }
}

/* ---- frames out -------------------------------------------------------------------------- */

static void put_receiver(const struct peer *p, const struct step *step, struct fnet_writer *w)
{
    const char *value = field_named(step, "receiver");
    struct fnet_id id = {.bytes = {0}};

    if (!value)
        value = p->is_listening ? "@0" : "1";
    if (value[0] == '@') {
        size_t i = number(p, value + 1);
        if (i >= p->request_count)
            fail(p, "no request %s came", value);
        id = p->requests[i];
    } else {
        memset(id.bytes, (int)number(p, value), sizeof id.bytes);
    }
    fnet_put_id(w, &id);
}

static void put_partition(const struct peer *p, const struct step *step, struct fnet_writer *w)
{
    const char *name = field_named(step, "partition");
    struct fnet_partition_id id;

    if (fnet_partition_id_parse(name ? name : "main", &id) != FNET_OK)
        fail(p, "not a partition: %s", name);
    fnet_put_partition_id(w, &id);
}

/* The part of a frame that has no fixed length. */
static void put_rest(const struct peer *p, const struct step *step, struct fnet_writer *w)
{
    const char *value;

    if ((value = field_named(step, "record")) != NULL) {
        fnet_put_u32(w, (uint32_t)strlen(value));
        fnet_put_bytes(w, value, strlen(value));
    }
    if ((value = field_named(step, "fill")) != NULL) {
        fnet_put_u32(w, (uint32_t)number(p, value));
        for (uint64_t n = number(p, value); n > 0; n--)
            fnet_put_u8(w, 'x');
    }
    if ((value = field_named(step, "body")) != NULL)
        put_hex(p, value, w);
    if ((value = field_named(step, "event")) != NULL)
        put_hex(p, strcmp(value, "EndOfData") == 0 ? "0000000800" : "00000000", w);
    for (int missing = 0; missing < 2; missing++)
        if ((value = field_named(step, missing ? "missing" : "error")) != NULL &&
            fnet_throwable_encode(missing, value, w) != FNET_OK)
            fail(p, "no room for the error");
}

static uint64_t default_of(struct peer *p, const struct step *step, const char *name,
                           const char *value, size_t rest)
{
    const char *event = field_named(step, "event");

    if (strcmp(value, "next") == 0)
        return p->sequence;
    if (strcmp(value, "rest") == 0)
        return rest;
    if (event && strcmp(name, "type") == 0)
        return strcmp(event, "EndOfData") == 0 ? FNET_END_OF_DATA : FNET_END_OF_PARTITION;
    return number(p, value);
}

static void put_field(struct peer *p, const struct step *step, const char *spec, size_t rest,
                      struct fnet_writer *w)
{
    char name[32];
    char value[16];
    int bytes;

    if (sscanf(spec, "%31[a-z_]:%d=%15s", name, &bytes, value) != 3)
        fail(p, "no field: %s", spec);
    const char *given = field_named(step, name);
    uint64_t n = given ? number(p, given) : default_of(p, step, name, value, rest);
    if (strcmp(name, "sequence") == 0)
        p->sequence = (uint32_t)n + 1;
    if (bytes == 4)
        fnet_put_u32(w, (uint32_t)n);
    else
        fnet_put_u8(w, (uint8_t)n);
}

static void put_body(struct peer *p, const struct step *step, const char *body,
                     struct fnet_writer *w)
{
    static uint8_t bytes[FRAME_BYTES];
    struct fnet_writer rest = fnet_writer_of(bytes, sizeof bytes);
    char specs[256];
    char *next = specs;
    char *spec;

    put_rest(p, step, &rest);
    const size_t rest_len = sizeof bytes - fnet_writer_left(&rest);
    snprintf(specs, sizeof specs, "%s", body);
    while ((spec = strsep(&next, " ")) != NULL) {
        if (strcmp(spec, "receiver") == 0)
            put_receiver(p, step, w);
        else if (strcmp(spec, "partition") == 0)
            put_partition(p, step, w);
        else if (strcmp(spec, "rest") == 0)
            fnet_put_bytes(w, bytes, rest_len);
        else if (*spec)
            put_field(p, step, spec, rest_len, w);
    }
}

/* Returns the length of the frame, which stands in P. */
static size_t build_frame(struct peer *p, const struct step *step)
{
    const size_t count = sizeof frames / sizeof *frames;
    struct fnet_writer w = fnet_writer_of(p->frame, sizeof p->frame);
    const char *length = field_named(step, "length");
    const char *magic = field_named(step, "magic");
    size_t i = 0;

    while (i < count && strcmp(frames[i].name, step->words[1]) != 0)
        i++;
    if (i == count)
        fail(p, "no message: %s", step->words[1]);
    fnet_put_u32(&w, 0);
    fnet_put_u32(&w, magic ? (uint32_t)number(p, magic) : FNET_MAGIC);
    fnet_put_u8(&w, frames[i].type);
    put_body(p, step, frames[i].body, &w);
    size_t len = sizeof p->frame - fnet_writer_left(&w);
    fnet_store_be32(p->frame, length ? (uint32_t)number(p, length) : (uint32_t)len);
    return len;
}

/* Returns false when the peer is gone, or takes nothing for PATIENCE_MS. */
static bool send_bytes(struct peer *p, const uint8_t *bytes, size_t len, int patience_ms)
{
    struct pollfd poll_fd = {.fd = p->fd, .events = POLLOUT};

    while (len > 0 && !p->is_gone) {
        ssize_t n = send(p->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0) {
            bytes += n;
            len -= (size_t)n;
        } else if (errno != EAGAIN) {
            p->is_gone = true;
        } else if (poll(&poll_fd, 1, patience_ms) == 0) {
            return false;
        }
    }
    return !p->is_gone;
}

/* ---- messages in ------------------------------------------------------------------------- */

/* Returns false at the end of the connection. */
static bool receive(struct peer *p)
{
    struct pollfd poll_fd = {.fd = p->fd, .events = POLLIN};
    uint8_t *space;
    size_t len;

    if (poll(&poll_fd, 1, p->timeout_ms) == 0)
        fail(p, "nothing came in time");
    fnet_decoder_space(p->decoder, &space, &len);
    ssize_t n = recv(p->fd, space, len, 0);
    if (n <= 0) {
        p->is_gone = true;
        return false;
    }
    fnet_decoder_commit(p->decoder, (size_t)n);
    return true;
}

static void skip_payload(struct peer *p)
{
    while (fnet_decoder_payload_left(p->decoder) > 0) {
        size_t staged = fnet_decoder_payload(p->decoder).len;
        if (staged > 0)
            fnet_decoder_take(p->decoder, staged);
        else if (!receive(p))
            fail(p, "the connection ended in a payload");
    }
}

static void remember(struct peer *p, const struct fnet_message *m)
{
    if (m->type != FNET_PARTITION_REQUEST && m->type != FNET_DESCRIPTION_REQUEST)
        return;
    if (p->request_count < REQUESTS_MAX)
        p->requests[p->request_count++] = m->receiver;
}

static void print_message(const struct fnet_message *m)
{
    struct fnet_throwable thrown;
    const char *name = fnet_message_type_name((uint8_t)m->type);

    if (m->type == FNET_BUFFER_RESPONSE)
        printf("%s sequence=%d backlog=%d %s size=%u\n", name, m->buffer.sequence,
               m->buffer.backlog, fnet_data_type_name(m->buffer.data_type), m->buffer.size);
    else if (m->type == FNET_PARTITION_REQUEST)
        printf("%s first=%d last=%d credit=%d\n", name, m->request.first, m->request.last,
               m->request.credit);
    else if (m->type == FNET_ADD_CREDIT)
        printf("%s credit=%d\n", name, m->credit);
    else if (m->type == FNET_BACKLOG_ANNOUNCEMENT)
        printf("%s backlog=%d\n", name, m->backlog);
    else if (m->type == FNET_ERROR_RESPONSE &&
             fnet_throwable_decode(m->error.throwable, &thrown) == FNET_OK)
        printf("%s%s %s: %s\n", name, m->error.has_receiver ? "" : " fatal", thrown.class_name,
               thrown.message);
    else
        printf("%s\n", name);
    fflush(stdout);
}

/* The next message; NULL at the end of the connection. */
static const char *next_message(struct peer *p)
{
    struct fnet_message m;
    enum fnet_err err;

    skip_payload(p);
    while ((err = fnet_decoder_next(p->decoder, &m)) == FNET_AGAIN)
        if (!receive(p))
            return NULL;
    if (err != FNET_OK)
        fail(p, "what came is no message: %s", fnet_strerror(err));
    remember(p, &m);
    print_message(&m);
    return fnet_message_type_name((uint8_t)m.type);
}

static void expect(struct peer *p, const char *type, bool are_others_allowed)
{
    for (;;) {
        const char *came = next_message(p);
        if (!came)
            fail(p, "%s expected, but the connection ended", type);
        if (strcmp(came, type) == 0)
            return;
        if (!are_others_allowed && strcmp(came, "AddCredit") != 0)
            fail(p, "%s expected, but %s came", type, came);
    }
}

/* ---- connections ------------------------------------------------------------------------- */

static void open_connection(struct peer *p)
{
    struct pollfd poll_fd = {.fd = p->listener, .events = POLLIN};

    if (p->is_listening) {
        if (poll(&poll_fd, 1, p->timeout_ms) == 0)
            fail(p, "nobody came in time");
        p->fd = accept(p->listener, NULL, NULL);
    } else {
        p->fd = socket(AF_INET, SOCK_STREAM, 0);
        if (p->fd >= 0 &&
            connect(p->fd, (const struct sockaddr *)&p->address, sizeof p->address) != 0)
            fail(p, "connect: %s", strerror(errno));
    }
    if (p->fd < 0)
        fail(p, "open: %s", strerror(errno));
    fnet_decoder_free(p->decoder);
    if (fnet_decoder_new(FRAME_BYTES, &p->decoder) != FNET_OK)
        fail(p, "out of memory");
    p->is_gone = false;
    p->sequence = 0;
    p->request_count = 0;
}

static void close_connection(struct peer *p, bool is_reset)
{
    const struct linger linger = {.l_onoff = 1, .l_linger = 0};

    if (is_reset)
        setsockopt(p->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    close(p->fd);
    p->fd = -1;
}

static void await_end(struct peer *p)
{
    while (!p->is_gone && receive(p)) {
        uint8_t scrap[4096];
        struct pollfd poll_fd = {.fd = p->fd, .events = POLLIN};
        while (poll(&poll_fd, 1, p->timeout_ms) > 0 && recv(p->fd, scrap, sizeof scrap, 0) > 0)
            continue;
        p->is_gone = true;
    }
}

static void await_file(struct peer *p, const char *file)
{
    const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};

    for (int waited_ms = 0; access(file, F_OK) != 0; waited_ms += 10) {
        if (waited_ms > p->timeout_ms)
            fail(p, "there is no %s", file);
        nanosleep(&pause, NULL);
    }
}

/* ---- the script -------------------------------------------------------------------------- */

/* WORDS that are sent as they are; false when STEP is another one. */
static bool play_sending(struct peer *p, const struct step *step, int patience_ms, bool *is_taken)
{
    const char *verb = step->words[0];
    struct fnet_writer w = fnet_writer_of(p->frame, sizeof p->frame);
    size_t len;

    if (strcmp(verb, "send") == 0 && step->count > 1) {
        len = build_frame(p, step);
    } else if (strcmp(verb, "hex") == 0 || strcmp(verb, "text") == 0) {
        for (size_t i = 1; i < step->count; i++)
            if (*verb == 'h')
                put_hex(p, step->words[i], &w);
            else
                fnet_put_bytes(&w, step->words[i], strlen(step->words[i]));
        len = sizeof p->frame - fnet_writer_left(&w);
    } else {
        return false;
    }
    *is_taken = send_bytes(p, p->frame, len, patience_ms);
    return true;
}

static void play(struct peer *p, const struct step *step)
{
    const char *verb = step->words[0];
    const char *object = step->count > 1 ? step->words[1] : "";
    bool is_taken = true;

    if (play_sending(p, step, p->timeout_ms, &is_taken)) {
        if (!is_taken && !p->is_gone)
            fail(p, "the peer takes no more");
    } else if (strcmp(verb, "open") == 0) {
        open_connection(p);
    } else if (strcmp(verb, "expect") == 0) {
        expect(p, object, false);
    } else if (strcmp(verb, "await") == 0) {
        expect(p, object, true);
    } else if (strcmp(verb, "end") == 0) {
        await_end(p);
    } else if (strcmp(verb, "half") == 0) {
        shutdown(p->fd, SHUT_WR);
    } else if (strcmp(verb, "close") == 0 || strcmp(verb, "reset") == 0) {
        close_connection(p, *verb == 'r');
    } else if (strcmp(verb, "wait") == 0) {
        await_file(p, object);
    } else if (strcmp(verb, "flood") == 0 && step->count > 1) {
        struct step sending = {.count = step->count - 1};
        memcpy(sending.words, step->words + 1, sending.count * sizeof *sending.words);
        while (is_taken && play_sending(p, &sending, FLOOD_PATIENCE_MS, &is_taken))
            continue;
        say(p->is_gone ? "flood: the peer is gone" : "flood: the peer takes no more");
    } else {
        fail(p, "no step: %s", verb);
    }
}

/* "text" keeps its blanks; everywhere else they divide words. */
static struct step split(const struct peer *p, char *text)
{
    struct step step = {.count = 0};
    char *word;

    if (strncmp(text, "text ", 5) == 0) {
        char *to = text + 5;
        step = (struct step){.words = {"text", to}, .count = 2};
        for (char *from = to; *from; from++) {
            if (*from == '\\' && (from[1] == 'n' || from[1] == 'r'))
                *to++ = *++from == 'n' ? '\n' : '\r';
            else
                *to++ = *from;
        }
        *to = '\0';
        return step;
    }
    while ((word = strsep(&text, " ")) != NULL) {
        if (*word == '\0')
            continue;
        if (step.count == STEP_WORDS)
            fail(p, "too many words");
        step.words[step.count++] = word;
    }
    return step;
}

static void play_line(struct peer *p, const char *line)
{
    char copy[LINE_BYTES];
    char *next = copy;
    char *text;

    snprintf(copy, sizeof copy, "%s", line);
    while ((text = strsep(&next, ";")) != NULL) {
        struct step step = split(p, text + strspn(text, " "));
        if (step.count > 0)
            play(p, &step);
    }
}

static void play_script(struct peer *p)
{
    char line[LINE_BYTES];

    while (fgets(line, sizeof line, stdin)) {
        long times = 1;
        int skip = 0;

        p->line++;
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, " repeat %ld %n", &times, &skip) < 1)
            times = 1;
        for (; times > 0; times--)
            play_line(p, line + skip);
    }
}

/* ---- where to ------------------------------------------------------------------------------ */

static void listen_at(struct peer *p, const char *port_file)
{
    socklen_t len = sizeof p->address;
    char temporary[4096];

    p->address =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    p->listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(p->listener, (const struct sockaddr *)&p->address, len) != 0 ||
        listen(p->listener, 64) != 0 ||
        getsockname(p->listener, (struct sockaddr *)&p->address, &len) != 0)
        fail(p, "listen: %s", strerror(errno));
    snprintf(temporary, sizeof temporary, "%s.new", port_file);
    FILE *out = fopen(temporary, "w");
    if (!out)
        fail(p, "%s: %s", temporary, strerror(errno));
    fprintf(out, "127.0.0.1:%u\n", (unsigned)ntohs(p->address.sin_port));
    if (fclose(out) != 0 || rename(temporary, port_file) != 0)
        fail(p, "%s: %s", port_file, strerror(errno));
}

static void connect_to(struct peer *p, const char *text)
{
    char host[64];
    unsigned port;

    if (sscanf(text, "%63[0-9.]:%u", host, &port) != 2)
        fail(p, "not HOST:PORT: %s", text);
    p->address = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    if (inet_pton(AF_INET, host, &p->address.sin_addr) != 1)
        fail(p, "not an address: %s", host);
}

int main(int argc, char *argv[])
{
    static struct peer p = {.listener = -1, .fd = -1};
    const char *timeout = getenv("TIMEOUT");

    if (argc != 3 || (strcmp(argv[1], "listen") != 0 && strcmp(argv[1], "connect") != 0)) {
        fputs("Usage: fake_peer {listen PORT-FILE | connect HOST:PORT} <SCRIPT\n", stderr);
        return 2;
    }
    p.timeout_ms = 1000 * (timeout ? atoi(timeout) : 30);
    p.is_listening = strcmp(argv[1], "listen") == 0;
    if (p.is_listening)
        listen_at(&p, argv[2]);
    else
        connect_to(&p, argv[2]);
    play_script(&p);
    fnet_decoder_free(p.decoder);
    return 0;
}
