/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base: an intrusive queue, and the bell by which a lower room tells a higher one that an
 * FNET_AGAIN it gave may now be worth another try.
 */
#ifndef FNET_LIST_H
#define FNET_LIST_H

#include <stdbool.h>
#include <stddef.h>

/** Member of a struct that can stand in one list at a time; all zero means: in none. */
struct fnet_link {
    struct fnet_link *prev;
    struct fnet_link *next;
};

/** A circular list through its head; fnet_list_init() before use. Borrows its members. */
struct fnet_list {
    struct fnet_link head;
};

/** The struct of TYPE whose MEMBER is LINK. */
#define fnet_entry(link, type, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))

static inline void fnet_list_init(struct fnet_list *list)
{
    list->head.prev = &list->head;
    list->head.next = &list->head;
}

static inline bool fnet_list_is_empty(const struct fnet_list *list)
{
    return list->head.next == &list->head;
}

static inline bool fnet_link_is_linked(const struct fnet_link *link)
{
    return link->next != NULL;
}

/** Append LINK unless it already stands in a list. */
static inline void fnet_list_push(struct fnet_list *list, struct fnet_link *link)
{
    if (fnet_link_is_linked(link))
        return;
    link->prev = list->head.prev;
    link->next = &list->head;
    link->prev->next = link;
    list->head.prev = link;
}

/** Take LINK out of whatever list it stands in, if any. */
static inline void fnet_link_unlink(struct fnet_link *link)
{
    if (!fnet_link_is_linked(link))
        return;
    link->prev->next = link->next;
    link->next->prev = link->prev;
    link->prev = NULL;
    link->next = NULL;
}

/** Remove and return the first link, NULL when the list is empty. */
static inline struct fnet_link *fnet_list_pop(struct fnet_list *list)
{
    if (fnet_list_is_empty(list))
        return NULL;
    struct fnet_link *first = list->head.next;
    fnet_link_unlink(first);
    return first;
}

/**
 * A doorbell: a function of the higher room and its argument. Ringing is cheap, may happen many
 * times for one event and must not call back into the room that rings: the ringer is in the middle
 * of its own work. All zero is a bell nobody hears.
 */
struct fnet_bell {
    void (*ring)(void *arg);
    void *arg;
};

static inline void fnet_bell_ring(const struct fnet_bell *bell)
{
    if (bell->ring)
        bell->ring(bell->arg);
}

#endif
