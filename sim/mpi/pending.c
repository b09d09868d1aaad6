// SPDX-License-Identifier: Apache-2.0
// Receives that are posted and not complete, by request, and messages between Mprobe and Mrecv.
#include "trace.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1 << 16 }; // bucket() uses 16 bits of the hash

static struct pending* buckets[BUCKETS];
static struct pending* spare;
static uint64_t order;
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
    return ~key; // differs from a request with the same number
}

static struct pending** bucket(uint64_t key) {
    return &buckets[(key * UINT64_C(0x9E3779B97F4A7C15)) >> 48];
}

uint64_t kept(void) {
    return __atomic_load_n(&order, __ATOMIC_ACQUIRE);
}

void keep(uint64_t key, const struct pending* what) {
    pthread_mutex_lock(&lock);
    struct pending* one = spare;
    if (one)
        spare = one->next;
    else
        one = malloc(sizeof *one);
    if (one) {
        *one = *what;
        one->key = key;
        one->order = order + 1;
        one->next = *bucket(key);
        *bucket(key) = one;
        __atomic_store_n(&order, one->order, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
}

// When a call has completed a request, MPI may give its handle to another thread, which keeps a new
// receive under the same key. That receive is newer than the call's begin, so this function finds
// the newest one before it.
struct pending* look(uint64_t key, uint64_t before) {
    pthread_mutex_lock(&lock);
    struct pending* found = *bucket(key);
    while (found && (found->key != key || found->order > before))
        found = found->next;
    pthread_mutex_unlock(&lock);
    return found;
}

void drop(struct pending* pending) {
    pthread_mutex_lock(&lock);
    struct pending** at = bucket(pending->key);
    while (*at != pending)
        at = &(*at)->next;
    *at = pending->next;
    pending->next = spare;
    spare = pending;
    pthread_mutex_unlock(&lock);
}
