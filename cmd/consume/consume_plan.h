/* SPDX-License-Identifier: Apache-2.0 */
/*
 * consume: what would be done, in words, and whether it may be.
 */
#ifndef CONSUME_PLAN_H
#define CONSUME_PLAN_H

#include "consume/consume_config.h"

/** --dry-run: print gates, endpoints, outputs. Returns an exit status. */
int plan_print(const struct consume_config *config);

/**
 * Addresses of other hosts need --plaintext. A name that cannot be resolved is left to the
 * connector, who may try again. Returns an exit status; a mistake was said.
 */
int plan_check_addresses(const struct consume_config *config);

#endif
