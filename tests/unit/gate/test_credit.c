/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of credit: how many buffers the sender is told of, when, and who gets the
 * floating ones.
 */
#include "../../../lib/gate/credit.h"

#include "../tap.h"

/* How often has_credit() was called, and for whom last. */
static int calls;
static struct fnet__credit *last_called;

static void on_credit(struct fnet__credit *credit)
{
    calls++;
    last_called = credit;
}

static struct fnet__credit made(uint32_t exclusive, struct fnet__floating *floating)
{
    struct fnet__credit credit;

    fnet__credit_init(&credit, exclusive, floating);
    return credit;
}

/* A data buffer arrives and must be paid for by a floating buffer, or by an exclusive one. */
static void use(struct fnet__credit *credit, bool expected)
{
    bool is_floating = !expected;

    CHECK_INT(fnet__credit_use(credit, &is_floating), FNET_OK);
    CHECK_INT(is_floating, expected);
}

static void test_request(void)
{
    struct fnet__floating floating;
    bool is_floating = true;

    CASE("a request gives the exclusive buffers: they are announced by it and never again");
    fnet__floating_init(&floating, 8, on_credit);
    struct fnet__credit c = made(2, &floating);
    calls = 0;
    CHECK_INT(c.granted, 2);
    CHECK_INT(fnet__credit_available(&c), 2);
    CHECK_INT(fnet__credit_announce(&c), 0);
    CHECK_INT(calls, 0);

    CASE("each data buffer that arrives uses a credit");
    use(&c, false);
    use(&c, false);
    CHECK_INT(c.granted, 0);

    CASE("data without credit is an error and changes nothing");
    CHECK_INT(fnet__credit_use(&c, &is_floating), FNET_NO_CREDIT);
    CHECK(is_floating);
    CHECK_INT(c.granted, 0);
    CHECK_INT(fnet__credit_available(&c), 0);

    CASE("an exclusive buffer that was consumed is announced");
    fnet__credit_return(&c, false);
    CHECK_INT(calls, 1);
    CHECK(last_called == &c);
    CHECK_INT(c.granted, 0);
    CHECK_INT(fnet__credit_use(&c, &is_floating), FNET_NO_CREDIT);

    CASE("what is announced is the sum of what came back; the call for it comes once");
    fnet__credit_return(&c, false);
    CHECK_INT(calls, 1);
    CHECK_INT(fnet__credit_announce(&c), 2);
    CHECK_INT(c.granted, 2);
    CHECK_INT(fnet__credit_announce(&c), 0);
}

static void test_backlog(void)
{
    struct fnet__floating floating;

    CASE("a backlog asks for floating buffers until backlog + exclusive are available");
    fnet__floating_init(&floating, 8, on_credit);
    struct fnet__credit c = made(2, &floating);
    calls = 0;
    fnet__credit_set_backlog(&c, 3);
    CHECK_INT(c.required, 5);
    CHECK_INT(fnet__credit_available(&c), 5);
    CHECK_INT(floating.free, 5);
    CHECK_INT(calls, 1);
    CHECK_INT(fnet__credit_announce(&c), 3);
    CHECK_INT(c.granted, 5);

    CASE("a backlog that did not grow asks for nothing");
    fnet__credit_set_backlog(&c, 3);
    fnet__credit_set_backlog(&c, 1);
    CHECK_INT(floating.free, 5);
    CHECK_INT(fnet__credit_announce(&c), 0);

    CASE("floating buffers are used first, then exclusive ones, and each lowers what is required");
    fnet__credit_set_backlog(&c, 3);
    use(&c, true);
    use(&c, true);
    use(&c, true);
    use(&c, false);
    CHECK_INT(c.required, 1);
    CHECK_INT(c.floating_used, 3);
    CHECK_INT(c.exclusive_free, 1);

    CASE("a floating buffer that was consumed goes to the gate, unannounced");
    calls = 0;
    fnet__credit_return(&c, true);
    CHECK_INT(floating.free, 6);
    CHECK_INT(calls, 0);
    CHECK_INT(fnet__credit_announce(&c), 0);

    CASE("what is required does not go below nothing");
    use(&c, false);
    CHECK_INT(c.required, 0);
    fnet__credit_return(&c, false);
    CHECK_INT(fnet__credit_announce(&c), 1);
    use(&c, false);
    CHECK_INT(c.required, 0);

    CASE("a backlog beyond all numbers is just very large");
    fnet__credit_set_backlog(&c, UINT32_MAX);
    CHECK_INT(c.required, UINT32_MAX);
    CHECK_INT(floating.free, 0);
}

static void test_shrinking(void)
{
    struct fnet__floating floating;

    CASE("when the backlog shrank, an exclusive buffer that returns sends a floating one home");
    fnet__floating_init(&floating, 4, on_credit);
    struct fnet__credit c = made(2, &floating);
    use(&c, false);
    use(&c, false);
    fnet__credit_set_backlog(&c, 1);
    CHECK_INT(fnet__credit_available(&c), 3);
    CHECK_INT(fnet__credit_announce(&c), 3);
    fnet__credit_set_backlog(&c, 0);
    calls = 0;
    fnet__credit_return(&c, false);
    CHECK_INT(c.floating_free, 2);
    CHECK_INT(floating.free, 2);

    CASE("... and nothing is announced: the sender may still send as much as he knew of");
    CHECK_INT(calls, 0);
    CHECK_INT(fnet__credit_announce(&c), 0);
    CHECK_INT(c.granted, 3);
    CHECK_INT(fnet__credit_available(&c), 3);

    CASE("without floating buffers to send home it is announced");
    use(&c, true);
    use(&c, true);
    fnet__credit_return(&c, false);
    CHECK_INT(fnet__credit_announce(&c), 1);
}

static void test_waiting(void)
{
    struct fnet__floating floating;

    CASE("when floating buffers run out, channels wait for them");
    fnet__floating_init(&floating, 2, on_credit);
    struct fnet__credit a = made(1, &floating);
    struct fnet__credit b = made(1, &floating);
    struct fnet__credit c = made(1, &floating);
    fnet__credit_set_backlog(&a, 2);
    CHECK_INT(fnet__credit_announce(&a), 2);
    fnet__credit_set_backlog(&b, 2);
    fnet__credit_set_backlog(&c, 1);
    CHECK_INT(floating.free, 0);
    CHECK_INT(fnet__credit_announce(&b), 0);

    CASE("first come, first served, one buffer each, and who needs more waits again behind the "
         "rest");
    use(&a, true);
    use(&a, true);
    calls = 0;
    fnet__credit_return(&a, true);
    CHECK(last_called == &b);
    fnet__credit_return(&a, true);
    CHECK(last_called == &c);
    CHECK_INT(calls, 2);
    CHECK_INT(fnet__credit_announce(&b), 1);
    CHECK_INT(fnet__credit_announce(&c), 1);
    use(&c, true);
    fnet__credit_return(&c, true);
    CHECK_INT(fnet__credit_announce(&b), 1);
    CHECK_INT(floating.free, 0);

    CASE("who does not need one any more is passed over");
    fnet__credit_set_backlog(&a, 5);
    fnet__credit_set_backlog(&c, 5);
    fnet__credit_set_backlog(&a, 0);
    use(&b, true);
    fnet__credit_return(&b, true);
    CHECK_INT(fnet__credit_announce(&a), 0);
    CHECK_INT(fnet__credit_announce(&c), 1);

    CASE("who closes does not wait any more, and what he held goes to the next");
    fnet__credit_set_backlog(&b, 5);
    fnet__credit_close(&c);
    CHECK_INT(c.granted, 0);
    CHECK_INT(c.floating_free, 0);
    CHECK_INT(fnet__credit_announce(&b), 1);
    fnet__credit_close(&b);
    CHECK_INT(floating.free, 2);
}

static void test_identity(void)
{
    struct fnet__floating floating;

    CASE("a consumed floating buffer serves who waits, though exclusive ones are out as well");
    fnet__floating_init(&floating, 1, on_credit);
    struct fnet__credit busy = made(1, &floating);
    struct fnet__credit waiting = made(1, &floating);
    fnet__credit_set_backlog(&busy, 1);
    CHECK_INT(fnet__credit_announce(&busy), 1);
    use(&busy, true);
    use(&busy, false);
    fnet__credit_set_backlog(&waiting, 1);
    fnet__credit_return(&busy, true);
    CHECK_INT(fnet__credit_announce(&waiting), 1);
    CHECK_INT(fnet__credit_announce(&busy), 0);
    fnet__credit_return(&busy, false);
    CHECK_INT(fnet__credit_announce(&busy), 1);
}

static void test_no_exclusive(void)
{
    struct fnet__floating floating;
    bool is_floating = false;

    CASE("without exclusive buffers nothing may come before a backlog is known");
    fnet__floating_init(&floating, 1, on_credit);
    struct fnet__credit c = made(0, &floating);
    CHECK_INT(c.granted, 0);
    CHECK_INT(fnet__credit_use(&c, &is_floating), FNET_NO_CREDIT);

    CASE("then floating buffers come one after the other, as they return");
    fnet__credit_set_backlog(&c, 3);
    CHECK_INT(fnet__credit_announce(&c), 1);
    use(&c, true);
    fnet__credit_set_backlog(&c, 2);
    CHECK_INT(fnet__credit_announce(&c), 0);
    fnet__credit_return(&c, true);
    CHECK_INT(fnet__credit_announce(&c), 1);
    use(&c, true);
    fnet__credit_set_backlog(&c, 0);
    fnet__credit_return(&c, true);
    CHECK_INT(fnet__credit_announce(&c), 0);
    CHECK_INT(floating.free, 1);
}

static void test_closed(void)
{
    struct fnet__floating floating;

    CASE("buffers that return after the end go where they belong");
    fnet__floating_init(&floating, 2, on_credit);
    struct fnet__credit c = made(1, &floating);
    fnet__credit_set_backlog(&c, 1);
    CHECK_INT(fnet__credit_announce(&c), 1);
    use(&c, true);
    use(&c, false);
    fnet__credit_close(&c);
    CHECK_INT(floating.free, 1);
    fnet__credit_return(&c, true);
    CHECK_INT(floating.free, 2);
    fnet__credit_return(&c, false);
    CHECK_INT(c.exclusive_free, 1);
}

/* ---- a long walk ------------------------------------------------------------------------- */

#define CHANNELS 5
#define FLOATING 6
#define EXCLUSIVE 2
#define MOST (FLOATING + EXCLUSIVE)

/* A channel, its sender's view of it, and the buffers not consumed yet, oldest first. */
struct walker {
    struct fnet__credit credit;
    uint32_t known; /* credit the sender has */
    bool held[MOST];
    uint32_t count;
};

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

static void arrive(struct walker *w)
{
    bool is_floating = false;
    enum fnet_err err = fnet__credit_use(&w->credit, &is_floating);

    CHECK_INT(err, w->known > 0 ? FNET_OK : FNET_NO_CREDIT);
    if (err != FNET_OK)
        return;
    w->known--;
    if (CHECK(w->count < MOST))
        w->held[w->count++] = is_floating;
}

static void consume(struct walker *w)
{
    if (w->count == 0)
        return;
    bool is_floating = w->held[0];
    w->count--;
    memmove(w->held, w->held + 1, w->count * sizeof w->held[0]);
    fnet__credit_return(&w->credit, is_floating);
}

static void check_invariants(const struct fnet__floating *floating, struct walker *walkers)
{
    uint32_t floats = floating->free;
    bool does_one_lack = false;

    for (int i = 0; i < CHANNELS; i++) {
        const struct fnet__credit *c = &walkers[i].credit;
        CHECK_INT(c->granted, walkers[i].known);
        CHECK(c->granted + c->unannounced <= fnet__credit_available(c));
        CHECK(c->exclusive_free <= c->exclusive);
        CHECK_INT(c->exclusive - c->exclusive_free + c->floating_used, walkers[i].count);
        floats += c->floating_free + c->floating_used;
        if (fnet_link_is_linked(&c->waiting) && fnet__credit_available(c) < c->required)
            does_one_lack = true;
    }
    CHECK_INT(floats, FLOATING);
    CHECK(!does_one_lack || floating->free == 0);
}

static void walk(uint32_t exclusive)
{
    struct fnet__floating floating;
    struct walker walkers[CHANNELS] = {{.known = exclusive}};
    uint32_t random = exclusive + 1;
    unsigned long announced = 0;

    fnet__floating_init(&floating, FLOATING, on_credit);
    for (int i = 0; i < CHANNELS; i++) {
        fnet__credit_init(&walkers[i].credit, exclusive, &floating);
        walkers[i].known = exclusive;
    }
    for (int i = 0; i < 100000 && tap_failures == 0; i++) {
        struct walker *w = &walkers[next_random(&random) % CHANNELS];
        uint32_t dice = next_random(&random);
        switch (dice % 8) {
        case 0:
        case 1: arrive(w); break;
        case 2:
        case 3: consume(w); break;
        case 4: fnet__credit_set_backlog(&w->credit, dice / 8 % 12); break;
        case 5:
            if (dice / 8 % 64 == 0) { /* a channel ends, another takes its place */
                fnet__credit_close(&w->credit);
                w->known = 0;
                while (w->count > 0)
                    consume(w);
                (void)fnet__credit_announce(&w->credit);
                fnet__credit_init(&w->credit, exclusive, &floating);
                w->known = exclusive;
            }
            break;
        default: {
            uint32_t n = fnet__credit_announce(&w->credit);
            w->known += n;
            announced += n;
        }
        }
        check_invariants(&floating, walkers);
    }
    CHECK(announced > 1000);

    for (int i = 0; i < CHANNELS; i++)
        fnet__credit_close(&walkers[i].credit);
    for (int i = 0; i < CHANNELS; i++)
        while (walkers[i].count > 0)
            consume(&walkers[i]);
    CHECK_INT(floating.free, FLOATING);
    CHECK(fnet_list_is_empty(&floating.waiting));
}

static void test_walk(void)
{
    CASE("a long walk: no buffer is promised twice, none is lost, none lies idle while one waits");
    walk(EXCLUSIVE);
    CASE("the same without exclusive buffers");
    walk(0);
}

int main(void)
{
    test_request();
    test_backlog();
    test_shrinking();
    test_waiting();
    test_identity();
    test_no_exclusive();
    test_closed();
    test_walk();
    return tap_done();
}
