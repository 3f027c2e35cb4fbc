/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A digest of records that does not depend on their order.
 *
 * Source: SipHash-2-4 (libsodium crypto_shorthash).
 */
#include "fnet/digest.h"

#include <sodium.h>

void fnet_digest_add(struct fnet_digest *digest, const struct fnet_span *records, size_t n)
{
    static const unsigned char key[crypto_shorthash_KEYBYTES];

    for (size_t i = 0; i < n; i++) {
        unsigned char hash[crypto_shorthash_BYTES];
        crypto_shorthash(hash, records[i].ptr, records[i].len, key);
        digest->hash += fnet_load_be64(hash);
        digest->bytes += records[i].len;
    }
    digest->records += n;
}
