/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces, read back by the room that reads captures: what is in them, when it is on disk, and a
 * disk that is full.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "../../../lib/io/trace.h"

#include "fnet/capture.h"

#include "../failmalloc.h"
#include "ends.h"

#define FLUSH_NS (100 * (uint64_t)MS)
#define FILE_HEADER_BYTES 24

static char path[64];

/* ---- reading back -------------------------------------------------------------------------- */

/** What is in the trace file. */
struct content {
    uint8_t *bytes;
    size_t len;
    size_t packets;
    struct fnet_packet last;
    uint8_t *payload[2]; /* of all packets of a direction, one behind the other: [is_response] */
    size_t payload_len[2];
    bool is_ordered; /* by time */
};

static void load(struct content *content)
{
    FILE *file = fopen(path, "r");
    struct stat st;

    CHECK_INT(fstat(fileno(file), &st), 0);
    *content = (struct content){.len = (size_t)st.st_size, .is_ordered = true};
    content->bytes = malloc(content->len + 1);
    content->payload[0] = malloc(content->len + 1);
    content->payload[1] = malloc(content->len + 1);
    CHECK_INT(fread(content->bytes, 1, content->len, file), content->len);
    fclose(file);
}

static void unload(struct content *content)
{
    free(content->bytes);
    free(content->payload[0]);
    free(content->payload[1]);
}

static void take_packet(struct content *content, const struct fnet_captured *captured,
                        const struct fnet_flow_end *producer)
{
    const uint64_t before_ns = content->last.time_ns;
    struct fnet_packet *packet = &content->last;

    CHECK_INT(captured->link_type, FNET_LINK_EXPORTED_PDU);
    CHECK(captured->bytes.len <= FNET_TRACE_PACKET_MAX_BYTES);
    CHECK_INT(captured->original_len, captured->bytes.len);
    CHECK_INT(fnet_packet_decode(captured, packet), FNET_OK);
    CHECK_INT(packet->kind, FNET_PACKET_STRETCH);
    content->is_ordered &= packet->has_time && packet->time_ns >= before_ns;
    content->packets++;

    bool is_response = memcmp(&packet->src, producer, sizeof *producer) == 0;
    CHECK_MEM(is_response ? &packet->src : &packet->dst, producer, sizeof *producer);
    memcpy(content->payload[is_response] + content->payload_len[is_response], packet->payload.ptr,
           packet->payload.len);
    content->payload_len[is_response] += packet->payload.len;
}

/** Read all of the trace, whose packets are between PRODUCER and whoever. */
static void read_trace(struct content *content, const struct fnet_flow_end *producer)
{
    struct fnet_savefile *savefile = NULL;
    struct fnet_captured captured;

    load(content);
    CHECK_INT(fnet_savefile_new(&savefile), FNET_OK);
    CHECK_INT(fnet_savefile_feed(savefile, fnet_span_of(content->bytes, content->len)), FNET_OK);
    while (fnet_savefile_next(savefile, &captured) == FNET_OK)
        take_packet(content, &captured, producer);
    CHECK_INT(fnet_savefile_offset(savefile), content->len);
    CHECK(!fnet_savefile_is_mid_record(savefile));
    fnet_savefile_free(savefile);
}

/* ---- addresses and bytes -------------------------------------------------------------------- */

static struct fnet__trace_flow flow_of(int family)
{
    struct fnet__trace_flow flow = {.consumer = {.any = {.sa_family = (sa_family_t)family}}};

    flow.producer = flow.consumer;
    if (family == AF_INET) {
        flow.consumer.in.sin_addr.s_addr = htonl(0xc0000201);
        flow.producer.in.sin_addr.s_addr = htonl(0xc0000202);
    } else if (family == AF_INET6) {
        flow.consumer.in6.sin6_addr.s6_addr[0] = 0xfd;
        flow.producer.in6.sin6_addr.s6_addr[0] = 0xfd;
        flow.producer.in6.sin6_addr.s6_addr[15] = 2;
    }
    if (family != AF_UNIX) { /* the port stands at the same place in both */
        flow.consumer.in.sin_port = htons(50000);
        flow.producer.in.sin_port = htons(6121);
    }
    return flow;
}

/* Both directions of a flow of FAMILY, whose ends are read back as CONSUMER and PRODUCER. */
static void check_ends(int family, const char *consumer, const char *producer,
                       const struct fnet_flow_end *producer_end)
{
    struct fnet_loop *loop = new_loop(FNET_LOOP_POLL);
    struct fnet__trace_flow first = flow_of(family), flow = flow_of(family);
    const struct iovec spans[] = {{(char[]){""}, 0}, {(char[]){"abc"}, 3}, {(char[]){"defgh"}, 5}};
    char text[FNET_FLOW_END_TEXT_BYTES];
    struct fnet_trace *trace;
    struct content content;

    for (int i = 0; i < 2; i++) {
        const bool is_response = i == 1;
        CHECK_INT(fnet_trace_open(loop, path, &trace), FNET_OK);
        fnet__trace_begin(trace, &first);
        fnet__trace_begin(trace, &flow);
        CHECK_INT(flow.number, 2);
        fnet__trace_write(trace, &flow, is_response, spans, 6);
        CHECK_INT(fnet_trace_close(trace), FNET_OK);
        read_trace(&content, producer_end);
        CHECK_INT(content.packets, 1);
        CHECK_INT(content.payload_len[is_response], 6);
        CHECK_MEM(content.payload[is_response], "abcdef", 6);
        fnet_flow_end_format(&content.last.src, text);
        CHECK_STR(text, is_response ? producer : consumer);
        fnet_flow_end_format(&content.last.dst, text);
        CHECK_STR(text, is_response ? consumer : producer);
        unload(&content);
    }
    fnet_loop_free(loop);
}

static void addresses(void)
{
    CASE("addresses, directions and bytes come back, however the bytes lie");
    check_ends(AF_INET, "192.0.2.1:50000", "192.0.2.2:6121",
               &(struct fnet_flow_end){.address = {192, 0, 2, 2}, .port = 6121, .ip_version = 4});
    check_ends(
        AF_INET6, "[fd00::]:50000", "[fd00::2]:6121",
        &(struct fnet_flow_end){.address = {[0] = 0xfd, [15] = 2}, .port = 6121, .ip_version = 6});
    check_ends(AF_UNIX, "unix:2", "unix:0", &(struct fnet_flow_end){.port = 0});
}

static void golden(void)
{
    /* draft-ietf-opsawg-pcap 4, in the byte order of this machine. */
    const struct {
        uint32_t magic;
        uint16_t major, minor;
        uint32_t reserved[2], snap_length, link_type;
    } header = {0xA1B23C4D, 2, 4, {0, 0}, 0x7fffffff, 252};
    static const uint8_t packet[] = "\0\x0c\0\4fnet"         /* dissector */
                                    "\0\x14\0\4\xc0\0\2\1"   /* from */
                                    "\0\x15\0\4\xc0\0\2\2"   /* to */
                                    "\0\x18\0\4\0\0\0\2"     /* TCP */
                                    "\0\x19\0\4\0\0\xc3\x50" /* 50000 */
                                    "\0\x1a\0\4\0\0\x17\xe9" /* 6121 */
                                    "\0\0\0\0"               /* the end of the tags */
                                    "hello";
    struct fnet_loop *loop = new_loop(FNET_LOOP_POLL);
    const struct fnet__trace_flow flow = flow_of(AF_INET);
    struct fnet_trace *trace;
    struct content content;
    struct timespec before, after;
    uint32_t head[4];

    CASE("the file, byte by byte");
    clock_gettime(CLOCK_REALTIME, &before);
    CHECK_INT(fnet_trace_open(loop, path, &trace), FNET_OK);
    fnet__trace_write(trace, &flow, false, &(struct iovec){(char[]){"hello"}, 5}, 5);
    CHECK_INT(fnet_trace_close(trace), FNET_OK);
    clock_gettime(CLOCK_REALTIME, &after);
    load(&content);
    CHECK_INT(content.len, sizeof header + sizeof head + sizeof packet - 1);
    CHECK_MEM(content.bytes, &header, sizeof header);
    memcpy(head, content.bytes + sizeof header, sizeof head);
    CHECK(head[0] >= (uint32_t)before.tv_sec && head[0] <= (uint32_t)after.tv_sec);
    CHECK(head[1] < 1000000000);
    CHECK_INT(head[2], sizeof packet - 1);
    CHECK_INT(head[3], sizeof packet - 1);
    CHECK_MEM(content.bytes + sizeof header + sizeof head, packet, sizeof packet - 1);
    unload(&content);
    fnet_loop_free(loop);
}

static void large(void)
{
    struct fnet_loop *loop = new_loop(FNET_LOOP_POLL);
    struct fnet__trace_flow flow = flow_of(AF_UNIX);
    const struct fnet_flow_end producer = {.port = 0};
    const size_t len = 3 * FNET_TRACE_PACKET_MAX_BYTES + 5;
    uint8_t *bytes = malloc(len);
    struct fnet_trace *trace;
    struct content content;

    CASE("a stretch too long for one packet makes several, wherever its spans are cut");
    for (size_t i = 0; i < len; i++)
        bytes[i] = byte_at(0, i);
    for (size_t cut = 0; cut < 3; cut++) {
        const size_t first = cut == 0 ? 1 : FNET_TRACE_PACKET_MAX_BYTES - 100 + 48 * cut;
        const struct iovec spans[] = {{bytes, first}, {bytes + first, len - first}};
        CHECK_INT(fnet_trace_open(loop, path, &trace), FNET_OK);
        fnet__trace_begin(trace, &flow);
        fnet__trace_write(trace, &flow, true, spans, len);
        fnet__trace_write(trace, &flow, false, spans, 1);
        CHECK_INT(fnet_trace_close(trace), FNET_OK);
        read_trace(&content, &producer);
        CHECK_INT(content.packets, 5);
        CHECK_INT(content.payload_len[1], len);
        CHECK_MEM(content.payload[1], bytes, len);
        CHECK_INT(content.payload_len[0], 1);
        CHECK(content.is_ordered);
        unload(&content);
    }
    free(bytes);
    fnet_loop_free(loop);
}

/* ---- the trace of a connection ------------------------------------------------------------- */

static void conversation(enum fnet_loop_backend backend)
{
    const struct fnet_flow_end unix_end = {.port = 0};
    struct end producer, consumer;
    struct content contents[2];
    struct fnet_trace *trace;
    struct world w;
    int fds[2];

    CASE("both ends of a connection trace the same, every byte that was counted");
    for (int i = 0; i < 2; i++) {
        connect_pair(AF_UNIX, 0, fds);
        make_world(&w, backend, 100u << 10);
        CHECK_INT(fnet_trace_open(w.loop, path, &trace), FNET_OK);
        open_producer(&w, &producer, fds[0], i == 0 ? trace : NULL);
        open_consumer(&w, &consumer, fds[1], i == 1 ? trace : NULL);
        check_end(&producer, FNET_OK, 0);
        check_end(&consumer, FNET_OK, 0);
        CHECK_INT(fnet_trace_close(trace), FNET_OK);
        read_trace(&contents[i], &unix_end);
        CHECK_INT(contents[i].payload_len[0], producer.counts.bytes_in);
        CHECK_INT(contents[i].payload_len[1], producer.counts.bytes_out);
        CHECK_INT(contents[i].payload_len[0], consumer.counts.bytes_out);
        CHECK_INT(contents[i].payload_len[1], consumer.counts.bytes_in);
        CHECK(contents[i].is_ordered);
        unload(&contents[i]);
        free_world(&w);
    }
}

/* ---- the disk ------------------------------------------------------------------------------ */

static off_t size_on_disk(void)
{
    struct stat st;

    CHECK_INT(stat(path, &st), 0);
    return st.st_size;
}

static void flushing(enum fnet_loop_backend backend)
{
    struct fnet_loop *loop = new_loop(backend);
    const struct fnet__trace_flow flow = flow_of(AF_INET);
    const struct iovec span = {(char[]){"hello"}, 5};
    struct fnet_trace *trace;

    CASE("what was traced is on disk a moment later, without a system call for each packet");
    CHECK_INT(fnet_trace_open(loop, path, &trace), FNET_OK);
    for (int round = 1; round <= 2; round++) {
        off_t before = size_on_disk();
        for (int i = 0; i < 1000; i++)
            fnet__trace_write(trace, &flow, true, &span, 5);
        turn(loop, 2);
        CHECK_INT(size_on_disk(), before);
        skip(loop, FLUSH_NS);
        CHECK_INT(size_on_disk(), FILE_HEADER_BYTES + round * 1000 * (16 + 52 + 5));
        check_it_rests(loop);
    }

    CASE("closed with a flush pending: nothing of it is left in the loop");
    fnet__trace_write(trace, &flow, true, &span, 5);
    CHECK_INT(fnet_trace_close(trace), FNET_OK);
    CHECK_INT(size_on_disk(), FILE_HEADER_BYTES + 2001 * (16 + 52 + 5));
    skip(loop, FLUSH_NS);
    fnet_loop_free(loop);
    CHECK_INT(fnet_trace_close(NULL), FNET_OK);
}

static void full_disk(struct fnet_loop *loop)
{
    const struct fnet__trace_flow flow = flow_of(AF_INET);
    const struct iovec span = {(char[]){"hello"}, 5};
    struct fnet_trace *trace;

    CASE("a full disk is told at the end, whenever it was noticed");
    for (int i = 0; i < 3; i++) {
        CHECK_INT(fnet_trace_open(loop, "/dev/full", &trace), FNET_OK);
        for (int n = 0; n < (i == 2 ? 10000 : 1); n++)
            fnet__trace_write(trace, &flow, true, &span, 5);
        if (i == 1)
            skip(loop, FLUSH_NS);
        errno = 0;
        CHECK_INT(fnet_trace_close(trace), FNET_SYSTEM);
        CHECK_INT(errno, ENOSPC);
    }
    CHECK_INT(fnet_trace_open(loop, "/dev/full", &trace), FNET_OK);
    CHECK_INT(fnet_trace_close(trace), FNET_SYSTEM);
    CHECK_INT(errno, ENOSPC);

    CASE("what cannot be created is told at once");
    CHECK_INT(fnet_trace_open(loop, "/no/such/folder", &trace), FNET_SYSTEM);
    CHECK_INT(errno, ENOENT);
}

static void without_memory(void)
{
    const struct fnet__trace_flow flow = flow_of(AF_INET);
    const struct iovec span = {(char[]){"hello"}, 5};
    struct fnet_trace *trace;
    int before = count_descriptors();
    bool has_failed = true;

    CASE("without memory there is no trace; without a timer it is written out at once");
    for (unsigned n = 1; has_failed; n++) {
        struct fnet_loop *loop = new_loop(FNET_LOOP_POLL);
        failmalloc_arm(n);
        enum fnet_err err = fnet_trace_open(loop, path, &trace);
        if (err == FNET_OK)
            fnet__trace_write(trace, &flow, true, &span, 5);
        has_failed = failmalloc_disarm();
        if (err == FNET_OK && has_failed)
            CHECK_INT(size_on_disk(), FILE_HEADER_BYTES + 16 + 52 + 5);
        if (err == FNET_OK)
            CHECK_INT(fnet_trace_close(trace), FNET_OK);
        else
            CHECK(err == FNET_NOMEM || (err == FNET_SYSTEM && errno == ENOMEM));
        CHECK_INT(count_descriptors(), before);
        fnet_loop_free(loop);
    }
}

static void cases(enum fnet_loop_backend backend)
{
    struct fnet_loop *loop = new_loop(backend);

    conversation(backend);
    flushing(backend);
    full_disk(loop);
    fnet_loop_free(loop);
}

int main(void)
{
    char folder[] = "/tmp/fnet-test-XXXXXX";

    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/trace", folder);
    addresses();
    golden();
    large();
    without_memory();
    WITH_BACKENDS(cases);
    CHECK_INT(unlink(path), 0);
    CHECK_INT(rmdir(folder), 0);
    return tap_done();
}
