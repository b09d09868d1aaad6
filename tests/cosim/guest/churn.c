// SPDX-License-Identifier: Apache-2.0
/*
 * A heap that comes and goes with entries for its pages, during the life of one telemetry: kernel
 * memory does not grow. churn SEED ENTRIES KIB: makes so many entries; fails if more than KIB more
 * are in use at the end than after the first quarter.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "user_pages.h"

#define PAGES 64
#define REGIONS 64

static uint64_t state;

static unsigned int below(unsigned int limit) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 11) % limit;
}

/* Kernel memory in KiB, after pending frees. */
static long kernel_memory(void) {
    long total = 0, value;
    char line[128];
    FILE* file;

    sleep(1);
    file = fopen("/proc/meminfo", "r");
    CHECK(file);
    while (fgets(line, sizeof(line), file))
        if (sscanf(line, "SUnreclaim: %ld", &value) == 1 ||
            sscanf(line, "VmallocUsed: %ld", &value) == 1)
            total += value;
    fclose(file);
    return total;
}

/* A child writes its copies, and this process its own. */
static void share(uint8_t* at, size_t size) {
    pid_t child = fork();
    int status;

    CHECK(child >= 0);
    memset(at, 5, size);
    if (!child)
        _exit(0);
    CHECK(waitpid(child, &status, 0) == child && !status);
}

/* Changes some of the heap's mappings and restores the heap. */
static void disturb(uint8_t* heap) {
    unsigned int all = below(2), first = all ? 0 : below(PAGES);
    unsigned int count = all ? PAGES : 1 + below(PAGES - first);
    uint8_t* at = heap + first * PAGE;
    size_t size = count * PAGE;

    switch (below(5)) {
    case 0:
        CHECK(!munmap(at, size));
        break;
    case 1:
        CHECK(!madvise(at, size, MADV_DONTNEED));
        return;
    case 2:
        share(at, size);
        return;
    case 3:
        CHECK(!mprotect(at, size, PROT_NONE));
        break;
    default: /* several mappings cannot be moved at once */
        if (mremap(at, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, heap + PAGES * PAGE) ==
            MAP_FAILED) {
            CHECK(errno == EFAULT);
            return;
        }
        CHECK(!munmap(heap + PAGES * PAGE, size));
    }
    CHECK(mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
          at);
}

/* Returns the number of entries that were made: a page may be out of the table's reach. */
static unsigned int map_all(int fd, uint32_t id, uint8_t* heap) {
    struct anemone_entry entries[PAGES];
    struct anemone_map call = {.size = sizeof(call), .id = id};
    unsigned int done = 0, i;

    for (i = 0; i < PAGES; i++) {
        heap[i * PAGE]++;
        entries[i] = (struct anemone_entry){.key = (uintptr_t)(heap + i * PAGE),
                                            .region = below(REGIONS),
                                            .flags = ANEMONE_ENTRY_VIRTUAL};
    }
    for (i = 0; i < PAGES; i += call.done + 1) {
        call.entries = (uintptr_t)(entries + i);
        call.count = PAGES - i;
        CHECK(!ioctl(fd, ANEMONE_MAP, &call) || errno == ERANGE);
        done += call.done;
    }
    return done;
}

int main(int argc, char** argv) {
    long limit = argc == 4 ? atol(argv[2]) : 0, before = 0, grown;
    struct anemone_record record[16];
    unsigned long made = 0, reported = 0;
    int fd = open_device();
    struct anemone_add added;
    ssize_t got;
    uint8_t* heap =
        mmap(NULL, 2 * PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(argc == 4 && heap != MAP_FAILED && !madvise(heap, 2 * PAGES * PAGE, MADV_NOHUGEPAGE));
    state = strtoull(argv[1], NULL, 0) * 2654435761 + 1;
    memset(heap, 1, PAGES * PAGE);
    added = add(fd, counting_pages("churn", REGIONS, 12, physical(heap)));
    report_lost_entries(fd);
    while ((long)made < limit) {
        if (!before && (long)made >= limit / 4)
            before = kernel_memory();
        made += map_all(fd, added.id, heap);
        disturb(heap);
        /* For long stretches nobody reads, so that the bounded queue is full. */
        while (made / 8192 % 2 && (got = read(fd, record, sizeof(record))) > 0)
            reported += got / sizeof(record[0]);
        CHECK(status(fd, added.id).mapped <= PAGES);
    }
    CHECK(!munmap(heap, PAGES * PAGE));
    while ((got = read(fd, record, sizeof(record))) > 0)
        reported += got / sizeof(record[0]);
    CHECK(!status(fd, added.id).mapped && reported);
    grown = kernel_memory() - before;
    printf("%lu entries, %lu told that they went, %ld KiB grown\n", made, reported, grown);
    CHECK(grown <= atol(argv[3]));
    return 0;
}
