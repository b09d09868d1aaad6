// SPDX-License-Identifier: Apache-2.0
/*
 * Reads three telemetries with effect, one for each way of reading, while the host makes accesses:
 * the sum of the reads is exact. Reads to memory that is not mapped, or only half of it, take
 * nothing away.
 */
#include <sys/mman.h>

#include "telemetry.h"

enum { WAYS = 3, COUNTERS = 32 };

static uint64_t sums[WAYS][COUNTERS];

static void harvest(int fd, const struct anemone_add* ways) {
    uint64_t values[COUNTERS];

    for (unsigned way = 0; way < WAYS; way++) {
        read_counters(fd, ways[way].id, 0, COUNTERS, values);
        for (unsigned i = 0; i < COUNTERS; i++)
            sums[way][i] += values[i];
    }
}

/* Room for half of the counters, followed by a page that is not mapped. */
static uint64_t* half_a_buffer(void) {
    char* pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(pages != MAP_FAILED && !mprotect(pages + 4096, 4096, PROT_NONE));
    return (uint64_t*)(pages + 4096) - COUNTERS / 2;
}

static void harvest_to_nowhere(int fd, const struct anemone_add* ways, uint64_t* half) {
    uint64_t* const nowhere[] = {(uint64_t*)8, half};

    for (unsigned i = 0; i < 2 * WAYS; i++) {
        struct anemone_read read = {.size = sizeof(read),
                                    .id = ways[i / 2].id,
                                    .count = COUNTERS,
                                    .values = (uintptr_t)nowhere[i % 2]};

        CHECK(ioctl(fd, ANEMONE_READ, &read) == -1 && errno == EFAULT);
    }
}

int main(int argc, char** argv) {
    struct anemone_spec spec[WAYS] = {counting("difference", COUNTERS),
                                      counting("acknowledge", COUNTERS),
                                      counting("effect", COUNTERS)};
    struct anemone_entry entries[] = {{.key = 3, .region = 5}, {.key = 5, .region = 30}};
    struct anemone_add ways[WAYS];
    int rounds = argc > 1 ? atoi(argv[1]) : 0, fd = open_device();
    uint64_t* half = half_a_buffer();

    spec[1].width = 16;
    spec[2].width = 32;
    /* A shift by all bits is a reset to zero by an op. */
    spec[2].read_effect = (struct anemone_operation){.op = ANEMONE_OP_SHR, .operand = 32};
    for (unsigned way = 0; way < WAYS; way++) {
        ways[way] = add(fd, spec[way]);
        map_keys(fd, ways[way].id, entries, 2);
        CHECK(status(fd, ways[way].id).harvest == ANEMONE_HARVEST_DIFFERENCE + way);
    }
    ask("start");
    for (int i = 0; i < rounds; i++) {
        if (i % 4 == 0)
            harvest_to_nowhere(fd, ways, half);
        harvest(fd, ways);
    }
    ask("wait");
    harvest_to_nowhere(fd, ways, half);
    harvest(fd, ways);
    for (unsigned way = 0; way < WAYS; way++) {
        printf("%s matched %llu", spec[way].name,
               (unsigned long long)status(fd, ways[way].id).matched);
        for (unsigned i = 0; i < COUNTERS; i++)
            if (sums[way][i])
                printf(" %u:%llu", i, (unsigned long long)sums[way][i]);
        printf("\n");
    }
    harvest(fd, ways);
    harvest(fd, ways);
    printf("again %llu\n", (unsigned long long)sums[1][5]);
    return 0;
}
