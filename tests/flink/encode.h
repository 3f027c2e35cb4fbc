/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flink: what fnet's encoders make of fields, in lines for Flink to read.
 */
#ifndef FLINK_ENCODE_H
#define FLINK_ENCODE_H

#include "fnet/dialect.h"
#include "fnet/event.h"
#include "fnet/wire.h"

#include "../unit/flink_fields.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/** Is DIALECT that of the version SINCE or of a later one? */
bool is_since(const struct fnet_dialect *dialect, const char *since);

/** Does the version have events of TYPE? In its dialect there may be more, of later versions. */
bool has_event(const struct fnet_dialect *dialect, unsigned type);

/** An encoder said ERR about something called WHAT: when that is an error the program ends. */
void must(enum fnet_err err, const char *what);

/** Print a line with the bytes of HEAD and TAIL. FIELDS and all scratch memory are used up. */
void write_line(const char *name, struct flink_fields *fields, struct fnet_span head,
                struct fnet_span tail);

/* All there is in DIALECT with values at their limits, then COUNT lines by chance. */
void encode_messages(const struct fnet_dialect *dialect, unsigned count);
void encode_events(const struct fnet_dialect *dialect, unsigned count);
void encode_elements(const struct fnet_dialect *dialect, unsigned count);

/* ---- messages ---------------------------------------------------------------------------- */

/** The frame of MESSAGE without the payload of a BufferResponse, in scratch memory. */
struct fnet_span message_bytes(const struct fnet_dialect *dialect,
                               const struct fnet_message *message);
/** Append the fields of an event in a message. */
void add_nested_event(struct flink_fields *f, const struct fnet_dialect *dialect,
                      const struct fnet_event *event);
/** Every kind of BufferResponse; one by chance. */
void encode_buffers(const struct fnet_dialect *dialect);
void encode_rolled_buffer(const struct fnet_dialect *dialect);

/* ---- events, which messages carry too ---------------------------------------------------- */

/** Call VISIT with every event that DIALECT has, every flag of it and many values. */
void visit_events(const struct fnet_dialect *dialect,
                  void (*visit)(const struct fnet_dialect *dialect, const struct fnet_event *e));
/** Any event that DIALECT has. */
struct fnet_event roll_event(const struct fnet_dialect *dialect);
/** The bytes of EVENT, in scratch memory. */
struct fnet_span event_bytes(const struct fnet_dialect *dialect, const struct fnet_event *event);
/** How many of the BYTES of EVENT are not padding. */
size_t event_own_bytes(const struct fnet_dialect *dialect, const struct fnet_event *event,
                       struct fnet_span bytes);

#endif
