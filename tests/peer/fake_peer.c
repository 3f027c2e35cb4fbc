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
 *     send TYPE [FIELD=VALUE]...   a frame; frame_words.c has its fields and what they are else
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
 * is what a producer says by default). `partition` is a name. `sequence` counts by itself. What has
 * no fixed length is given by record=TEXT, fill=N (a record so long), body=HH..., event=EndOfData
 * or EndOfPartition, error=TEXT, missing=TEXT (a PartitionNotFoundException).
 *
 * Every message that comes is printed on a line: its type, and what it says. The status is 0 when
 * the script was played to its end, 1 when something else came, or nothing in time.
 */
#include <arpa/inet.h>
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

#include "frame_words.h"

enum {
    LINE_BYTES = 1024,
    FLOOD_PATIENCE_MS = 200, /* who takes nothing for so long takes no more */
};

struct peer {
    struct conversation conversation;
    struct sockaddr_in address; /* where to connect */
    int listener;
    int fd; /* -1: none */
    bool is_gone;
    struct fnet_decoder *decoder;
    int timeout_ms;
    uint8_t frame[FRAME_BYTES];
};

static int script_line;

void fail(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fprintf(stderr, "fake_peer: line %d: ", script_line);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(1);
}

static bool wait_for(int fd, short events, int timeout_ms)
{
    struct pollfd poll_fd = {.fd = fd, .events = events};

    return poll(&poll_fd, 1, timeout_ms) > 0;
}

/* ---- out --------------------------------------------------------------------------------- */

/* Returns false when the peer is gone, or takes nothing for PATIENCE_MS. */
static bool send_bytes(struct peer *p, const uint8_t *bytes, size_t len, int patience_ms)
{
    while (len > 0 && !p->is_gone) {
        ssize_t n = send(p->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0) {
            bytes += n;
            len -= (size_t)n;
        } else if (errno != EAGAIN) {
            p->is_gone = true;
        } else if (!wait_for(p->fd, POLLOUT, patience_ms)) {
            return false;
        }
    }
    return !p->is_gone;
}

/* ---- in ---------------------------------------------------------------------------------- */

/* Returns false at the end of the connection. */
static bool receive(struct peer *p)
{
    uint8_t *space;
    size_t len;

    if (!wait_for(p->fd, POLLIN, p->timeout_ms))
        fail("nothing came in time");
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
            fail("the connection ended in a payload");
    }
}

static void remember(struct conversation *c, const struct fnet_message *m)
{
    if (m->type != FNET_PARTITION_REQUEST && m->type != FNET_DESCRIPTION_REQUEST)
        return;
    if (c->request_count < REQUESTS_MAX)
        c->requests[c->request_count++] = m->receiver;
}

static void print_message(const struct fnet_message *m)
{
    struct fnet_throwable thrown;
    const char *name = fnet_message_type_name(m->type);

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

/* The next message's type; NULL at the end of the connection. */
static const char *next_message(struct peer *p)
{
    struct fnet_message m;
    enum fnet_err err;

    skip_payload(p);
    while ((err = fnet_decoder_next(p->decoder, &m)) == FNET_AGAIN)
        if (!receive(p))
            return NULL;
    if (err != FNET_OK)
        fail("what came is no message: %s", fnet_strerror(err));
    remember(&p->conversation, &m);
    print_message(&m);
    return fnet_message_type_name(m.type);
}

static void expect(struct peer *p, const char *type, bool are_others_allowed)
{
    for (;;) {
        const char *came = next_message(p);
        if (!came)
            fail("%s expected, but the connection ended", type);
        if (strcmp(came, type) == 0)
            return;
        if (!are_others_allowed && strcmp(came, "AddCredit") != 0)
            fail("%s expected, but %s came", type, came);
    }
}

/* ---- connections ------------------------------------------------------------------------- */

static int accept_one(const struct peer *p)
{
    if (!wait_for(p->listener, POLLIN, p->timeout_ms))
        fail("nobody came in time");
    return accept(p->listener, NULL, NULL);
}

static int connect_one(const struct peer *p)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd >= 0 && connect(fd, (const struct sockaddr *)&p->address, sizeof p->address) != 0)
        fail("connect: %s", strerror(errno));
    return fd;
}

static void open_connection(struct peer *p)
{
    p->fd = p->conversation.is_producer ? accept_one(p) : connect_one(p);
    if (p->fd < 0)
        fail("open: %s", strerror(errno));
    fnet_decoder_free(p->decoder);
    if (fnet_decoder_new(fnet_dialect_newest(), FRAME_BYTES, &p->decoder) != FNET_OK)
        fail("out of memory");
    p->is_gone = false;
    p->conversation.sequence = 0;
    p->conversation.request_count = 0;
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
    ssize_t n = 1;

    while (n > 0 && !p->is_gone) {
        if (!wait_for(p->fd, POLLIN, p->timeout_ms))
            fail("the connection did not end in time");
        n = recv(p->fd, p->frame, sizeof p->frame, 0);
    }
    p->is_gone = true;
}

static void await_file(const struct peer *p, const char *file)
{
    const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};

    for (int waited_ms = 0; access(file, F_OK) != 0; waited_ms += 10) {
        if (waited_ms > p->timeout_ms)
            fail("there is no %s", file);
        nanosleep(&pause, NULL);
    }
}

/* ---- the script -------------------------------------------------------------------------- */

/* What STEP sends stands in P->frame; 0 when it is another step. */
static size_t build(struct peer *p, const struct step *step)
{
    const char *verb = step->words[0];
    struct fnet_writer w = fnet_writer_of(p->frame, sizeof p->frame);

    if (strcmp(verb, "send") == 0 && step->count > 1)
        put_frame(&p->conversation, step, &w);
    for (size_t i = 1; strcmp(verb, "hex") == 0 && i < step->count; i++)
        put_hex(step->words[i], &w);
    if (strcmp(verb, "text") == 0 && step->count > 1)
        fnet_put_bytes(&w, step->words[1], strlen(step->words[1]));
    return sizeof p->frame - fnet_writer_left(&w);
}

/* The frame is built anew each time: its sequence number counts. */
static void flood(struct peer *p, const struct step *step)
{
    struct step sending = {.count = step->count - 1};

    memcpy(sending.words, step->words + 1, sending.count * sizeof *sending.words);
    while (send_bytes(p, p->frame, build(p, &sending), FLOOD_PATIENCE_MS)) {
    }
    puts(p->is_gone ? "flood: the peer is gone" : "flood: the peer takes no more");
    fflush(stdout);
}

static void play(struct peer *p, const struct step *step)
{
    const char *verb = step->words[0];
    const char *object = step->count > 1 ? step->words[1] : "";
    const size_t len = build(p, step);

    if (len > 0) {
        if (!send_bytes(p, p->frame, len, p->timeout_ms) && !p->is_gone)
            fail("the peer takes no more");
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
        flood(p, step);
    } else {
        fail("no step: %s", verb);
    }
}

/* "text" keeps its blanks. */
static struct step split_text(char *text)
{
    char *to = text;

    for (const char *from = text; *from; from++) {
        if (*from == '\\' && (from[1] == 'n' || from[1] == 'r'))
            *to++ = *++from == 'n' ? '\n' : '\r';
        else
            *to++ = *from;
    }
    *to = '\0';
    return (struct step){.words = {"text", text}, .count = 2};
}

static struct step split(char *text)
{
    struct step step = {.count = 0};
    const char *word;

    if (strncmp(text, "text ", 5) == 0)
        return split_text(text + 5);
    while ((word = strsep(&text, " ")) != NULL) {
        if (*word == '\0')
            continue;
        if (step.count == STEP_WORDS)
            fail("too many words");
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
        struct step step = split(text + strspn(text, " "));
        if (step.count > 0)
            play(p, &step);
    }
}

static void play_script(struct peer *p)
{
    static const char repeat[] = "repeat ";
    char buffer[LINE_BYTES];

    while (fgets(buffer, sizeof buffer, stdin)) {
        char *line = buffer;
        long times = 1;
        script_line++;
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, repeat, strlen(repeat)) == 0)
            times = strtol(line + strlen(repeat), &line, 10);
        for (; times > 0; times--)
            play_line(p, line);
    }
}

/* ---- where to ---------------------------------------------------------------------------- */

static void write_port(const char *port_file, unsigned port)
{
    char temporary[4096];

    snprintf(temporary, sizeof temporary, "%s.new", port_file);
    FILE *out = fopen(temporary, "w");
    if (!out)
        fail("%s: %s", temporary, strerror(errno));
    fprintf(out, "127.0.0.1:%u\n", port);
    if (fclose(out) != 0 || rename(temporary, port_file) != 0)
        fail("%s: %s", port_file, strerror(errno));
}

static void listen_at(struct peer *p, const char *port_file)
{
    socklen_t len = sizeof p->address;

    p->address =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    p->listener = socket(AF_INET, SOCK_STREAM, 0);
    if (p->listener < 0 || bind(p->listener, (const struct sockaddr *)&p->address, len) != 0 ||
        listen(p->listener, 64) != 0 ||
        getsockname(p->listener, (struct sockaddr *)&p->address, &len) != 0)
        fail("listen: %s", strerror(errno));
    write_port(port_file, ntohs(p->address.sin_port));
}

static void aim_at(struct peer *p, char *text)
{
    const char *host = strsep(&text, ":");

    p->address = (struct sockaddr_in){.sin_family = AF_INET};
    if (!text || inet_pton(AF_INET, host, &p->address.sin_addr) != 1)
        fail("not HOST:PORT: %s", host);
    p->address.sin_port = htons((uint16_t)number(text));
}

int main(int argc, char *argv[])
{
    static struct peer p = {.listener = -1, .fd = -1};
    const char *timeout = getenv("TIMEOUT");

    if (argc != 3 || (strcmp(argv[1], "listen") != 0 && strcmp(argv[1], "connect") != 0)) {
        fputs("Usage: fake_peer {listen PORT-FILE | connect HOST:PORT} <SCRIPT\n", stderr);
        return 2;
    }
    p.timeout_ms = 1000 * (int)number(timeout ? timeout : "30");
    p.conversation.is_producer = strcmp(argv[1], "listen") == 0;
    if (p.conversation.is_producer)
        listen_at(&p, argv[2]);
    else
        aim_at(&p, argv[2]);
    play_script(&p);
    fnet_decoder_free(p.decoder);
    return 0;
}
