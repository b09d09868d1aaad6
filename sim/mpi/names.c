// SPDX-License-Identifier: Apache-2.0
// The .names lines of call sites (module and offset) and of communicators.
#define _GNU_SOURCE
#include "trace.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct communicator {
    uint32_t id;
    int size;
    int world[]; // MPI_COMM_WORLD rank of each of its ranks (of an intercommunicator: remote ranks)
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t* sites;          // a hash table of `capacity` slots, a power of two
static unsigned capacity, known; // at most three quarters of the slots are used
static int keyval = MPI_KEYVAL_INVALID;
static uint32_t last_id;

// Writes "site ADDRESS OFFSET SYMBOL MODULE", separated by tabs. OFFSET is the ELF address.
static void write_site(uint64_t address) {
    Dl_info info;
    struct link_map* map = NULL;
    char own[4096], line[8192];
    const char* module = "";
    const char* symbol = "";
    uint64_t offset = address;
    if (dladdr1((void*)(uintptr_t)address, &info, (void**)&map, RTLD_DL_LINKMAP)) {
        offset = address - (uint64_t)map->l_addr;
        module = info.dli_fname ? info.dli_fname : "";
        symbol = info.dli_sname ? info.dli_sname : "";
        const ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
        if (!map->l_name[0] && length > 0) { // the program itself; argv[0] need not be its path
            own[length] = 0;
            module = own;
        }
    }
    snprintf(line, sizeof line, "site\t0x%llx\t0x%llx\t%s\t%s\n", (unsigned long long)address,
             (unsigned long long)offset, symbol, module);
    write_name(line);
}

static uint64_t* slot_of(uint64_t address) {
    unsigned i = (unsigned)((address * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (capacity - 1);
    while (sites[i] && sites[i] != address)
        i = (i + 1) & (capacity - 1);
    return &sites[i];
}

static bool grow(void) {
    uint64_t* const old = sites;
    const unsigned old_capacity = capacity, wanted = capacity ? 2 * capacity : 1024;
    uint64_t* const more = calloc(wanted, sizeof *more);
    if (!more)
        return false;
    sites = more;
    capacity = wanted;
    for (unsigned i = 0; i < old_capacity; i++)
        if (old[i])
            *slot_of(old[i]) = old[i];
    free(old);
    return true;
}

void name_site(uint64_t address) {
    pthread_mutex_lock(&lock);
    uint64_t* slot = sites ? slot_of(address) : NULL;
    if (!slot || !*slot) {
        // If the table cannot grow, the site's line is written again at each use.
        if (known < capacity / 4 * 3 || grow()) {
            *slot_of(address) = address;
            known++;
        }
        write_site(address);
    }
    pthread_mutex_unlock(&lock);
}

// Writes "comm ID SIZE NAME RANKS". RANKS are MPI_COMM_WORLD ranks separated by spaces, -1 for a
// rank of another world. For an intercommunicator they are the remote ranks.
static void write_communicator(const struct communicator* communicator, MPI_Comm comm) {
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    PMPI_Comm_get_name(comm, name, &length);
    const size_t capacity = 64 + sizeof name + 12 * (size_t)communicator->size;
    char* line = malloc(capacity);
    if (!line)
        return;
    for (char* c = name; *c; c++)
        if (*c == '\t' || *c == '\n')
            *c = ' ';
    size_t at = (size_t)snprintf(line, capacity, "comm\t%u\t%d\t%s\t", communicator->id,
                                 communicator->size, name);
    for (int i = 0; i < communicator->size; i++)
        at += (size_t)snprintf(line + at, capacity - at, i ? " %d" : "%d", communicator->world[i]);
    snprintf(line + at, capacity - at, "\n");
    write_name(line);
    free(line);
}

static struct communicator* add_communicator(MPI_Comm comm) {
    int remote = 0, size = 0;
    MPI_Group group, world;
    PMPI_Comm_test_inter(comm, &remote);
    if (remote)
        PMPI_Comm_remote_group(comm, &group);
    else
        PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_size(group, &size);
    struct communicator* fresh = malloc(sizeof *fresh + sizeof(int) * (size_t)size);
    int* ranks = malloc(sizeof(int) * ((size_t)size + 1));
    if (fresh && ranks) {
        fresh->id = ++last_id;
        fresh->size = size;
        for (int i = 0; i < size; i++)
            ranks[i] = i;
        PMPI_Group_translate_ranks(group, size, ranks, world, fresh->world);
        for (int i = 0; i < size; i++)
            if (fresh->world[i] == MPI_UNDEFINED)
                fresh->world[i] = -1;
        PMPI_Comm_set_attr(comm, keyval, fresh);
        write_communicator(fresh, comm);
    }
    free(ranks);
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    return fresh;
}

// The result is never freed, because a communicator may be freed before its last receive completes.
const struct communicator* named_communicator(MPI_Comm comm) {
    struct communicator* found = NULL;
    int there = 0;
    pthread_mutex_lock(&lock);
    if (keyval == MPI_KEYVAL_INVALID)
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    PMPI_Comm_get_attr(comm, keyval, &found, &there);
    if (!there)
        found = add_communicator(comm);
    pthread_mutex_unlock(&lock);
    return found;
}

void place_source(struct record* record, const struct communicator* comm) {
    const int rank = record->local_source;
    record->comm = comm ? comm->id : 0;
    record->source = comm && rank >= 0 && rank < comm->size ? comm->world[rank] : -1;
}
