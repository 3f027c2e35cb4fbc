/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture: captured network traffic, from the bytes of a savefile to the ordered bytes of each
 * direction of each connection. No I/O. Not thread safe.
 *
 *     savefile (pcap, pcapng) -> captured -> packet (TCP, or a stretch of a trace) -> reassembly
 *
 * fnet's own traces are savefiles too, classic pcap with nanosecond magic in native byte order,
 * snap length 0x7fffffff and link type FNET_LINK_EXPORTED_PDU. Each of their packets is one stretch
 * of the bytes of one direction of one connection, behind tags that say where it went:
 *
 *     tag                          bytes  value
 *     FNET_TAG_DISSECTOR           4      "fnet"
 *     FNET_TAG_IPV4_SRC, _DST      4      addresses; IPv6: 16 bytes; unix sockets: absent
 *     FNET_TAG_PORT_TYPE           4      FNET_PORT_TCP, or FNET_PORT_NONE for unix sockets
 *     FNET_TAG_SRC_PORT, _DST_PORT 4      ports; unix sockets: the producer's side 0, the
 *                                         consumer's a number unique to the connection
 *     FNET_TAG_END                 0      the stretch follows
 *
 * A tag is its number and the length of its value, two bytes each, and the value; all big-endian.
 * Within a connection and direction packets are in order and nothing is lost; where they cut the
 * stream has no meaning. A packet, tags included, is at most FNET_TRACE_PACKET_MAX_BYTES.
 */
#ifndef FNET_CAPTURE_H
#define FNET_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fnet/bytes.h"
#include "fnet/err.h"

/* ---- savefile ---------------------------------------------------------------------------- */

/** So many bytes of a file tell whether it is a savefile. */
#define FNET_SAVEFILE_MAGIC_BYTES 4
/** Longest packet of a pcap file, longest block of a pcapng file that is looked into. */
#define FNET_SAVEFILE_RECORD_MAX_BYTES (16u << 20)
/** Most interfaces of one section of a pcapng file. */
#define FNET_SAVEFILE_INTERFACES_MAX 1024u
/** Room in which packets are collected; more only for a packet that needs more. */
#define FNET_SAVEFILE_SPACE_BYTES (512u << 10)
/** Longest packet of an fnet trace; Wireshark refuses longer ones. */
#define FNET_TRACE_PACKET_MAX_BYTES (256u << 10)

/** Link types, as numbered in savefiles. */
enum fnet_link_type {
    FNET_LINK_NULL = 0,
    FNET_LINK_ETHERNET = 1,
    FNET_LINK_RAW_BSD = 12,
    FNET_LINK_RAW_OPENBSD = 14,
    FNET_LINK_RAW = 101,
    FNET_LINK_LOOP = 108,
    FNET_LINK_LINUX_SLL = 113,
    FNET_LINK_IPV4 = 228,
    FNET_LINK_IPV6 = 229,
    FNET_LINK_EXPORTED_PDU = 252,
    FNET_LINK_LINUX_SLL2 = 276,
};

/** A packet as it stands in a savefile. */
struct fnet_captured {
    bool has_time;
    uint64_t time_ns;       /**< since 1970; valid if HAS_TIME */
    uint32_t link_type;     /**< enum fnet_link_type or any other number */
    uint32_t original_len;  /**< of the packet on the network, >= bytes.len */
    struct fnet_span bytes; /**< what was kept of it */
};

/** A parser of pcap and pcapng files, fed in pieces cut anywhere. */
struct fnet_savefile;

/** Do the FNET_SAVEFILE_MAGIC_BYTES at MAGIC begin a pcap or pcapng file? */
bool fnet_savefile_is_magic(const uint8_t magic[static FNET_SAVEFILE_MAGIC_BYTES]);

/** Make a parser. OUT is owned by caller. Errors: FNET_NOMEM. */
FNET_CHECKED enum fnet_err fnet_savefile_new(struct fnet_savefile **out);
void fnet_savefile_free(struct fnet_savefile *savefile); /**< safe on NULL */

/**
 * Where the next bytes of the file may be written, when next() gave FNET_AGAIN or at first: a large
 * piece that is read straight into place.
 *
 * @param ptr  valid until the next call of anything but commit.
 * @param len  at least FNET_SAVEFILE_SPACE_BYTES / 2.
 *
 * Errors: FNET_NOMEM (dead), FNET_STATE (it was dead).
 */
FNET_CHECKED enum fnet_err fnet_savefile_space(struct fnet_savefile *savefile, uint8_t **ptr,
                                               size_t *len);
/** N bytes were written to the space. */
void fnet_savefile_commit(struct fnet_savefile *savefile, size_t n);
/** Or append a copy of BYTES. Errors: as fnet_savefile_space(). */
FNET_CHECKED enum fnet_err fnet_savefile_feed(struct fnet_savefile *savefile,
                                              struct fnet_span bytes);

/**
 * The next packet.
 *
 * @param out  its bytes are borrowed until the next call of next, space, feed or free.
 *
 * Shape:  pcap with micro- and nanosecond magic; pcapng with its section headers, interface
 *         descriptions, enhanced, simple and (obsolete) packet blocks, other blocks are skipped;
 *         all in either byte order.
 * Errors: FNET_AGAIN       feed more bytes.
 *         FNET_BAD_MAGIC   no savefile, or a version of it that is not known.
 *         FNET_BAD_LENGTH  a length contradicts another or is above its named limit.
 *         FNET_BAD_VALUE   a packet names an interface that was not described.
 *         FNET_NOMEM. All but FNET_AGAIN leave the parser dead.
 * Source: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng.
 */
FNET_CHECKED enum fnet_err fnet_savefile_next(struct fnet_savefile *savefile,
                                              struct fnet_captured *out);

/** Offset in the file of the record that next() would look at, or that it failed at. */
uint64_t fnet_savefile_offset(const struct fnet_savefile *savefile);
/** Would an end of the file now cut a record, or the file's header? */
bool fnet_savefile_is_mid_record(const struct fnet_savefile *savefile);

/* ---- packet ------------------------------------------------------------------------------ */

/** Most VLAN tags, and most IPv6 extension headers, in one packet. */
#define FNET_PACKET_HEADERS_MAX 8

/** Tags of FNET_LINK_EXPORTED_PDU. */
enum fnet_tag {
    FNET_TAG_END = 0,
    FNET_TAG_DISSECTOR = 12,
    FNET_TAG_IPV4_SRC = 20,
    FNET_TAG_IPV4_DST = 21,
    FNET_TAG_IPV6_SRC = 22,
    FNET_TAG_IPV6_DST = 23,
    FNET_TAG_PORT_TYPE = 24,
    FNET_TAG_SRC_PORT = 25,
    FNET_TAG_DST_PORT = 26,
};
#define FNET_TAG_DISSECTOR_NAME "fnet"

/** Values of FNET_TAG_PORT_TYPE. */
enum fnet_port_type {
    FNET_PORT_NONE = 0,
    FNET_PORT_TCP = 2,
};

/** Longest text of a flow's end, NUL included. */
#define FNET_FLOW_END_TEXT_BYTES 64

/** One end of a connection. Unused bytes are zero, so that ends compare by memcmp. */
struct fnet_flow_end {
    uint8_t address[16]; /**< the first 4 bytes of it for IPv4 */
    uint32_t port;
    uint32_t ip_version; /**< 4, 6, or 0 for a unix socket */
};

enum fnet_packet_kind {
    FNET_PACKET_TCP,      /**< a TCP segment */
    FNET_PACKET_STRETCH,  /**< stream bytes out of an fnet trace: no sequence number or flags */
    FNET_PACKET_FRAGMENT, /**< a piece of an IP datagram that holds TCP; only this is known of it */
    FNET_PACKET_OTHER,    /**< other traffic */
};

/** What a packet carries of a connection. */
struct fnet_packet {
    enum fnet_packet_kind kind;
    bool has_time;
    uint64_t time_ns;
    struct fnet_flow_end src;
    struct fnet_flow_end dst;
    uint32_t sequence; /**< of TCP: number of the first payload byte, or of the SYN */
    bool is_syn;
    bool is_fin;
    bool is_rst;
    struct fnet_span payload; /**< borrowed */
    size_t missing;           /**< payload bytes behind PAYLOAD that a snap length cut off */
};

/**
 * Take CAPTURED apart down to TCP.
 *
 * Shape:  Ethernet with VLAN tags, BSD loopback, raw IP, Linux cooked (both versions), exported
 *         PDU; IPv4 with options, IPv6 with extension headers. Checksums are not looked at: a
 * host's own packets are captured before the hardware fills them in. Errors: FNET_BAD_KIND    an
 * unknown link type. FNET_TRUNCATED   the packet ends inside its headers. FNET_BAD_LENGTH  a
 * header's length is impossible. Source: RFC 791, 8200, 9293; IEEE 802.1Q; tcpdump.org/linktypes;
 * Wireshark's exported PDU.
 */
FNET_CHECKED enum fnet_err fnet_packet_decode(const struct fnet_captured *captured,
                                              struct fnet_packet *out);

/** Write "127.0.0.1:6121", "[::1]:6121" or "unix:3" and a NUL. */
void fnet_flow_end_format(const struct fnet_flow_end *end,
                          char text[static FNET_FLOW_END_TEXT_BYTES]);

/* ---- reassembly -------------------------------------------------------------------------- */

/** Most connections that are followed; further ones are not. */
#define FNET_FLOWS_MAX (1u << 18)
/** Most segments that wait for an earlier one in one direction: then that one is given up. */
#define FNET_REORDER_MAX_SEGMENTS 64u
/** Most bytes that wait, all connections together. */
#define FNET_REORDER_MAX_BYTES (64u << 20)
/** Segments further than this from the expected one cannot belong to the window (RFC 7323). */
#define FNET_TCP_WINDOW_MAX (1 << 30)
/** A gap of unknown length: the capture began in mid-stream, or lost count. */
#define FNET_GAP_UNKNOWN UINT64_MAX

/** A connection, or what was captured of it. */
struct fnet_flow {
    struct fnet_flow_end ends[2]; /**< [0] sent the first packet that was seen */
    uint32_t number;              /**< from 0, in order of appearance */
    uint32_t reuse;               /**< how many earlier ones were between the same ends */
};

enum fnet_stretch_kind {
    FNET_STRETCH_BYTES,
    FNET_STRETCH_GAP, /**< bytes that were sent but not captured */
    FNET_STRETCH_END, /**< nothing follows in this direction */
};

/** A piece of one direction of a connection, in stream order. */
struct fnet_stretch {
    enum fnet_stretch_kind kind;
    const struct fnet_flow *flow; /**< borrowed from the reassembly */
    unsigned side;                /**< 0 or 1: sent by flow->ends[side] */
    bool has_time;                /**< of the packet the piece came in; of bytes only */
    uint64_t time_ns;
    struct fnet_span bytes; /**< of FNET_STRETCH_BYTES, never empty */
    uint64_t lost;          /**< of FNET_STRETCH_GAP, or FNET_GAP_UNKNOWN */
};

/** Puts packets back into the order in which their bytes were sent. */
struct fnet_reassembly;

/** OUT is owned by caller. Errors: FNET_NOMEM. */
FNET_CHECKED enum fnet_err fnet_reassembly_new(struct fnet_reassembly **out);
void fnet_reassembly_free(struct fnet_reassembly *reassembly); /**< safe on NULL */

/**
 * Take a packet of kind TCP or STRETCH, when next() gave FNET_AGAIN or at first.
 *
 * @param packet  borrowed; its payload until next() gives FNET_AGAIN.
 *
 * Errors: FNET_RANGE  it would be connection number FNET_FLOWS_MAX; it is ignored.
 *         FNET_NOMEM  it is ignored.
 */
FNET_CHECKED enum fnet_err fnet_reassembly_push(struct fnet_reassembly *reassembly,
                                                const struct fnet_packet *packet);

/** No packet will follow: let next() give out what still waits, behind gaps. */
void fnet_reassembly_finish(struct fnet_reassembly *reassembly);

/**
 * The next piece that the last packet, or the finish, made available. What was sent again is
 * dropped, what overlaps is cut, sequence numbers wrap. An early segment waits for those before it
 * up to the limits above; then the bytes between are given up as a gap. What a snap length cut off
 * is given up at once.
 *
 * @param out  bytes are borrowed until the next call of next, push or free.
 *
 * Errors: FNET_AGAIN  push another packet.
 */
FNET_CHECKED enum fnet_err fnet_reassembly_next(struct fnet_reassembly *reassembly,
                                                struct fnet_stretch *out);

#endif
