/* SPDX-License-Identifier: Apache-2.0 */
/*
 * consume: one operand of the command line.
 */
#ifndef CONSUME_OPERAND_H
#define CONSUME_OPERAND_H

#include "consume/consume_config.h"

/**
 * Parse HOST[:PORT][/NAME[:SUBS]] or unix:PATH/NAME[:SUBS]. A unix path that is a socket as a whole
 * needs no name.
 *
 * @param out  owned by caller: operand_clear().
 * @param why  on failure a static text.
 *
 * Errors: FNET_INVALID, FNET_NOMEM.
 */
FNET_CHECKED enum fnet_err operand_parse(const char *text, struct consume_operand *out,
                                         const char **why);
void operand_clear(struct consume_operand *operand);

#endif
