// SPDX-License-Identifier: Apache-2.0
/*
 * Hotness by huge page without a driver: the steps of docs/expander.md for Listing 2, on the BARs
 * that sysfs shows. registers DEVICE: the folder of the PCI function.
 */
#include <stdint.h>
#include <sys/mman.h>

#include "anemone_pci.h"
#include "anemone_regs.h"
#include "host.h"

#define HUGE_SHIFT 21
#define EXTENDED 0x100
#define FIELD(name, value) ((uint64_t)(value) << ANEMONE_##name##_SHIFT)
#define GET(name, value) (((value) & ANEMONE_##name##_MASK) >> ANEMONE_##name##_SHIFT)

static volatile uint8_t* control;

static uint64_t get(uint32_t offset) {
    return *(volatile uint64_t*)(control + offset);
}

static void set(uint32_t offset, uint64_t value) {
    *(volatile uint64_t*)(control + offset) = value;
}

static volatile void* map(const char* device, const char* name, size_t bytes) {
    char path[256];
    void* mapped;
    int fd;

    snprintf(path, sizeof(path), "%s/%s", device, name);
    fd = open(path, O_RDWR | O_SYNC);
    CHECK(fd >= 0);
    mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(mapped != MAP_FAILED);
    close(fd);
    return mapped;
}

/* Reads the device address of the telemetry region from the first extended capability. */
static uint64_t telemetry_base(const char* device) {
    char path[256];
    uint64_t base;
    int fd;

    snprintf(path, sizeof(path), "%s/config", device);
    fd = open(path, O_RDONLY);
    CHECK(fd >= 0);
    CHECK(pread(fd, &base, 8, EXTENDED + ANEMONE_DVSEC_TELEMETRY_BASE) == 8);
    close(fd);
    return base;
}

static void program_rule(uint64_t bytes) {
    set(ANEMONE_PIPELINE(0) + ANEMONE_PIPELINE_CONTROL, 1);
    while (get(ANEMONE_PIPELINE(0) + ANEMONE_PIPELINE_STATUS))
        ;
    set(ANEMONE_RULE_START, 0);
    set(ANEMONE_RULE_END, bytes);
    set(ANEMONE_RULE_PRIMARY_MASK, ~0ULL);
    set(ANEMONE_RULE_SUB_MASK, 0);
    set(ANEMONE_RULE_SHIFTS, FIELD(RULE_SHIFTS_PRIMARY, HUGE_SHIFT));
    set(ANEMONE_RULE_OPERAND, 1);
    set(ANEMONE_RULE_EFFECT_OPERAND, 0);
    set(ANEMONE_RULE_CONTROL, FIELD(RULE_CONTROL_ENABLE, 1) | FIELD(RULE_CONTROL_READS, 1) |
                                  FIELD(RULE_CONTROL_WRITES, 1) |
                                  FIELD(RULE_CONTROL_COUNTER_WIDTH, ANEMONE_COUNTER_WIDTH_BITS64) |
                                  FIELD(RULE_CONTROL_OP, ANEMONE_UPDATE_OP_ADD) |
                                  FIELD(RULE_CONTROL_EFFECT_KIND, ANEMONE_READ_EFFECT_RESET));
    set(ANEMONE_RULE_COMMIT, 0);
}

/* Prints the counters of pipeline 0 that are not zero, in order; returns their sum. */
static uint64_t read_out(volatile uint64_t* region, unsigned int states, unsigned int channels) {
    uint64_t sum = 0;
    unsigned int i;

    for (i = 0; i < states * channels; i++) {
        uint64_t value = region[i];

        if (value)
            printf("counter %u %u %llu\n", i / (8 * channels) * 8 + i % 8, i / 8 % channels,
                   (unsigned long long)value);
        sum += value;
    }
    return sum;
}

int main(int argc, char** argv) {
    uint64_t capability, window;
    unsigned int states, channels, key;
    volatile uint64_t* region;

    CHECK(argc == 2);
    control = map(argv[1], "resource0", 1 << 22);
    CHECK(get(ANEMONE_ID) == ANEMONE_ID_MAGIC_VALUE);
    /* Half of a register can be read; a register that does not exist reads as ones. */
    CHECK(*(volatile uint32_t*)(control + 4) == ANEMONE_ID_MAGIC_VALUE >> 32);
    CHECK(get(0x28) == ~0ULL);
    capability = get(ANEMONE_CAPABILITY);
    window = get(ANEMONE_WINDOW);
    states = 1U << GET(CAPABILITY_STATES_LOG2, capability);
    channels = GET(CAPABILITY_CHANNELS, capability);
    printf("pipelines %u channels %u states %u\n",
           (unsigned int)GET(CAPABILITY_PIPELINES, capability), channels, states);

    region = map(argv[1], "resource2", 2 * window);
    program_rule(1ULL << GET(CAPABILITY_ADDRESS_BITS, capability));
    for (key = 0; key < states; key++)
        set(ANEMONE_TABLE(key), FIELD(TABLE_MAPPED, 1) | key);
    set(ANEMONE_EFFECT_WINDOW, telemetry_base(argv[1]) | FIELD(EFFECT_WINDOW_ENABLE, 1));

    ask("trace hotness");
    printf("matched %llu\n",
           (unsigned long long)get(ANEMONE_PIPELINE(0) + ANEMONE_PIPELINE_MATCHED));
    printf("sum %llu\n", (unsigned long long)read_out(region, states, channels));
    CHECK(read_out(region, states, channels) == 0);

    /* A write to the region is dropped and counted; a refused read returns ones. */
    region[3] = 1;
    CHECK(get(ANEMONE_DROPPED_WRITES) == 1);
    set(ANEMONE_SNAPSHOT_WINDOW,
        (telemetry_base(argv[1]) + window) | FIELD(SNAPSHOT_WINDOW_ENABLE, 1));
    CHECK(region[window / 8] == 0);
    puts("done");
    return 0;
}
