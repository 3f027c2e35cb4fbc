/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_random_keys.c once more over the hash that machines without SSE2 use.
 */
#undef __SSE2__
#include "../../../lib/stream/key_group.c"

#include "test_random_keys.c"
