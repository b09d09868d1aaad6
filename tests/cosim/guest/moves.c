// SPDX-License-Identifier: Apache-2.0
/*
 * What the kernel does with a program's page under an entry for it. moves KIND: "kept" when the
 * page is where it was and its entry is, or "went" when both are gone, and it was told; all else
 * fails.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "telemetry.h"

#ifndef MADV_SOFT_OFFLINE
#define MADV_SOFT_OFFLINE 101
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

#define PAGE 4096UL
#define HUGE (1UL << HUGE_SHIFT)
#define WINDOW (8192 * PAGE)

static uint64_t physical(const void* address) {
    uint64_t entry;
    int fd = open("/proc/self/pagemap", O_RDONLY);

    CHECK(fd >= 0 && pread(fd, &entry, 8, (uintptr_t)address / PAGE * 8) == 8);
    close(fd);
    return entry >> 63 ? (entry & ((1ULL << 55) - 1)) * PAGE : 0;
}

static void write_text(const char* path, const char* text) {
    int fd = open(path, O_WRONLY);

    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        fail("%s: %s", path, strerror(errno));
    close(fd);
}

static void merge(uint8_t* page) {
    int i;

    CHECK(!madvise(page, 2 * PAGE, MADV_MERGEABLE));
    write_text("/sys/kernel/mm/ksm/run", "1");
    for (i = 0; i < 300 && physical(page) != physical(page + PAGE); i++)
        usleep(100000);
    write_text("/sys/kernel/mm/ksm/run", "0");
    CHECK(physical(page) == physical(page + PAGE));
}

/* A copy, once it is written, of a page that a child has, too. */
static void share(uint8_t* page) {
    pid_t child = fork();

    CHECK(child >= 0);
    if (!child) {
        pause();
        _exit(0);
    }
    page[0]++;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void act(const char* kind, uint8_t* page, size_t size) {
    if (!strcmp(kind, "nothing"))
        page[0]++;
    else if (!strcmp(kind, "protect"))
        CHECK(!mprotect(page, size, PROT_READ));
    else if (!strcmp(kind, "forbid"))
        CHECK(!mprotect(page, size, PROT_NONE));
    else if (!strcmp(kind, "neighbour"))
        CHECK(!munmap(page + size, size));
    else if (!strcmp(kind, "unmap") || !strcmp(kind, "hugetlb"))
        CHECK(!munmap(page, size));
    else if (!strcmp(kind, "discard"))
        CHECK(!madvise(page, size, MADV_DONTNEED));
    else if (!strcmp(kind, "fork"))
        share(page);
    else if (!strcmp(kind, "swap"))
        CHECK(!madvise(page, size, MADV_PAGEOUT));
    else if (!strcmp(kind, "migrate"))
        CHECK(!madvise(page, PAGE, MADV_SOFT_OFFLINE));
    else if (!strcmp(kind, "collapse"))
        CHECK(!madvise(page, HUGE, MADV_HUGEPAGE) && !madvise(page, HUGE, MADV_COLLAPSE));
    else if (!strcmp(kind, "merge"))
        merge(page);
    else if (!strcmp(kind, "compact"))
        write_text("/proc/sys/vm/compact_memory", "1");
    else
        fail("what is %s?", kind);
}

int main(int argc, char** argv) {
    const char* kind = argc == 2 ? argv[1] : "";
    bool hugetlb = !strcmp(kind, "hugetlb");
    size_t size = hugetlb ? HUGE : PAGE;
    struct anemone_events events = {.size = sizeof(events),
                                    .record = sizeof(struct anemone_record),
                                    .flags = ANEMONE_EVENTS_LOST};
    struct anemone_spec spec = counting("moves", 8);
    struct anemone_record record;
    int fd = open_device();
    struct pollfd one = {.fd = fd, .events = POLLIN};
    struct anemone_add added;
    uint64_t before, matched;
    bool kept, told;
    int i;
    uint8_t* page =
        mmap(NULL, 2 * HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(page != MAP_FAILED);
    page = (uint8_t*)(((uintptr_t)page + HUGE - 1) & ~(HUGE - 1));
    CHECK(!madvise(page, HUGE, MADV_NOHUGEPAGE));
    if (hugetlb)
        CHECK(mmap(page, HUGE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_HUGETLB, -1, 0) == page);
    memset(page, 7, hugetlb ? HUGE : 2 * PAGE);
    before = physical(page);
    /* A table of pages reaches 32 MiB: those that this one is in. */
    spec.flags = ANEMONE_SPEC_HOST;
    spec.translation.primary.shift = hugetlb ? HUGE_SHIFT : 12;
    spec.filter.start = before / WINDOW * WINDOW;
    spec.filter.end = spec.filter.start + WINDOW;
    added = add(fd, spec);
    CHECK(!ioctl(fd, ANEMONE_EVENTS, &events));
    map_keys(fd, added.id,
             &(struct anemone_entry){
                 .key = (uintptr_t)page, .region = 3, .flags = ANEMONE_ENTRY_VIRTUAL},
             1);
    act(kind, page, size);
    /* What was only invalidated comes back, or it is told that it went. */
    for (i = 0; i < 50 && !status(fd, added.id).mapped && !poll(&one, 1, 100); i++)
        ;
    kept = status(fd, added.id).mapped;
    CHECK(!kept || physical(page) == before);
    told = read(fd, &record, sizeof(record)) == sizeof(record) &&
           record.event.type == ANEMONE_EVENT_LOST && record.address == (uintptr_t)page;
    CHECK(told == !kept && status(fd, added.id).mapped == kept);
    /* Whoever has the memory now is not counted. */
    matched = status(fd, added.id).matched;
    ask("touch %llu", (unsigned long long)before);
    CHECK(status(fd, added.id).matched == matched + kept);
    printf("%s: %s\n", kind, kept ? "kept" : "went");
    return 0;
}
