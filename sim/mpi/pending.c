// SPDX-License-Identifier: Apache-2.0
// The receives that are posted and not complete, by request; messages between Mprobe and Mrecv.
#include "trace.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 4096 }; // a power of two

static struct pending* buckets[BUCKETS];
static struct pending* spare;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// A handle is a pointer in Open MPI and a number in MPICH.
uint64_t key_of_request(MPI_Request request) {
    uint64_t key = 0;
    memcpy(&key, &request, sizeof request);
    return key;
}

uint64_t key_of_message(MPI_Message message) {
    uint64_t key = 0;
    memcpy(&key, &message, sizeof message);
    return ~key; // a request may have the same number
}

static struct pending** bucket(uint64_t key) {
    return &buckets[(key * UINT64_C(0x9E3779B97F4A7C15)) >> 52];
}

static void link_in(struct pending* pending) {
    struct pending** at = bucket(pending->key);
    pending->next = *at;
    *at = pending;
}

struct pending* keep(uint64_t key, const struct pending* what) {
    pthread_mutex_lock(&lock);
    struct pending* kept = spare;
    if (kept)
        spare = kept->next;
    else
        kept = malloc(sizeof *kept);
    if (kept) {
        *kept = *what;
        kept->key = key;
        link_in(kept);
    }
    pthread_mutex_unlock(&lock);
    return kept;
}

struct pending* take(uint64_t key) {
    pthread_mutex_lock(&lock);
    struct pending** at = bucket(key);
    while (*at && (*at)->key != key)
        at = &(*at)->next;
    struct pending* taken = *at;
    if (taken)
        *at = taken->next;
    pthread_mutex_unlock(&lock);
    return taken;
}

void put_back(struct pending* pending) {
    pthread_mutex_lock(&lock);
    link_in(pending);
    pthread_mutex_unlock(&lock);
}

void release(struct pending* pending) {
    pthread_mutex_lock(&lock);
    pending->next = spare;
    spare = pending;
    pthread_mutex_unlock(&lock);
}

struct pending* look(uint64_t key) {
    pthread_mutex_lock(&lock);
    struct pending* found = *bucket(key);
    while (found && found->key != key)
        found = found->next;
    pthread_mutex_unlock(&lock);
    return found;
}
