// SPDX-License-Identifier: Apache-2.0
/*
 * A program that finds out which of its huge pages are hot, by virtual address. hot NODE PAGES: a
 * table of that many huge pages on a NUMA node, with lookups that mostly use a few of them.
 */
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "telemetry.h"

#define HUGE (1UL << HUGE_SHIFT)
#define LOOKUPS 100000

/* Allocates a table of huge pages on the node. */
static uint8_t* make_table(int node, size_t bytes) {
    uint8_t* mapped =
        mmap(NULL, bytes + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint8_t* table = (uint8_t*)(((uintptr_t)mapped + HUGE - 1) & ~(HUGE - 1));
    unsigned long nodes = 1UL << node;

    CHECK(mapped != MAP_FAILED);
    CHECK(!madvise(table, bytes, MADV_HUGEPAGE));
    CHECK(!syscall(SYS_mbind, table, bytes, MPOL_BIND, &nodes, 8 * sizeof(nodes), 0));
    memset(table, 1, bytes);
    return table;
}

static uint64_t physical(const void* address) {
    uint64_t entry;
    int fd = open("/proc/self/pagemap", O_RDONLY);

    CHECK(fd >= 0);
    CHECK(pread(fd, &entry, 8, (uintptr_t)address / 4096 * 8) == 8);
    close(fd);
    return (entry & ((1ULL << 55) - 1)) * 4096;
}

/* Half of the lookups go to the first page, half of the others to the second, and so on. */
static uint64_t look_up(const uint8_t* table, unsigned int pages) {
    uint64_t random = 88172645463325252ULL, sum = 0;
    unsigned int i;

    for (i = 0; i < LOOKUPS; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        sum += table[__builtin_ctzll(random | 1ULL << (pages - 1)) * HUGE + (random >> 40) % HUGE];
    }
    return sum;
}

int main(int argc, char** argv) {
    unsigned int pages = argc == 3 ? atoi(argv[2]) : 0, i;
    struct anemone_entry* entries = calloc(pages, sizeof(*entries));
    struct anemone_spec spec = counting("my pages", pages);
    uint64_t* counts = calloc(pages, sizeof(*counts));
    int fd = open_device();
    struct anemone_add added;
    uint8_t* table;

    CHECK(pages);
    table = make_table(atoi(argv[1]), pages * HUGE);
    spec.flags = ANEMONE_SPEC_HOST;
    added = add(fd, spec);
    for (i = 0; i < pages; i++)
        entries[i] = (struct anemone_entry){
            .key = (uintptr_t)table + i * HUGE, .region = i, .flags = ANEMONE_ENTRY_VIRTUAL};
    map_keys(fd, added.id, entries, pages);
    ask("settled");
    read_counters(fd, added.id, 0, pages, counts);
    ask("quiet");
    CHECK(look_up(table, pages) == LOOKUPS);
    ask("settled");
    read_counters(fd, added.id, 0, pages, counts);
    ask("quiet");
    puts("address          physical    accesses");
    for (i = 0; i < pages; i++)
        printf("%p   %#llx %8llu\n", (void*)(table + i * HUGE),
               (unsigned long long)physical(table + i * HUGE), (unsigned long long)counts[i]);
    return 0;
}
