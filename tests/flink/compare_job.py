#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare what fnet-inspect found in the traffic of a job with what Flink says about the job.

    compare_job.py REPORT MESSAGES PACKETS

REPORT is what live.Job prints, MESSAGES what `fnet-inspect --json --records --serde
'tuple(long,int,string)'` does, PACKETS what `tcpdump -nnS` does. Each difference is a line, and the
status is 1 if there is one.
"""
import collections
import json
import re
import sys

PACKET = re.compile(r'IP 127\.0\.0\.1\.(\d+) > 127\.0\.0\.1\.(\d+): '
                    r'Flags \[(\S+)\], seq (\d+)(?::(\d+))?,')
differences = 0


def expect(what, found, expected):
    global differences
    if found != expected:
        print(f'{what}: found {found}, expected {expected}')
        differences += 1


class Report:
    """Subtasks by kind and number; checkpoints that were completed, by the producers in them."""

    def __init__(self, lines):
        self.port = {}
        self.count = {}
        self.producer = {}
        self.triggered = set()
        self.end = []
        self.completed = {}
        self.accumulators = collections.Counter()
        for kind, *words in map(str.split, lines):
            if kind in ('producer', 'consumer'):
                subtask = kind, int(words[0])
                self.port[subtask] = int(words[2])
                self.count[subtask] = int(words[3])
                if kind == 'producer':
                    self.producer[words[1]] = int(words[0])
            elif kind == 'checkpoint':
                self.triggered.add(int(words[0]))
                if words[1] == 'COMPLETED':
                    self.completed[int(words[0])] = set(map(int, words[2:]))
            elif kind == 'end':
                self.end = words
            else:
                self.accumulators[kind, int(words[0]), int(words[1])] = int(words[2])

    def subtasks(self, kind):
        return sorted(number for k, number in self.port if k == kind)

    def subpartitions_of(self, consumer):
        """Each consumer reads one, or the only one all of them."""
        is_alone = len(self.subtasks('consumer')) == 1
        return self.subtasks('producer') if is_alone else [consumer]

    def crossing(self):
        """The channels that do not stay in one TaskManager."""
        return {(i, j) for i in self.subtasks('producer') for j in self.subtasks('consumer')
                if self.port['producer', i] != self.port['consumer', j]}


def java_hash(text):
    value = 0
    units = text.encode('utf-16-be')
    for at in range(0, len(units), 2):
        value = (31 * value + int.from_bytes(units[at:at + 2], 'big')) & 0xffffffff
    return value - (1 << 32) if value >> 31 else value


class Channel:
    """What one consumer got from one producer."""

    def __init__(self, producer, consumer):
        self.producer = producer
        self.consumer = consumer
        self.subpartitions = []
        self.records = 0
        self.sum = 0
        self.barriers = []
        self.events = []

    def take(self, message):
        # Of a blocking partition several events may share a frame.
        for event in message.get('events') or [message.get('event')]:
            if event:
                self.events.append(event['type'])
                if event['type'] == 'CheckpointBarrier':
                    self.barriers.append(event['id'])
        for record in message.get('records', []):
            if record['type'] == 'StreamRecord':
                self.take_record(record)

    def take_record(self, record):
        number, producer, text = record['value']
        expect('producer in the record', producer, self.producer)
        expect('time stamp of the record', record['timestamp'], number)
        self.records += 1
        self.sum += number + java_hash(text)

    def compare(self, report):
        name = f'channel {self.producer}-{self.consumer}'
        key = self.producer, self.consumer
        expect(f'{name}: records', self.records, report.accumulators['records', *key])
        expect(f'{name}: sum', self.sum, report.accumulators['sum', *key])
        expect(f'{name}: barriers of completed checkpoints',
               [i for i in self.barriers if i in report.completed],
               sorted(i for i, who in report.completed.items() if self.producer in who))
        expect(f'{name}: barriers of unknown checkpoints',
               [i for i in self.barriers if i not in report.triggered], [])
        expect(f'{name}: last event', self.events[-1:], report.end[-1:])
        expect(f'{name}: subpartitions', sorted(self.subpartitions),
               report.subpartitions_of(self.consumer))
        for event in report.end:
            expect(f'{name}: {event}', self.events.count(event), len(self.subpartitions))


def compare_messages(report, lines):
    """Print the differences; return the bytes in each direction of each connection."""
    is_alone = len(report.subtasks('consumer')) == 1
    channels = {}
    receivers = {}
    sizes = collections.Counter()
    for message in map(json.loads, lines):
        sizes[message['connection'], message['direction']] += message['length']
        if message['type'] == 'PartitionRequest' and message['receiver'] not in receivers:
            first = message['subpartition']
            key = report.producer[message['producer']], 0 if is_alone else first
            channel = receivers[message['receiver']] = channels.setdefault(key, Channel(*key))
            channel.subpartitions += range(first, message.get('last_subpartition', first) + 1)
            expect('port of the producer', message['connection'].rpartition(':')[2],
                   str(report.port['producer', channel.producer]))
        elif message['type'] == 'BufferResponse':
            receivers[message['receiver']].take(message)
    expect('channels', set(channels), report.crossing())
    for channel in channels.values():
        channel.compare(report)
    return sizes


def packet_sizes(report, lines):
    """Bytes in each direction of each connection, by TCP's sequence numbers alone."""
    ports = set(report.port.values())
    start = {}
    sizes = collections.Counter()
    for line in lines:
        found = PACKET.search(line)
        if not found:
            continue
        source, target = int(found[1]), int(found[2])
        if 'S' in found[3]:
            start[source, target] = int(found[4]) + 1
        elif found[5]:
            is_request = target in ports
            name = '127.0.0.1:%d-127.0.0.1:%d' % ((source, target) if is_request
                                                  else (target, source))
            size = (int(found[5]) - start[source, target]) % (1 << 32)
            key = name, 'request' if is_request else 'response'
            sizes[key] = max(sizes[key], size)
    return sizes


def main():
    report, messages, packets = (open(path, encoding='utf-8') for path in sys.argv[1:])
    report = Report(report)
    for kind, own in ('producer', 1), ('consumer', 2):
        for number in report.subtasks(kind):
            expect(f'records of {kind} {number}',
                   sum(n for key, n in report.accumulators.items()
                       if key[0] == 'records' and key[own] == number),
                   report.count[kind, number])
    expect('bytes', compare_messages(report, messages), packet_sizes(report, packets))
    sys.exit(differences > 0)


main()
