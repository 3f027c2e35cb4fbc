/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Error codes to words and families.
 */
#include "fnet/err.h"

enum fnet_err_class fnet_err_class(enum fnet_err err)
{
    if (err == FNET_OK)
        return FNET_CLASS_OK;
    if (err > FNET_INVALID)
        return FNET_CLASS_FLOW;
    if (err > FNET_TRUNCATED)
        return FNET_CLASS_CALLER;
    if (err > FNET_NOMEM)
        return FNET_CLASS_PEER;
    return FNET_CLASS_SYSTEM;
}

const char *fnet_strerror(enum fnet_err err)
{
    switch (err) {
    case FNET_OK: return "success";
    case FNET_AGAIN: return "not now";
    case FNET_EOF: return "end of data";
    case FNET_INCOMPRESSIBLE: return "no smaller when compressed";
    case FNET_INVALID: return "invalid argument";
    case FNET_STATE: return "not possible in this state";
    case FNET_RANGE: return "out of range";
    case FNET_UNSUPPORTED: return "not supported by this build";
    case FNET_TRUNCATED: return "cut short";
    case FNET_BAD_MAGIC: return "wrong magic number, the peer does not speak Flink's protocol";
    case FNET_BAD_LENGTH: return "impossible length";
    case FNET_BAD_KIND: return "unexpected message or event";
    case FNET_BAD_SEQUENCE: return "wrong sequence number";
    case FNET_BAD_VALUE: return "impossible value";
    case FNET_NO_CREDIT: return "buffer without credit";
    case FNET_UNKNOWN_RECEIVER: return "unknown receiver";
    case FNET_NO_PARTITION: return "no such partition";
    case FNET_REMOTE: return "error reported by the peer";
    case FNET_LOST: return "connection lost";
    case FNET_NOMEM: return "out of memory";
    case FNET_SYSTEM: return "system error";
    }
    return "unknown error";
}
