#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write the golden captures to DIR, by default this folder; the same bytes each time.

The frames are those that Flink's encoder wrote (../wire/flink-2.3.txt, ../flink/VERSION), and data
buffers and errors made here where what they hold matters; packets and files around them are made here from their
specifications.
"""

import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).parent
CLIENT, SERVER = ("10.0.0.1", 40000), ("10.0.0.2", 6121)
START_NS = 1700000000 * 10**9

ETHERNET, NULL, RAW, LOOP, SLL, SLL2, EXPORTED = 1, 0, 101, 108, 113, 276, 252
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16


# ---- frames --------------------------------------------------------------------------------------


def read_frames(name):
    frames = {}
    for line in (HERE / ".." / "wire" / name).read_text().splitlines():
        if line and not line.startswith("#"):
            words = line.split()
            frames[words[0]] = bytes.fromhex(words[-1])
    return frames


FLINK = read_frames("flink-2.3.txt")
OWN = read_frames("extension.txt")
CHANNEL = bytes(range(0x10, 0x20))


def buffer(sequence, payload, data_type=1, backlog=0, channel=CHANNEL, compressed=0):
    body = channel + struct.pack(">iiiiBBi", 5, 0, sequence, backlog, data_type, compressed,
                                 len(payload)) + payload
    return struct.pack(">IIB", 9 + len(body), 0xBADC0FFE, 0) + body


def merged(sequence, parts, data_type=1, channel=CHANNEL, compressed=0):
    """As from a sort-merge partition: several buffers or events of one type."""
    payload = b"".join(parts)
    body = channel + struct.pack(">iiiiBBi", -1, len(parts), sequence, 0, data_type, compressed,
                                 len(payload)) + \
        b"".join(struct.pack(">i", len(part)) for part in parts) + payload
    return struct.pack(">IIB", 9 + len(body), 0xBADC0FFE, 0) + body


def records(*bodies):
    return b"".join(struct.pack(">i", len(b)) + b for b in bodies)


def conversation():
    """(from the client?, frame) of a channel from its request to its end."""
    names = [
        (True, "PartitionRequest"), (False, "BufferResponse.hello"), (True, "AddCredit"),
        (False, "Barrier.aligned"), (True, "ResumeConsumption"), (False, "Barrier.savepoint"),
        (True, "ResumeConsumption"), (False, "EndOfData"), (True, "AckAll"),
        (False, "EndOfPartition"), (True, "CancelPartitionRequest"), (True, "CloseRequest"),
    ]
    return [(is_client, FLINK[name]) for is_client, name in names]


# ---- older dialects ------------------------------------------------------------------------------

VERSIONS = ["1.8.3", "1.10.3", "1.11.6", "1.12.7", "1.14.6", "1.15.4", "1.16.3", "1.18.1", "1.20.5",
            "2.0.2", "2.3.0"]
# Where sequence, data type and size of a buffer stand, by the length of its head.
FIELDS = {38: (25, 33, 34), 39: (25, 33, 35), 43: (29, 37, 39), 47: (33, 41, 43)}


def read_lines(version, name):
    lines = (HERE / ".." / "flink" / version / name).read_text().splitlines()
    return {words[0]: bytes.fromhex(words[2]) for words in (line.split("\t") for line in lines)}


class Dialect:
    """Frames of a version: Flink's own, and buffers around other payloads with the same heads."""

    def __init__(self, version):
        self.version = tuple(int(part) for part in version.split(".")[:2])
        self.messages = read_lines(version, "messages.tsv")
        self.events = read_lines(version, "events.tsv")

    def buffer(self, sequence, payload, data_type=None):
        """As the data buffer of Flink, by default one of data, too."""
        frame = bytearray(self.messages["buffer-data-buffer"])
        head = len(frame) - len("....\1\6world")
        at_sequence, at_type, at_size = FIELDS[head]
        frame[at_sequence:at_sequence + 4] = struct.pack(">i", sequence)
        if data_type is not None:
            frame[at_type] = data_type
        frame[at_size:at_size + 4] = struct.pack(">i", len(payload))
        frame[0:4] = struct.pack(">i", head + len(payload))
        return bytes(frame[:head]) + payload

    def event_types(self):
        """The data types of an event, an aligned barrier, the end of data and of a partition."""
        if self.version < (1, 11):
            return 0, 0, None, 0
        if self.version < (1, 12):
            return 1, 2, None, 1
        if self.version < (1, 14):
            return 2, 4, None, 2
        return (2, 4, 2, 2) if self.version < (1, 19) else (2, 4, 9, 10)

    def session(self):
        """(from the client?, frame) of a channel from its request to its end."""
        m, e = self.messages, self.events
        event, barrier, end_of_data, end = self.event_types()
        talk = [(True, m["request"]), (False, m["buffer"]), (True, m["credit-3"]),
                (False, m["buffer-data-buffer"]),
                (False, self.buffer(2, e["barrier-aligned"], barrier))]
        if "resume" in m:
            talk.append((True, m["resume"]))
        talk.append((False, self.buffer(3, e["cancel-checkpoint"], event)))
        at = 4
        if end_of_data is not None:
            talk += [(False, self.buffer(4, e.get("end-of-data") or e["end-of-data-drain"],
                                         end_of_data)), (True, m["ack-all"])]
            at = 5
        return talk + [(False, self.buffer(at, e["end-of-partition"], end)), (True, m["cancel"]),
                       (True, m["close"])]


def late_session(dialect):
    """It begins inside the first buffer."""
    talk = dialect.session()[1:]
    return [(False, talk[0][1][20:])] + talk[1:]


def kept_back():
    """In mid-stream: a buffer of 1.20 with so many bytes that it fits 1.11, too, and others."""
    dialect = Dialect("1.20.5")
    payload = records(b"k" * 248)
    return Talk().say([(False, dialect.buffer(7, payload)), (True, dialect.messages["credit-3"]),
                       (False, dialect.buffer(8, payload)),
                       (False, dialect.buffer(9, payload[:100]))]).packets


def changed_dialect():
    """What no connection holds: frames of 1.8, and then more and more of 1.16."""
    old, new = Dialect("1.8.3"), Dialect("1.16.3")
    return old.messages["request"] + old.messages["buffer"] + new.messages["request"] * 5


# ---- packets -------------------------------------------------------------------------------------


def address(text):
    if ":" not in text:
        return bytes(int(part) for part in text.split("."))
    head, tail = (part.split(":") if part else [] for part in text.split("::"))
    words = [int(w, 16) for w in head] + [0] * (8 - len(head) - len(tail)) + \
        [int(w, 16) for w in tail]
    return struct.pack(">8H", *words)


def tcp(src, dst, sequence, flags, payload):
    return struct.pack(">HHIIBBHHH", src[1], dst[1], sequence % 2**32, 0, 5 << 4, flags, 65535, 0,
                       0) + payload


def ip(src, dst, segment, fragment=0):
    a, b = address(src[0]), address(dst[0])
    if len(a) == 16:
        return struct.pack(">IHBB", 6 << 28, len(segment), 6, 64) + a + b + segment
    return struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(segment), 1, fragment, 64, 6, 0) + a + b + \
        segment


def link(kind, packet, vlans=()):
    is_v6 = packet[0] >> 4 == 6
    ether_type = struct.pack(">H", 0x86DD if is_v6 else 0x0800)
    if kind == ETHERNET:
        tags = b"".join(struct.pack(">HH", tpid, vid) for tpid, vid in vlans)
        return bytes.fromhex("020000000002020000000001") + tags + ether_type + packet
    if kind == NULL:
        return struct.pack("<I", 24 if is_v6 else 2) + packet
    if kind == LOOP:
        return struct.pack(">I", 24 if is_v6 else 2) + packet
    if kind == SLL:
        return bytes.fromhex("0000000100060200000000010000") + ether_type + packet
    if kind == SLL2:
        return ether_type + bytes.fromhex("000000000001000100060200000000010000") + packet
    return packet


class Talk:
    """TCP packets of one connection: (time, IP packet), one microsecond apart."""

    def __init__(self, client=CLIENT, server=SERVER, sequences=(1000, 5000), at=START_NS):
        self.ends = (client, server)
        self.next = list(sequences)
        self.at = at
        self.packets = []

    def send(self, is_client, flags=ACK, payload=b"", ahead=0, advance=True):
        """A packet; AHEAD bytes further than is due, and the stream goes on behind it if ADVANCE."""
        side = 0 if is_client else 1
        segment = tcp(self.ends[side], self.ends[1 - side], self.next[side] + ahead, flags, payload)
        self.packets.append((self.at, ip(self.ends[side], self.ends[1 - side], segment)))
        self.at += 1000
        if advance:
            self.next[side] += len(payload) + bool(flags & SYN) + bool(flags & FIN)

    def open(self):
        self.send(True, SYN)
        self.send(False, SYN | ACK)
        self.send(True)
        return self

    def say(self, frames):
        for is_client, frame in frames:
            self.send(is_client, PSH | ACK, frame)
        return self

    def lose(self, is_client, count):
        self.next[0 if is_client else 1] += count
        return self

    def close(self):
        self.send(True, FIN | ACK)
        self.send(False, FIN | ACK)
        self.send(True)
        return self.packets


def session(**keywords):
    return Talk(**keywords).open().say(conversation()).close()


# ---- files ---------------------------------------------------------------------------------------


def pcap(packets, kind=ETHERNET, order="<", nano=False, snap=65535, vlans=()):
    out = [struct.pack(order + "IHHiIII", 0xA1B23C4D if nano else 0xA1B2C3D4, 2, 4, 0, 0, snap,
                       kind)]
    for at, packet in packets:
        data = link(kind, packet, vlans) if kind != EXPORTED else packet
        fraction = at % 10**9 if nano else at % 10**9 // 1000
        out.append(struct.pack(order + "IIII", at // 10**9, fraction, min(len(data), snap),
                               len(data)) + data[:snap])
    return b"".join(out)


def block(order, kind, body):
    body += b"\0" * (-len(body) % 4)
    size = struct.pack(order + "I", len(body) + 12)
    return struct.pack(order + "I", kind) + size + body + size


def option(order, code, value):
    return struct.pack(order + "HH", code, len(value)) + value + b"\0" * (-len(value) % 4)


def section(order):
    return block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))


def interface(order, kind, options=b""):
    return block(order, 1, struct.pack(order + "HHI", kind, 0, 0) + options)


def enhanced(order, number, stamp, data):
    return block(order, 6, struct.pack(order + "IIIII", number, stamp >> 32, stamp & 0xFFFFFFFF,
                                       len(data), len(data)) + data)


def pcapng(packets):
    """Two interfaces by turns: Ethernet in microseconds, cooked in nanoseconds with an offset; then
    the rest in a section of the other byte order."""
    half = len(packets) // 2
    out = [section("<"), block("<", 5, b"\0" * 12), interface("<", ETHERNET),
           interface("<", SLL2, option("<", 9, b"\x09") +
                     option("<", 14, struct.pack("<q", 1600000000)) + option("<", 0, b""))]
    for i, (at, packet) in enumerate(packets[:half]):
        if i % 2 == 0:
            out.append(enhanced("<", 0, at // 1000, link(ETHERNET, packet)))
        else:
            out.append(enhanced("<", 1, at - 1600000000 * 10**9, link(SLL2, packet)))
    out += [section(">"), interface(">", NULL, option(">", 9, b"\x06") + option(">", 0, b""))]
    for at, packet in packets[half:]:
        out.append(enhanced(">", 0, at // 1000, link(NULL, packet)))
    return b"".join(out)


def stretch(src, dst, payload):
    """A packet of an fnet trace; ends of unix sockets are numbers."""
    def tag(number, value):
        return struct.pack(">HH", number, len(value)) + value

    out = tag(12, b"fnet")
    is_unix = isinstance(src, int)
    if not is_unix:
        v6 = ":" in src[0]
        out += tag(22 if v6 else 20, address(src[0])) + tag(23 if v6 else 21, address(dst[0]))
    out += tag(24, struct.pack(">I", 0 if is_unix else 2))
    out += tag(25, struct.pack(">I", src if is_unix else src[1]))
    out += tag(26, struct.pack(">I", dst if is_unix else dst[1]))
    return out + tag(0, b"") + payload


def trace():
    """Two connections, TCP and unix, by turns; frames cut and joined where nobody expects it."""
    packets, at = [], START_NS
    for is_client, frame in conversation():
        for client, server in ((CLIENT, SERVER), (1, 0)):
            src, dst = (client, server) if is_client else (server, client)
            for piece in (frame[:5], frame[5:]) if client != 1 else (frame,):
                packets.append((at, stretch(src, dst, piece)))
                at += 1
    return pcap(packets, EXPORTED, nano=True, snap=0x7FFFFFFF)


# ---- captures ------------------------------------------------------------------------------------


def pieces(payload, size):
    return [payload[i:i + size] for i in range(0, len(payload), size)]


def cut_session():
    """Seven bytes a packet, some twice, overlapping or early; sequence numbers wrap."""
    talk = Talk(sequences=(2**32 - 50, 2**32 - 100)).open()
    for is_client, frame in conversation():
        parts = pieces(frame, 7)
        for i, part in enumerate(parts):
            if i % 5 == 2 and i + 1 < len(parts):
                talk.send(is_client, payload=parts[i + 1], ahead=len(part), advance=False)
            talk.send(is_client, payload=part)
            if i % 5 == 3:
                talk.send(is_client, payload=parts[i - 1] + part,
                          ahead=-len(parts[i - 1]) - len(part), advance=False)
    return talk.close()


def record_frames():
    """Records of many kinds, three of them across buffers."""
    stream = records(b"plain", b"", b"tab\tand \x1b[31mred\x1b[0m \\", "gr\u00fc\u00df dich".encode(),
                     b"\xff\x00binary", b"x" * 40, b"last")
    cuts = [0, 3, 20, 21, 70, 90, len(stream)]
    frames = [buffer(i, stream[a:b]) for i, (a, b) in enumerate(zip(cuts, cuts[1:]))]
    return [FLINK["PartitionRequest"], FLINK["AddCredit"], FLINK["AddCredit"]] + frames + \
        [buffer(len(frames), bytes(4), data_type=10)]


def copied(codec, original):
    """ORIGINAL, 4 to 238 bytes, as a block of CODEC that only copies it."""
    size = len(original)
    if codec == "lz4":
        length = bytes([16 * size]) if size < 15 else bytes([240, size - 15])
        coded = length + original
    elif codec == "lzo":
        coded = bytes([17 + size]) + original + b"\x11\0\0"
    else:
        coded = struct.pack("<IBB", 0xFD2FB528, 0x20, size) + \
            struct.pack("<I", size << 3 | 1)[:3] + original
    return struct.pack("<II", len(coded), size) + coded


def compressed(codec):
    """Records across compressed buffers, alone and merged, some from Flink; one that is none, an
    event behind which records are known again, and one that is none among good ones."""
    stream = records(b"one", b"two", b"three" * 20, b"four", b"")
    flink = read_lines("2.2.1", "messages.tsv")["buffer-%s-0" % codec][47:]
    first, second, third, fourth = stream[:9], stream[9:20], stream[20:120], stream[120:]
    bad = copied(codec, first)
    bad = bad[:4] + b"\x0a" + bad[5:]
    return b"".join([
        FLINK["PartitionRequest"], FLINK["AddCredit"], FLINK["AddCredit"],
        buffer(0, copied(codec, first), compressed=1), buffer(1, second),
        merged(2, [copied(codec, third), copied(codec, fourth), flink], compressed=1),
        buffer(5, flink, compressed=1), buffer(6, bad, compressed=1),
        buffer(7, copied(codec, records(b"lost")), compressed=1),
        buffer(8, struct.pack(">iq", 4, 7), data_type=2),
        merged(9, [copied(codec, records(b"known")), bad, flink], compressed=1),
        buffer(12, bytes(4), data_type=10)])


def merged_events():
    """Ranges of four subpartitions: all of them end, with three events that share a frame, one of
    which does not decode, before; of the other channel half of them do, the first inside a record."""
    end_of_data, cancel = struct.pack(">iB", 8, 0), struct.pack(">iq", 4, 7)
    request = FLINK["PartitionRequest"]
    request = request[:69] + struct.pack(">ii", 4, 7) + request[77:]
    other = bytes(range(0x30, 0x40))
    return b"".join([
        request, merged(0, [records(b"a"), records(b"b", b"c")]),
        merged(2, [cancel, b"\0\0\0\x63", cancel], data_type=2), merged(5, [end_of_data] * 3, 9),
        merged(8, [end_of_data], 9), merged(9, [bytes(4)] * 2, 10), merged(11, [bytes(4)] * 2, 10),
        request[:77] + other + request[93:],
        merged(0, [records(b"cut")[:5]], channel=other),
        merged(1, [bytes(4)] * 2, 10, channel=other)])


def gap():
    """A data buffer is missing; records are known again behind the barrier."""
    talk = Talk().open().say([(True, FLINK["PartitionRequest"])])
    talk.say([(False, buffer(0, records(b"one", b"two")))])
    lost = buffer(1, records(b"three"))
    talk.lose(False, len(lost))
    talk.say([(False, buffer(2, records(b"four"))),
              (False, buffer(3, FLINK["Barrier.aligned"][47:], data_type=4)),
              (False, buffer(4, records(b"five"))), (False, buffer(5, bytes(4), data_type=10))])
    return talk.close()


def hole():
    """A piece out of the middle of a payload is missing: the frames stay in step."""
    talk = Talk().open().say([(True, FLINK["PartitionRequest"])])
    frame = buffer(0, records(b"y" * 200))
    talk.send(False, payload=frame[:100])
    talk.lose(False, 50)
    talk.send(False, payload=frame[150:])
    talk.say([(False, buffer(1, bytes(4), data_type=10))])
    return talk.close()


def middle():
    """It begins inside a payload that holds the magic number by chance."""
    frame = buffer(7, b"x" * 30 + b"\xba\xdc\x0f\xfe" + b"x" * 30)
    return Talk().say([(False, frame[60:]), (False, buffer(8, records(b"unknown"))),
                       (False, buffer(9, bytes(4), data_type=2 + 8))]).packets


def garbage():
    """Between good frames: nonsense, an unknown type, an absurd length, a bad event."""
    frames = [FLINK["PartitionRequest"], b"nonsense", FLINK["AddCredit"],
              struct.pack(">IIB", 12, 0xBADC0FFE, 99) + b"abc", FLINK["ResumeConsumption"],
              struct.pack(">IIB", 2**31, 0xBADC0FFE, 0), FLINK["AckAll"],
              buffer(0, b"\0\0\0\x63", data_type=2), FLINK["CloseRequest"],
              struct.pack(">IIB", 69, 0xBADC0FFE, 2) + bytes(60), FLINK["CloseRequest"]]
    return b"".join(frames)


def broken_protocol():
    """Buffers without credit, out of sequence, and with records that cannot be."""
    other = bytes(range(0x30, 0x40))
    request = FLINK["PartitionRequest"][:77] + other + struct.pack(">i", 1)
    return b"".join([
        request, buffer(0, records(b"paid"), channel=other), buffer(1, b"", channel=other),
        buffer(1, records(b"again"), channel=other), buffer(4, records(b"far"), channel=other),
        FLINK["PartitionRequest"], buffer(0, b"\xff\xff\xff\xff!"),
        FLINK["PartitionRequest"], buffer(0, b"\0\0\0\x09short"), buffer(1, bytes(4), data_type=10),
    ])


def errors():
    """Throwables with causes and stacks, some of more than is kept, one deeper than is read."""
    causes, stacks = read_frames("throwables.txt"), read_frames("stacks.txt")
    streams = [stacks["forms"], stacks["natural"], stacks["cycle"], stacks["deep-stack"],
               causes["remote-transport"], causes["chain"], causes["deep-chain"]]
    frames = [struct.pack(">IIB", 9 + len(s) + 17, 0xBADC0FFE, 1) + s + b"\x01" + CHANNEL
              for s in streams]
    frames.insert(0, FLINK["PartitionRequest"])
    return b"".join(frames + [read_lines(version, "messages.tsv")["error-producer"]
                              for version in ("1.14.6", "2.3.0")])


def reused_ports():
    """Two connections between the same ends, and one that runs at the same time."""
    first = session()
    second = session(sequences=(70000, 90000), at=START_NS + 10**9)
    other = session(client=("10.0.0.3", 40000), at=START_NS + 500)
    return sorted(first + second + other, key=lambda p: p[0])


def others():
    """Beside Flink's connection: HTTP, TLS, SSH in mid-stream, something unknown, UDP, a fragment."""
    packets = session()
    http = Talk(client=("10.0.0.3", 1), server=SERVER).open()
    http.say([(True, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"), (False, b"HTTP/1.1 404 Not Found\r\n\r\n")])
    tls = Talk(client=("10.0.0.4", 1), server=SERVER).open()
    tls.say([(True, bytes.fromhex("16030100c8010000c40303") + bytes(193)),
             (False, bytes.fromhex("1603030050") + bytes(80))])
    ssh = Talk(client=("10.0.0.5", 1), server=("10.0.0.2", 22))
    ssh.say([(True, bytes(range(100))), (False, bytes(range(50)))])
    packets += http.close() + tls.close() + ssh.packets
    fragment = ip(CLIENT, SERVER, tcp(CLIENT, SERVER, 1, ACK, bytes(8)), fragment=0x2000)
    return packets + [(START_NS, fragment), (START_NS, ip(CLIENT, SERVER, b"")[:9] + b"\x11" +
                                             ip(CLIENT, SERVER, bytes(8))[10:])]


def main():
    v6 = session(client=("fe80::1", 40000), server=("::1", 6121))
    good = pcap(session())
    files = {
        "ethernet.pcap": good,
        "big-endian.pcap": pcap(session(), order=">"),
        "nanoseconds.pcap": pcap(session(), order=">", nano=True),
        "vlan.pcap": pcap(session(), vlans=[(0x88A8, 7), (0x8100, 8)]),
        "null.pcap": pcap(session(), NULL),
        "loop.pcap": pcap(session(), LOOP),
        "raw-ip.pcap": pcap(session(), RAW),
        "sll.pcap": pcap(session(), SLL),
        "sll2.pcap": pcap(session(), SLL2),
        "two-interfaces.pcapng": pcapng(session()),
        "ipv6.pcap": pcap(v6),
        "trace.pcap": trace(),
        "cut.pcap": pcap(cut_session()),
        "session.raw": b"".join(frame for _, frame in conversation()),
        "every-frame.raw": b"".join(FLINK.values()) + b"".join(OWN.values()),
        "records.raw": b"".join(record_frames()),
        "merged-events.raw": merged_events(),
        "compressed-lz4.raw": compressed("lz4"),
        "compressed-zstd.raw": compressed("zstd"),
        "compressed-lzo.raw": compressed("lzo"),
        "reused-ports.pcap": pcap(reused_ports()),
        "gap.pcap": pcap(gap()),
        "hole.pcap": pcap(hole()),
        "snap-length.pcap": pcap(session(), snap=130),
        "mid-stream.pcap": pcap(middle()),
        "mid-stream.raw": buffer(0, records(b"whole"))[20:] + FLINK["CloseRequest"],
        "garbage.raw": garbage(),
        "protocol.raw": broken_protocol(),
        "errors.raw": errors(),
        "others.pcap": pcap(others()),
        "cut-frame.raw": FLINK["PartitionRequest"] + FLINK["BufferResponse.hello"][:50],
        "truncated.pcap": good[:-30],
        "absurd-length.pcap": good[:24] + struct.pack("<IIII", 0, 0, 2**31, 2**31) + good[24:],
        "unknown-link.pcap": pcap(session(), 147),
        "bad-block.pcapng": pcapng(session())[:384] + b"\x13" * 100,
        "http.raw": b"GET /metrics HTTP/1.1\r\nHost: taskmanager\r\n\r\n",
        "tls.raw": bytes.fromhex("160301020001000001fc0303") + bytes(500),
        "wrong-magic.raw": FLINK["CloseRequest"].replace(b"\xfe\x05", b"\xff\x05") * 4,
        "kept-back.pcap": pcap(kept_back()),
        "changed-dialect.raw": changed_dialect(),
        "short.raw": b"\x00",
        "empty": b"",
    }
    for version in VERSIONS:
        dialect = Dialect(version)
        name = "flink-" + ".".join(version.split(".")[:2])
        files[name + ".pcap"] = pcap(Talk().open().say(dialect.session()).close())
        files[name + "-late.pcap"] = pcap(Talk().say(late_session(dialect)).packets)
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    for name, data in files.items():
        (folder / name).write_bytes(data)


main()
