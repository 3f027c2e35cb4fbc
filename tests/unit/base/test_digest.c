/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/digest: the same for the same records in whatever order and batches, another one for others.
 *
 * The hashes were computed by a second implementation of SipHash-2-4, written after the paper and
 * checked with the paper's own vector; their bytes are read as one big-endian number.
 */
#include "fnet/digest.h"

#include "../tap.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct fnet_span text(const char *string)
{
    return fnet_span_of(string, strlen(string));
}

static struct fnet_digest digest_of(const struct fnet_span *records, size_t n)
{
    struct fnet_digest digest = {0};

    fnet_digest_add(&digest, records, n);
    return digest;
}

static void check_same(struct fnet_digest a, struct fnet_digest b)
{
    CHECK(a.records == b.records);
    CHECK(a.bytes == b.bytes);
    CHECK(a.hash == b.hash);
}

static void test_vectors(void)
{
    uint8_t counting[64];
    const struct {
        struct fnet_span record;
        uint64_t hash;
    } vectors[] = {
        {text(""), UINT64_C(0xd70077739d4b921e)},
        {text("a"), UINT64_C(0x49a293cd6008c296)},
        {text("abc"), UINT64_C(0xdeee70479684c83f)},
        {text("hello world"), UINT64_C(0x0a8bab584ba9f856)},
        {fnet_span_of(counting, sizeof counting), UINT64_C(0xc7cd121c5d26198b)},
    };
    struct fnet_digest sum = {0};

    for (size_t i = 0; i < sizeof counting; i++)
        counting[i] = (uint8_t)i;
    CASE("a record counts as its SipHash-2-4 under a key of zeros");
    for (size_t i = 0; i < COUNT(vectors); i++) {
        struct fnet_digest digest = digest_of(&vectors[i].record, 1);
        CHECK(digest.hash == vectors[i].hash);
        CHECK_INT(digest.records, 1);
        CHECK_INT(digest.bytes, vectors[i].record.len);
        sum.hash += vectors[i].hash;
        sum.bytes += vectors[i].record.len;
        sum.records++;
        fnet_digest_add(&digest, &vectors[i].record, 1);
        CHECK(digest.hash == 2 * vectors[i].hash);
    }

    CASE("several count as the sum, which may wrap");
    struct fnet_digest digest = {0};
    for (size_t i = 0; i < COUNT(vectors); i++)
        fnet_digest_add(&digest, &vectors[i].record, 1);
    check_same(digest, sum);
}

static void test_order(void)
{
    const struct fnet_span forwards[] = {text("one"), text("two"), text(""), text("two")};
    const struct fnet_span backwards[] = {text("two"), text(""), text("two"), text("one")};
    struct fnet_digest whole = digest_of(forwards, COUNT(forwards));

    CASE("order does not matter");
    check_same(digest_of(backwards, COUNT(backwards)), whole);

    CASE("nor does how the records are batched, nor an empty batch");
    for (size_t cut = 0; cut <= COUNT(forwards); cut++) {
        struct fnet_digest digest = digest_of(forwards, cut);
        fnet_digest_add(&digest, forwards + cut, COUNT(forwards) - cut);
        check_same(digest, whole);
    }
    check_same(digest_of(NULL, 0), (struct fnet_digest){0});
}

static void test_differences(void)
{
    const struct fnet_span records[] = {text("ab"), text("c")};
    const struct fnet_span cut_elsewhere[] = {text("a"), text("bc")};
    const struct fnet_span one_byte_off[] = {text("ab"), text("d")};
    const struct fnet_span repeated[] = {text("ab"), text("ab"), text("c")};
    uint64_t hash = digest_of(records, COUNT(records)).hash;

    CASE("records cut elsewhere, changed, lost or repeated give another hash");
    CHECK(digest_of(cut_elsewhere, COUNT(cut_elsewhere)).hash != hash);
    CHECK(digest_of(one_byte_off, COUNT(one_byte_off)).hash != hash);
    CHECK(digest_of(records, 1).hash != hash);
    CHECK(digest_of(repeated, COUNT(repeated)).hash != hash);
}

int main(void)
{
    test_vectors();
    test_order();
    test_differences();
    return tap_done();
}
