// SPDX-License-Identifier: Apache-2.0
/*
 * What the kernel does to a program's page with an entry. moves KIND: prints "kept" if the page did
 * not move and still has its entry, or "went" if both are gone and the entry was reported lost;
 * anything else is a failure.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "user_pages.h"

#ifndef MADV_SOFT_OFFLINE
#define MADV_SOFT_OFFLINE 101
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

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

/* Moves it to the other one of two nodes. */
static void migrate(uint8_t* page) {
    int node = -1, status = -1;
    unsigned long from, to;

    CHECK(!syscall(SYS_move_pages, 0, 1UL, &page, NULL, &status, 0) && status >= 0);
    node = !status;
    from = 1UL << status;
    to = 1UL << node;
    CHECK(!syscall(SYS_migrate_pages, 0, 64UL, &from, &to));
    CHECK(!syscall(SYS_move_pages, 0, 1UL, &page, NULL, &status, 0) && status == node);
}

/* Shares it with a child, so that a write copies it. */
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
    else if (strstr(kind, "fork"))
        share(page);
    else if (!strcmp(kind, "swap"))
        CHECK(!madvise(page, size, MADV_PAGEOUT));
    else if (!strcmp(kind, "offline"))
        CHECK(!madvise(page, PAGE, MADV_SOFT_OFFLINE));
    else if (!strcmp(kind, "migrate"))
        migrate(page);
    else if (!strcmp(kind, "collapse"))
        CHECK(!madvise(page, HUGE, MADV_HUGEPAGE) && !madvise(page, HUGE, MADV_COLLAPSE));
    else if (!strcmp(kind, "merge"))
        merge(page);
    else if (!strcmp(kind, "lazyfree"))
        CHECK(!madvise(page, size, MADV_FREE));
    else if (!strcmp(kind, "compact"))
        write_text("/proc/sys/vm/compact_memory", "1");
    else
        fail("what is %s?", kind);
}

int main(int argc, char** argv) {
    const char* kind = argc == 2 ? argv[1] : "";
    bool hugetlb = !!strstr(kind, "hugetlb"), huge = hugetlb || !strcmp(kind, "lazyfree");
    size_t size = huge ? HUGE : PAGE;
    struct anemone_record record;
    int fd = open_device();
    struct pollfd one = {.fd = fd, .events = POLLIN};
    struct anemone_add added;
    uint64_t before, matched;
    bool kept, reported;
    int i;
    uint8_t* page =
        mmap(NULL, 2 * HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(page != MAP_FAILED);
    page = (uint8_t*)(((uintptr_t)page + HUGE - 1) & ~(HUGE - 1));
    CHECK(!madvise(page, HUGE, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE));
    if (hugetlb)
        CHECK(mmap(page, HUGE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_HUGETLB, -1, 0) == page);
    memset(page, 7, huge ? HUGE : 2 * PAGE);
    before = physical(page);
    added = add(fd, counting_pages("moves", 8, huge ? HUGE_SHIFT : 12, before));
    report_lost_entries(fd);
    CHECK(!map_user_page(fd, added.id, page, 3));
    act(kind, page, size);
    /* Wait until an invalidated entry is back or reported lost. */
    for (i = 0; i < 50 && !status(fd, added.id).mapped && !poll(&one, 1, 100); i++)
        ;
    kept = status(fd, added.id).mapped;
    CHECK(!kept || physical(page) == before);
    reported = read(fd, &record, sizeof(record)) == sizeof(record) &&
               record.event.type == ANEMONE_EVENT_LOST && record.address == (uintptr_t)page;
    CHECK(reported == !kept && status(fd, added.id).mapped == kept);
    /* The next owner of the memory is not counted. */
    matched = status(fd, added.id).matched;
    ask("touch %llu", (unsigned long long)before);
    CHECK(status(fd, added.id).matched == matched + kept);
    printf("%s: %s\n", kind, kept ? "kept" : "went");
    return 0;
}
