// SPDX-License-Identifier: Apache-2.0
// The files of a rank. RANK.trace is mapped, so that its records survive abort and SIGKILL.
// RANK.names is a text of call sites, communicators and datatypes, one line at the first use of
// each. A program started by MPI_Comm_spawn has WORLD-RANK.trace and WORLD-RANK.names.
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { GROW = 8192, WORLDS = 1000000 }; // records per window; most worlds in a folder

bool tracing;
static struct header* header;
static struct record* window; // the mapped GROW records that are being filled
static uint64_t window_first;
static uint64_t whole; // complete records
static int trace_file = -1, names_file = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int64_t clock_ns(clockid_t id) {
    struct timespec time;
    clock_gettime(id, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

int64_t now_ns(void) {
    return clock_ns(CLOCK_MONOTONIC);
}

static void complain(const char* what) {
    fprintf(stderr, "libanemone_mpi: %s: %s\n", what, strerror(errno));
}

static void* map(off_t offset, size_t bytes) {
    // Allocates the space, so that a full disk is an error here and not a SIGBUS at a store. On
    // file systems without allocation, such as NFS, the C library writes zeros, but not with
    // O_APPEND.
    const int error = posix_fallocate(trace_file, offset, (off_t)bytes);
    if (error) {
        errno = error;
        return NULL;
    }
    void* at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, trace_file, offset);
    return at == MAP_FAILED ? NULL : at;
}

// A window must be a whole number of pages: 8192 * 104 = 208 * 4096.
_Static_assert(GROW * sizeof(struct record) % HEADER_BYTES == 0, "window");

static bool next_window(uint64_t first) {
    const size_t bytes = GROW * sizeof(struct record);
    if (window)
        munmap(window, bytes);
    window = map(HEADER_BYTES + (off_t)(first * sizeof(struct record)), bytes);
    window_first = first;
    return window != NULL;
}

static int create(const char* folder, int world, int rank, const char* kind, int more) {
    char path[4096], of_world[16] = "";
    if (world)
        snprintf(of_world, sizeof of_world, "%d-", world);
    const int length = snprintf(path, sizeof path, "%s/%s%06d.%s", folder, of_world, rank, kind);
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | more, 0644);
}

// Opens the trace and returns its world. Rank 0 of a spawned program takes the first free number
// and broadcasts it.
static int open_world(const char* folder, int rank) {
    MPI_Comm parent;
    int world = 0;
    PMPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        while (!rank && world < WORLDS && trace_file < 0 && (!world || errno == EEXIST))
            trace_file = create(folder, ++world, rank, "trace", 0);
        NEXT(PMPI_Bcast)(&world, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (trace_file < 0)
        trace_file = create(folder, world, rank, "trace", 0);
    return world;
}

static int ends(MPI_Comm comm, int keyval, void* value, void* extra) {
    (void)comm, (void)keyval, (void)value, (void)extra;
    close_trace();
    return MPI_SUCCESS;
}

void open_trace(void) {
    const char* folder = getenv("ANEMONE_MPI_DIR");
    if (!folder || tracing)
        return;
    int rank, ranks, length;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int world = open_world(folder, rank);
    names_file = create(folder, world, rank, "names", O_APPEND);
    if (trace_file < 0 || names_file < 0 || !(header = map(0, HEADER_BYTES)) || !next_window(0)) {
        complain(folder);
        return;
    }
    find_library();
    header->header_bytes = HEADER_BYTES;
    header->record_bytes = sizeof(struct record);
    header->rank = rank;
    header->ranks = ranks;
    header->world = (uint64_t)world;
    header->pid = (uint32_t)getpid();
    header->epoch_ns = clock_ns(CLOCK_REALTIME);
    header->begin_ns = now_ns();
    gethostname(header->host, sizeof header->host - 1);
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    PMPI_Get_library_version(version, &length);
    version[strcspn(version, "\n\t")] = 0;
    snprintf(header->library, sizeof header->library, "%.63s", version);
    memcpy(header->magic, "ANEMPI1\n", sizeof header->magic);
    tracing = true;
    MARK_TRACED(rank);
    // MPI_Finalize first deletes the attributes of MPI_COMM_SELF, the newest first. The program's
    // delete functions may still receive. This attribute is the oldest, so it is deleted last.
    int keyval;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, ends, &keyval, NULL);
    PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
}

void close_trace(void) {
    if (!tracing)
        return;
    MARK_ENDS();
    pthread_mutex_lock(&lock);
    tracing = false;
    header->end_ns = now_ns();
    header->finalized = 1;
    const off_t bytes = HEADER_BYTES + (off_t)(header->records * sizeof(struct record));
    if (window)
        munmap(window, GROW * sizeof(struct record));
    window = NULL;
    munmap(header, HEADER_BYTES);
    header = NULL;
    if (ftruncate(trace_file, bytes))
        complain("trace");
    close(trace_file);
    close(names_file);
    pthread_mutex_unlock(&lock);
}

void leave(const int* inside) {
    (void)inside;
    MARK_LEAVES(__atomic_load_n(&whole, __ATOMIC_RELAXED));
}

void count_posted(void) {
    pthread_mutex_lock(&lock);
    if (header)
        header->posted++;
    pthread_mutex_unlock(&lock);
}

void write_record(const struct record* record) {
    pthread_mutex_lock(&lock);
    if (header) {
        const uint64_t at = header->records;
        if (header->lost || (at == window_first + GROW && !next_window(at))) {
            if (!header->lost++)
                complain("trace");
        } else {
            window[at - window_first] = *record;
            // Counted after the record is complete, so that a reader after a crash sees only
            // complete records.
            __atomic_store_n(&header->records, at + 1, __ATOMIC_RELEASE);
            __atomic_store_n(&whole, at + 1, __ATOMIC_RELAXED);
        }
    }
    pthread_mutex_unlock(&lock);
}

void write_name(const char* line) {
    const size_t length = strlen(line);
    if (write(names_file, line, length) != (ssize_t)length)
        complain("names");
}

void count_collective(unsigned slot, const char* name, uint64_t site) {
    if (!tracing || slot >= COUNTERS || within_library(site))
        return;
    pthread_mutex_lock(&lock);
    if (header) {
        struct counter* counter = &header->collectives[slot];
        if (!counter->calls++)
            snprintf(counter->name, sizeof counter->name, "%s", name);
    }
    pthread_mutex_unlock(&lock);
}
