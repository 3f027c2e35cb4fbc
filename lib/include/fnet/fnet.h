/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fnet: everything the installed library offers: its rooms base, wire, event
 * and record. Not thread safe: an object belongs to one thread at a time.
 *
 * The headers use what glibc shows by default; with a strict -std=c11 define _DEFAULT_SOURCE.
 */
#ifndef FNET_FNET_H
#define FNET_FNET_H

#define FNET_VERSION "0.1.0"

#include "fnet/bytes.h"
#include "fnet/data_type.h"
#include "fnet/dialect.h"
#include "fnet/element.h"
#include "fnet/err.h"
#include "fnet/event.h"
#include "fnet/id.h"
#include "fnet/record.h"
#include "fnet/throwable.h"
#include "fnet/value.h"
#include "fnet/wire.h"

#endif
