/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli: --serde, what Flink's records are, and what is said of a text that is none.
 */
#ifndef CLI_SERDE_H
#define CLI_SERDE_H

#include "fnet/value.h"

/** Room for what serde_explain() says. */
#define SERDE_FAULT_BYTES 256

/** fnet_serde_parse() in the manner of an option's setter. */
FNET_CHECKED enum fnet_err serde_parse(const char *text, struct fnet_serde *serde,
                                       const char **why);

/** Why a text is none of SERDE, with its beginning: "not a long: '12x'". */
void serde_explain(const struct fnet_serde *serde, const struct fnet_value_fault *fault,
                   char text[static SERDE_FAULT_BYTES]);

#endif
