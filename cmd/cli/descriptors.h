/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli: the three descriptors that a program is started with.
 */
#ifndef CLI_DESCRIPTORS_H
#define CLI_DESCRIPTORS_H

/**
 * Where standard input, output or error is closed, put something in its place that cannot be used:
 * else the next file opened, a socket perhaps, would be taken for it. First thing in main().
 */
void descriptors_guard(void);

#endif
