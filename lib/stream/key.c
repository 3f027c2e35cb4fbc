/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which fields of a record are its key.
 *
 * Source: POSIX cut, option -f.
 */
#include "fnet/selector.h"

/* Read digits up to the first other character; *FIELD is 0 when there were none. */
static enum fnet_err parse_field(const char **text, uint32_t *field)
{
    const char *at = *text;
    uint64_t value = 0;

    for (; *at >= '0' && *at <= '9'; at++) {
        value = value * 10 + (uint64_t)(*at - '0');
        if (value >= FNET_FIELD_LAST)
            return FNET_RANGE;
    }
    if (value == 0 && at != *text)
        return FNET_INVALID;
    *text = at;
    *field = (uint32_t)value;
    return FNET_OK;
}

static enum fnet_err parse_range(const char **text, struct fnet_field_range *range)
{
    uint32_t first;
    uint32_t last;

    enum fnet_err err = parse_field(text, &first);
    if (err != FNET_OK)
        return err;
    if (**text != '-') {
        *range = (struct fnet_field_range){.first = first, .last = first};
        return first == 0 ? FNET_INVALID : FNET_OK;
    }
    ++*text;
    err = parse_field(text, &last);
    if (err != FNET_OK)
        return err;
    if (first == 0 && last == 0)
        return FNET_INVALID;
    *range = (struct fnet_field_range){.first = first ? first : 1,
                                       .last = last ? last : FNET_FIELD_LAST};
    return range->first <= range->last ? FNET_OK : FNET_INVALID;
}

/* Add RANGE in its place and join it with those it overlaps or touches. */
static enum fnet_err add_range(struct fnet_key *key, struct fnet_field_range range)
{
    size_t from = 0;
    while (from < key->range_count && key->ranges[from].last < range.first - 1)
        from++;
    size_t to = from;
    for (; to < key->range_count && key->ranges[to].first - 1 <= range.last; to++) {
        if (key->ranges[to].first < range.first)
            range.first = key->ranges[to].first;
        if (key->ranges[to].last > range.last)
            range.last = key->ranges[to].last;
    }
    size_t count = key->range_count - (to - from) + 1;
    if (count > FNET_KEY_MAX_RANGES)
        return FNET_RANGE;
    memmove(&key->ranges[from + 1], &key->ranges[to],
            (key->range_count - to) * sizeof key->ranges[0]);
    key->ranges[from] = range;
    key->range_count = count;
    return FNET_OK;
}

enum fnet_err fnet_key_parse(const char *list, struct fnet_key *key)
{
    struct fnet_key parsed = {.range_count = 0, .separator = key->separator};

    for (;; list++) {
        struct fnet_field_range range;
        enum fnet_err err = parse_range(&list, &range);
        if (err != FNET_OK)
            return err;
        if (*list != ',' && *list != '\0')
            return FNET_INVALID;
        err = add_range(&parsed, range);
        if (err != FNET_OK)
            return err;
        if (*list == '\0')
            break;
    }
    *key = parsed;
    return FNET_OK;
}

/* Behind the N-th separator from POS on; NULL when there are fewer. */
static const uint8_t *skip_fields(const uint8_t *pos, const uint8_t *end, uint8_t separator,
                                  uint32_t n)
{
    for (; pos && n > 0; n--) {
        pos = memchr(pos, separator, (size_t)(end - pos));
        pos = pos ? pos + 1 : NULL;
    }
    return pos;
}

bool fnet_key_walk_next(struct fnet_key_walk *walk, struct fnet_span *piece)
{
    static const struct fnet_field_range all = {.first = 1, .last = FNET_FIELD_LAST};
    const struct fnet_key *key = walk->key;
    const size_t i = walk->range++;

    if (i > 0 && i >= key->range_count)
        return false;
    const struct fnet_field_range range = key->range_count ? key->ranges[i] : all;
    const uint8_t *start =
        skip_fields(walk->pos, walk->end, key->separator, range.first - walk->field);
    if (!start)
        return false;
    const uint8_t *next = NULL;
    if (range.last != FNET_FIELD_LAST)
        next = skip_fields(start, walk->end, key->separator, range.last - range.first + 1);
    *piece = fnet_span_of(start, (size_t)((next ? next - 1 : walk->end) - start));
    walk->pos = next;
    walk->field = range.last + 1;
    return true;
}
