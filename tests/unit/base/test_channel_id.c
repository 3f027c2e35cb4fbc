/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ids of channels that say what their consumer speaks.
 */
#include "fnet/dialect.h"

#include "../tap.h"

int main(void)
{
    const struct fnet_dialect *dialect;
    struct fnet_id a, b;

    CASE("the id of a channel says its dialect, each its own");
    for (size_t i = 0; (dialect = fnet_dialect_at(i)); i++) {
        fnet_channel_id_random(dialect, &a);
        CHECK(fnet_channel_id_dialect(&a) == dialect);
        fnet_channel_id_random(dialect, &b);
        CHECK(fnet_channel_id_dialect(&b) == dialect);
        CHECK(!fnet_id_is_equal(&a, &b));
    }

    CASE("it begins with readable bytes: fnet, and the version");
    CHECK_INT(fnet_dialect_parse("1.12.6", &dialect), FNET_OK);
    fnet_channel_id_random(dialect, &a);
    CHECK(memcmp(a.bytes, "fnet\1\14\5\0", 8) == 0);

    CASE("what is random says none, nor does a version that there is not");
    for (int i = 0; i < 100; i++) {
        fnet_id_random(&b);
        CHECK(fnet_channel_id_dialect(&b) == NULL);
    }
    for (size_t i = 0; i < 8; i++) {
        b = a;
        b.bytes[i] ^= 0x80;
        CHECK(fnet_channel_id_dialect(&b) == NULL);
    }
    return tap_done();
}
