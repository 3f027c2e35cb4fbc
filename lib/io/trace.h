/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io, private: what a connection tells the trace.
 */
#ifndef FNET_IO_TRACE_H
#define FNET_IO_TRACE_H

#include "fnet/connection.h"

/** The two ends of a connection, as every packet of it repeats them. */
struct fnet__trace_flow {
    struct fnet_address consumer;
    struct fnet_address producer;
    uint32_t number; /**< tells unix connections apart */
};

/** Begin a flow. */
void fnet__trace_begin(struct fnet_trace *trace, struct fnet__trace_flow *flow);

/** The first LEN bytes of SPANS went from the producer to the consumer, or the other way. */
void fnet__trace_write(struct fnet_trace *trace, const struct fnet__trace_flow *flow,
                       bool is_response, const struct iovec *spans, size_t len);

#endif
