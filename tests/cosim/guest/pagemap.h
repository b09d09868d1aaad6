/* SPDX-License-Identifier: Apache-2.0 */
/* Physical addresses of a process's memory. */
#ifndef PAGEMAP_H
#define PAGEMAP_H

#include <stdint.h>

#include "host.h"

#define PAGE 4096UL

/* Of a process ("self" or its number); 0: no page. */
static inline uint64_t physical_of(const char* process, const volatile void* address) {
    char path[64];
    uint64_t entry;
    int fd;

    snprintf(path, sizeof(path), "/proc/%s/pagemap", process);
    fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && pread(fd, &entry, 8, (uintptr_t)address / PAGE * 8) == 8);
    close(fd);
    return entry >> 63 ? (entry & ((1ULL << 55) - 1)) * PAGE : 0;
}

static inline uint64_t physical(const volatile void* address) {
    return physical_of("self", address);
}

#endif
