/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries for the program's pages of 4 KiB, in a guest whose memory is declared to be the device's.
 */
#ifndef USER_PAGES_H
#define USER_PAGES_H

#include "pagemap.h"
#include "telemetry.h"

/* The device has all of the guest's memory but the first huge page (GUEST_MEMORY, conftest.py). */
#define GUEST_MEMORY_BASE (1UL << 21)
#define HUGE (1UL << HUGE_SHIFT)
/* The reach of a table of pages. */
#define WINDOW (8192 * PAGE)

/* Counts by pages of `1 << shift` bytes, in the table's reach around an address. */
static inline struct anemone_spec counting_pages(const char* name, uint32_t regions,
                                                 unsigned int shift, uint64_t about) {
    struct anemone_spec spec = counting(name, regions);
    uint64_t window = 8192ULL << shift;

    spec.flags = ANEMONE_SPEC_HOST;
    spec.translation.primary.shift = shift;
    spec.filter.start = about / window * window;
    spec.filter.end = spec.filter.start + window;
    return spec;
}

/* Returns 0 or the error. */
static inline int map_user_page(int fd, uint32_t id, const volatile void* address,
                                uint32_t region) {
    struct anemone_entry entry = {
        .key = (uintptr_t)address, .region = region, .flags = ANEMONE_ENTRY_VIRTUAL};
    struct anemone_map call = {
        .size = sizeof(call), .id = id, .entries = (uintptr_t)&entry, .count = 1};

    return ioctl(fd, ANEMONE_MAP, &call) ? errno : 0;
}

static inline void report_lost_entries(int fd) {
    struct anemone_events events = {.size = sizeof(events),
                                    .record = sizeof(struct anemone_record),
                                    .flags = ANEMONE_EVENTS_LOST};

    CHECK(!ioctl(fd, ANEMONE_EVENTS, &events));
}

#endif
