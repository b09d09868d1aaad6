// SPDX-License-Identifier: Apache-2.0
// QEMU plugin that filters the guest's loads and stores to the expander's memory through a cache
// model and writes the misses to a ring that the server reads (sim/vfio/ring.h). Arguments:
// ring=FILE, and base=ADDRESS and bytes=N, the guest's range of the memory. DMA and page walks are
// not seen, because no instruction makes them.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cache.h"
#include "qemu_plugin.h"
#include "ring.h"

#define LINE_SHIFT 6

QEMU_PLUGIN_EXPORT int qemu_plugin_version = 7;

static struct anemone_ring* ring;
static uint64_t base, bytes;
static struct cache cache;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // guards ring and cache

static void to_memory(uint64_t line, bool write) {
    uint64_t head = ring->head;

    while (head - __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) == RING_ROWS)
        usleep(100);
    ring->rows[head % RING_ROWS] = line << (LINE_SHIFT + 1) | write;
    ring->pages[line >> (RING_PAGE_SHIFT - LINE_SHIFT)]++;
    if (write)
        ring->writes++;
    else
        ring->reads++;
    __atomic_store_n(&ring->head, head + 1, __ATOMIC_RELEASE);
}

static void on_access(unsigned cpu, uint32_t access, uint64_t address, void* data) {
    const struct qemu_plugin_hwaddr* where = qemu_plugin_get_hwaddr(access, address);
    uint64_t first, last;

    (void)cpu;
    (void)data;
    if (!where)
        return;
    first = qemu_plugin_hwaddr_phys_addr(where) - base;
    if (first >= bytes)
        return;
    last = first + (1ull << qemu_plugin_mem_size_shift(access)) - 1;
    pthread_mutex_lock(&lock);
    ring->seen++;
    for (uint64_t line = first >> LINE_SHIFT; line <= last >> LINE_SHIFT; line++)
        cache_access(&cache, line, qemu_plugin_mem_is_store(access), to_memory);
    pthread_mutex_unlock(&lock);
}

static void on_block(struct qemu_plugin_tb* block, void* data) {
    (void)data;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++)
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(block, i), on_access,
                                         QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
}

static struct anemone_ring* map_ring(const char* path) {
    int fd = open(path, O_RDWR | O_CLOEXEC);
    void* mapped = MAP_FAILED;

    if (fd >= 0) {
        mapped = mmap(NULL, sizeof(*ring), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        close(fd);
    }
    return mapped == MAP_FAILED ? NULL : mapped;
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc,
                                           char** argv) {
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (!strncmp(argv[i], "ring=", 5))
            ring = map_ring(argv[i] + 5);
        else if (!strncmp(argv[i], "base=", 5))
            base = strtoull(argv[i] + 5, NULL, 0);
        else if (!strncmp(argv[i], "bytes=", 6))
            bytes = strtoull(argv[i] + 6, NULL, 0);
    }
    if (!ring || !bytes || bytes >> RING_PAGE_SHIFT > RING_PAGES) {
        fprintf(stderr, "accesses: ring= names no ring, or bytes= is missing or too much\n");
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_block, NULL);
    return 0;
}
