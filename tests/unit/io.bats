# SPDX-License-Identifier: Apache-2.0
bats_require_minimum_version 1.5.0

@test "io/loop: tasks run in order and in turns, the loop waits, signals reach the handler" { "$BUILD/tests/unit/io/test_loop"; }
@test "io/loop_epoll: refused files are always ready, changes are told before the wait" { "$BUILD/tests/unit/io/test_loop_epoll"; }
@test "io/loop_poll: one descriptor may be watched twice, a closed one counts as hung up" { "$BUILD/tests/unit/io/test_loop_poll"; }
@test "io/watch: interest, hang-ups without busy loops, closing within a batch" { "$BUILD/tests/unit/io/test_watch"; }
@test "io/signal_fd: the mask is restored" { "$BUILD/tests/unit/io/test_signal_fd"; }
@test "io/signal_pipe: actions and mask are restored, a full pipe does not block" { "$BUILD/tests/unit/io/test_signal_pipe"; }
@test "io/timer: deadlines in order, set and cancelled by callbacks" { "$BUILD/tests/unit/io/test_timer"; }
@test "io/endpoint: strict texts, each mistake with its reason" { "$BUILD/tests/unit/io/test_endpoint"; }
@test "io/resolver: numeric hosts and unix sockets resolve without a name server" { "$BUILD/tests/unit/io/test_resolver"; }
@test "io/address: text of every family, and what is loopback" { "$BUILD/tests/unit/io/test_address"; }
@test "io/descriptor: the way depends on the kind, the inherited description is left alone" { "$BUILD/tests/unit/io/test_descriptor"; }
@test "io/input: files, pipes, sockets and terminals are read without waiting" { "$BUILD/tests/unit/io/test_input"; }
@test "io/output: files, pipes and sockets are written without waiting, a reader that left is noticed" { "$BUILD/tests/unit/io/test_output"; }
@test "io/connection: partitions over every kind of socket, peers that are slow or silent, nothing spins" { "$BUILD/tests/unit/io/test_connection"; }
@test "io/connection: ends in every phase, last words are heard before a reset, nobody is waited for for ever" { "$BUILD/tests/unit/io/test_connection_end"; }
@test "io/listener: ports and socket files, stale ones replaced, live ones never, out of descriptors" { "$BUILD/tests/unit/io/test_listener"; }
@test "io/connector: every address in turn, rounds with pauses, timeouts, freed in callbacks" { "$BUILD/tests/unit/io/test_connector"; }
@test "io/trace: read back as written, on disk in time, a full disk is told" { "$BUILD/tests/unit/io/test_trace"; }
