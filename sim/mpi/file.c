// SPDX-License-Identifier: Apache-2.0
// The files of a rank: RANK.trace, mapped, so that what is written survives abort and SIGKILL, and
// RANK.names, a text of call sites and communicators, each line written when it is first seen.
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

enum { GROW = 8192 }; // records

bool tracing;
static struct header* header;
static struct record* window; // of GROW records, the one that is being filled
static uint64_t window_first;
static uint64_t whole; // records
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
    // Space is allocated now: a full disk is an error here and not a SIGBUS at a store.
    const int error = posix_fallocate(trace_file, offset, (off_t)bytes);
    if (error) {
        errno = error;
        return NULL;
    }
    void* at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, trace_file, offset);
    return at == MAP_FAILED ? NULL : at;
}

// The records of a window fill whole pages: 8192 * 96 = 192 * 4096.
_Static_assert(GROW * sizeof(struct record) % HEADER_BYTES == 0, "window");

static bool next_window(uint64_t first) {
    const size_t bytes = GROW * sizeof(struct record);
    if (window)
        munmap(window, bytes);
    window = map(HEADER_BYTES + (off_t)(first * sizeof(struct record)), bytes);
    window_first = first;
    return window != NULL;
}

static int create(const char* folder, int rank, const char* kind) {
    char path[4096];
    const int length = snprintf(path, sizeof path, "%s/%06d.%s", folder, rank, kind);
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_APPEND, 0644);
}

void open_trace(void) {
    const char* folder = getenv("ANEMONE_MPI_DIR");
    if (!folder || tracing)
        return;
    int rank, ranks, length;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    trace_file = create(folder, rank, "trace");
    names_file = create(folder, rank, "names");
    if (trace_file < 0 || names_file < 0 || !(header = map(0, HEADER_BYTES)) || !next_window(0)) {
        complain(folder);
        return;
    }
    header->header_bytes = HEADER_BYTES;
    header->record_bytes = sizeof(struct record);
    header->rank = rank;
    header->ranks = ranks;
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
            // Counted when it is whole: whoever reads after a crash sees whole records only.
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

void count_collective(unsigned slot, const char* name) {
    if (!tracing || slot >= COUNTERS)
        return;
    pthread_mutex_lock(&lock);
    if (header) {
        struct counter* counter = &header->collectives[slot];
        if (!counter->calls++)
            snprintf(counter->name, sizeof counter->name, "%s", name);
    }
    pthread_mutex_unlock(&lock);
}
