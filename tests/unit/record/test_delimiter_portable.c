/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_delimiter.c once more over the search that machines without SSE2 use.
 */
#undef __SSE2__
#include "../../../lib/record/delimiter.c"

#include "test_delimiter.c"
