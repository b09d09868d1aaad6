// SPDX-License-Identifier: Apache-2.0
// Memory of one NUMA node, with the largest available pages.
#include "memo.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

// MPOL_BIND, F_NODE | F_ADDR, F_MEMS_ALLOWED
enum { BIND = 2, OF_ADDRESS = 3, ALLOWED = 4, WORD = 8 * sizeof(unsigned long) };
static const size_t HUGE = (size_t)2 << 20;

// Whether the process's cpuset allows the node's memory.
static bool allowed(int node) {
    unsigned long mask[MAX_NODES / WORD] = {0};
    if (syscall(SYS_get_mempolicy, NULL, mask, (unsigned long)MAX_NODES, NULL,
                (unsigned long)ALLOWED))
        return true; // a kernel without NUMA
    return mask[(unsigned)node / WORD] >> ((unsigned)node % WORD) & 1;
}

unsigned nodes_of(int* nodes) {
    char text[4096];
    unsigned count = 0;
    first_line("/sys/devices/system/node/has_memory", text, sizeof text);
    for (char *part, *rest = text; (part = strtok_r(rest, ",", &rest));) {
        int first, last;
        const int found = sscanf(part, "%d-%d", &first, &last);
        for (int n = first; found > 0 && n <= (found == 2 ? last : first); n++)
            if (count < MAX_NODES && n < MAX_NODES && allowed(n))
                nodes[count++] = n;
    }
    if (!count)
        nodes[count++] = 0; // a kernel without NUMA
    return count;
}

void line_fill(char* base, size_t lines) {
    for (size_t i = 0; i < lines; i++)
        for (size_t k = 0; k < LINE / 8; k++)
            ((uint64_t*)(base + i * LINE))[k] = i + 1;
}

static char* mapped(size_t bytes, int flags) {
    char* at =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

// Transparent huge pages need an aligned address.
static char* mapped_aligned(size_t bytes) {
    char* at = mapped(bytes + HUGE, 0);
    if (!at)
        return NULL;
    const size_t before = (HUGE - (uintptr_t)at % HUGE) % HUGE;
    if (before)
        munmap(at, before);
    munmap(at + before + bytes, HUGE - before);
    return at + before;
}

static bool transparent(void) {
    char text[64];
    first_line("/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof text);
    return *text && !strstr(text, "[never]");
}

// Whether hugetlbfs has enough free pages. Touching a missing page would raise SIGBUS.
static bool reserved(size_t bytes, int node) {
    char path[128], text[32];
    snprintf(path, sizeof path,
             "/sys/devices/system/node/node%d/hugepages/hugepages-2048kB/free_hugepages", node);
    first_line(path, text, sizeof text);
    return strtoull(text, NULL, 10) * HUGE >= bytes;
}

static void bind_to(char* at, size_t bytes, int node) {
    unsigned long mask[MAX_NODES / WORD] = {0};
    mask[(unsigned)node / WORD] = 1UL << ((unsigned)node % WORD);
    if (syscall(SYS_mbind, at, bytes, BIND, mask, (unsigned long)MAX_NODES, 0UL) &&
        !(errno == ENOSYS && node == 0))
        fail(1, "node %d: %s", node, strerror(errno));
}

// Checks some pages: bound memory must be on its node.
static void check_node(const struct region* region) {
    for (int i = 0; i < 16; i++) {
        int on = -1;
        char* at = region->at + region->bytes / 16 * (size_t)i;
        if (!syscall(SYS_get_mempolicy, &on, NULL, 0UL, at, (unsigned long)OF_ADDRESS) &&
            on != region->node)
            wrong("memory bound to node %d is on node %d", region->node, on);
    }
}

struct region region_of(size_t bytes, int node, enum pages pages) {
    struct region region = {NULL, (bytes + HUGE - 1) / HUGE * HUGE, node, "4 KiB"};
    const bool huge = pages == PAGES_HUGE || (pages == PAGES_BEST && reserved(region.bytes, node));
    if (huge && !reserved(region.bytes, node))
        fail(1, "node %d: no %zu free huge pages; echo them to its nr_hugepages, or --pages 4k",
             node, region.bytes / HUGE);
    if (huge && (region.at = mapped(region.bytes, MAP_HUGETLB)))
        region.pages = "2 MiB";
    if (!region.at && !(region.at = mapped_aligned(region.bytes)))
        fail(1, "no memory for %zu bytes: %s; --bytes takes fewer", region.bytes, strerror(errno));
    if (!huge && pages != PAGES_4K && transparent() &&
        !madvise(region.at, region.bytes, MADV_HUGEPAGE))
        region.pages = "2 MiB, transparent";
    else if (!huge)
        madvise(region.at, region.bytes, MADV_NOHUGEPAGE);
    bind_to(region.at, region.bytes, node);
    line_fill(region.at, region.bytes / LINE);
    check_node(&region);
    return region;
}

void region_free(struct region* region) {
    munmap(region->at, region->bytes);
    region->at = NULL;
}
