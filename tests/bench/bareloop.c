/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench: the bare loop, the bar that fnet is measured against. It splits lines, copies each behind
 * its length into the 32 KiB buffers of four subpartitions in turn, and sends full buffers over one
 * TCP connection; the other side joins the lines again. No flow control, no events, no checks.
 *
 *     bareloop send PORT-FILE < FILE        listens on a free port, whose number goes to PORT-FILE
 *     bareloop receive PORT > FILE
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
    SUBPARTITIONS = 4,
    BUFFER_BYTES = 32 << 10,
    HEAD_BYTES = 8,                             /* length of the frame, subpartition */
    LINE_BYTES = BUFFER_BYTES - HEAD_BYTES - 4, /* longest line: none spans buffers */
    READ_BYTES = 256 << 10,
    WRITE_BYTES = 256 << 10,
    BLOCK = 64, /* bytes searched for line ends, or copied, at once */
};

struct buffer {
    uint8_t bytes[BUFFER_BYTES + BLOCK];
    uint32_t used;
};

static _Noreturn void die(const char *what)
{
    perror(what);
    exit(6);
}

static _Noreturn void die_of_length(void)
{
    fprintf(stderr, "bareloop: a line is longer than %d bytes\n", LINE_BYTES);
    exit(2);
}

static void write_all(int fd, const uint8_t *bytes, size_t len)
{
    while (len) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0)
            die("write");
        bytes += n;
        len -= (size_t)n;
    }
}

/* A bit for each line end in the 64 bytes at P. */
static uint64_t line_ends(const uint8_t *p)
{
    uint64_t bits = 0;
#ifdef __SSE2__
    for (int i = 0; i < BLOCK / 16; i++) {
        __m128i piece = _mm_loadu_si128((const void *)(p + 16 * i));
        __m128i is_end = _mm_cmpeq_epi8(piece, _mm_set1_epi8('\n'));
        bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(is_end) << (16 * i);
    }
#else
    for (int i = 0; i < BLOCK; i++)
        bits |= (uint64_t)(p[i] == '\n') << i;
#endif
    return bits;
}

/* Short pieces are copied as one block, inline: both sides have BLOCK bytes to spare. */
static void copy(uint8_t *to, const uint8_t *from, size_t len)
{
    memcpy(to, from, BLOCK);
    if (len > BLOCK)
        memcpy(to + BLOCK, from + BLOCK, len - BLOCK);
}

static void flush(int fd, struct buffer *b, uint32_t subpartition)
{
    memcpy(b->bytes, &b->used, sizeof b->used);
    memcpy(b->bytes + 4, &subpartition, sizeof subpartition);
    write_all(fd, b->bytes, b->used);
    b->used = HEAD_BYTES;
}

static void append(int fd, struct buffer *buffers, uint32_t turn, const uint8_t *line, size_t len)
{
    struct buffer *b = &buffers[turn];
    if (b->used + 4 + len > BUFFER_BYTES) {
        if (len > LINE_BYTES)
            die_of_length();
        flush(fd, b, turn);
    }
    uint32_t length = (uint32_t)len;
    memcpy(b->bytes + b->used, &length, 4);
    copy(b->bytes + b->used + 4, line, len);
    b->used += 4 + length;
}

static void send_lines(int fd)
{
    static uint8_t input[BUFFER_BYTES + READ_BYTES + BLOCK];
    static struct buffer buffers[SUBPARTITIONS];
    uint32_t turn = 0;
    size_t have = 0;
    for (int i = 0; i < SUBPARTITIONS; i++)
        buffers[i].used = HEAD_BYTES;
    for (;;) {
        ssize_t n = read(STDIN_FILENO, input + have, READ_BYTES);
        if (n < 0)
            die("read");
        size_t end = have + (size_t)n;
        size_t line = 0;
        for (size_t at = 0; at < end; at += BLOCK) {
            uint64_t bits = line_ends(input + at);
            if (end - at < BLOCK)
                bits &= (UINT64_C(1) << (end - at)) - 1;
            for (; bits; bits &= bits - 1) {
                size_t stop = at + (size_t)__builtin_ctzll(bits);
                append(fd, buffers, turn, input + line, stop - line);
                turn = (turn + 1) % SUBPARTITIONS;
                line = stop + 1;
            }
        }
        have = end - line;
        if (have > LINE_BYTES)
            die_of_length();
        if (n == 0)
            break;
        memmove(input, input + line, have);
    }
    if (have)
        append(fd, buffers, turn, input, have);
    for (uint32_t i = 0; i < SUBPARTITIONS; i++)
        flush(fd, &buffers[i], i);
}

/* Write the lines of the frame at BYTES to OUT; returns how many bytes. */
static size_t join(const uint8_t *bytes, const uint8_t *end, uint8_t *out)
{
    uint8_t *pos = out;
    while (bytes < end) {
        uint32_t len;
        memcpy(&len, bytes, 4);
        copy(pos, bytes + 4, len);
        pos[len] = '\n';
        bytes += 4 + len;
        pos += len + 1;
    }
    return (size_t)(pos - out);
}

static void receive_lines(int fd)
{
    static uint8_t input[READ_BYTES + BUFFER_BYTES + BLOCK];
    static uint8_t output[WRITE_BYTES + BUFFER_BYTES + BLOCK];
    size_t have = 0;
    size_t used = 0;
    for (;;) {
        ssize_t n = read(fd, input + have, READ_BYTES);
        if (n < 0)
            die("read");
        if (n == 0)
            break;
        have += (size_t)n;
        size_t at = 0;
        uint32_t frame;
        for (; have - at >= HEAD_BYTES; at += frame) {
            memcpy(&frame, input + at, 4);
            if (have - at < frame)
                break;
            used += join(input + at + HEAD_BYTES, input + at + frame, output + used);
            if (used >= WRITE_BYTES) {
                write_all(STDOUT_FILENO, output, used);
                used = 0;
            }
        }
        have -= at;
        memmove(input, input + at, have);
    }
    write_all(STDOUT_FILENO, output, used);
}

static int listen_once(const char *port_file)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, len) != 0 ||
        listen(listener, 1) != 0 || getsockname(listener, (struct sockaddr *)&address, &len) != 0)
        die("listen");
    FILE *file = fopen(port_file, "w");
    if (!file || fprintf(file, "%d\n", ntohs(address.sin_port)) < 0 || fclose(file) != 0)
        die(port_file);
    int fd = accept(listener, NULL, NULL);
    if (fd < 0)
        die("accept");
    return fd;
}

static int connect_once(const char *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                  .sin_port = htons((uint16_t)strtoul(port, NULL, 10))};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        die("connect");
    return fd;
}

int main(int argc, char *argv[])
{
    if (argc == 3 && strcmp(argv[1], "send") == 0) {
        send_lines(listen_once(argv[2]));
    } else if (argc == 3 && strcmp(argv[1], "receive") == 0) {
        receive_lines(connect_once(argv[2]));
    } else {
        fputs("usage: bareloop send PORT-FILE | bareloop receive PORT\n", stderr);
        return 2;
    }
    return 0;
}
