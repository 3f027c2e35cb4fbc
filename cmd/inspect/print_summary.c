/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each connection and channel amounted to, in the order of their first messages.
 */
#include <inttypes.h>

#include "inspect/message_fields.h"
#include "inspect/printers.h"

void print_dialect_words(FILE *out, const struct dialect_guess *guess)
{
    fprintf(out, "dialect %s, ", guess->versions);
    if (guess->is_given)
        fputs("given\n", out);
    else if (guess->is_sure)
        fputs("sure\n", out);
    else
        fprintf(out, "nothing tells which: read as %s\n", guess->dialect->versions);
}

static void print_extremes(FILE *out, const char *name, const struct extremes *e)
{
    if (e->is_known)
        fprintf(out, "    %s %" PRId64 " to %" PRId64 "\n", name, e->min, e->max);
    else
        fprintf(out, "    %s unknown\n", name);
}

static void print_partition(FILE *out, const struct channel *channel)
{
    char partition[FNET_PARTITION_ID_TEXT_BYTES];

    if (!channel->has_request)
        return;
    const char *producer =
        message_partition_split(channel->dialect, &channel->partition, partition);
    fprintf(out, "    partition %s@%s subpartition %" PRId32, partition, producer, channel->first);
    if (channel->last != channel->first)
        fprintf(out, "-%" PRId32, channel->last);
    putc('\n', out);
}

static void print_compressed(FILE *out, const struct channel *channel)
{
    if (channel->compressed == 0)
        return;
    fprintf(out, "    compressed buffers %" PRIu64, channel->compressed);
    if (channel->codec != FNET_CODEC_NONE)
        fprintf(out, " codec %s", fnet_codec_name(channel->codec));
    if (channel->undecoded > 0)
        fprintf(out, " (and %" PRIu64 " of them not decompressed)", channel->undecoded);
    putc('\n', out);
}

static void print_end(FILE *out, const struct channel *channel)
{
    fprintf(out, "    end of partition %s", channel->is_ended ? "reached" : "not reached");
    if (channel->ends > 0 && !channel->is_ended)
        fprintf(out, ", by %" PRIu64 " of %" PRId64 " subpartitions", channel->ends,
                (int64_t)channel->last - channel->first + 1);
    putc('\n', out);
}

static void print_channel(FILE *out, const struct channel *channel)
{
    char id[FNET_ID_TEXT_BYTES];

    fnet_id_format(&channel->id, id);
    fprintf(out, "  channel %s\n", id);
    print_partition(out, channel);
    fprintf(out, "    messages %" PRIu64 " bytes %" PRIu64 "\n", channel->messages, channel->bytes);
    fprintf(out,
            "    buffers %" PRIu64 " events %" PRIu64 " payload bytes %" PRIu64 " records %" PRIu64
            "%s\n",
            channel->buffers, channel->events, channel->payload_bytes, channel->records,
            channel->is_record_missed ? " (and some not known)" : "");
    print_compressed(out, channel);
    print_extremes(out, "credit", &channel->credits);
    print_extremes(out, "backlog", &channel->backlogs);
    fprintf(out, "    sequence gaps %" PRIu64 " errors %" PRIu64 "\n", channel->sequence_gaps,
            channel->errors);
    print_end(out, channel);
}

static void print_connection(FILE *out, const struct connection *connection)
{
    const uint64_t ns = connection->last_ns - connection->first_ns;
    char name[CONNECTION_NAME_BYTES];

    conversation_name(connection, name);
    fprintf(out, "connection %s\n  ", name);
    print_dialect_words(out, connection->guess);
    for (enum direction d = REQUEST; d <= RESPONSE; d++)
        fprintf(out, "  %s messages %" PRIu64 " bytes %" PRIu64 "\n",
                d == REQUEST ? "request" : "response", connection->messages[d],
                connection->bytes[d]);
    if (connection->has_time)
        fprintf(out, "  from %" PRIu64 ".%09" PRIu64 " for %" PRIu64 ".%09" PRIu64 " seconds\n",
                connection->first_ns / 1000000000, connection->first_ns % 1000000000,
                ns / 1000000000, ns % 1000000000);
    fprintf(out, "  errors %" PRIu64 "\n", connection->errors);
    for (const struct channel *c = connection->channels; c; c = c->next)
        print_channel(out, c);
}

void print_summary(FILE *out, const struct conversation *c)
{
    for (const struct connection *i = c->connections; i; i = i->next)
        print_connection(out, i);
}
