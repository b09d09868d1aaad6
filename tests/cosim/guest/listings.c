// SPDX-License-Identifier: Apache-2.0
/*
 * Listings 1 and 2 of the NEMO paper on the driver. While the host makes a trace's accesses in two
 * halves, the counters are read repeatedly with effect. It prints the sums of all reads, and how
 * many accesses were counted before the second half. listings skew FIRST REGIONS: base pages of
 * huge pages, from huge page FIRST on. listings hotness PAGES: huge pages, from number 0 on.
 */
#include "telemetry.h"

#define BASE_SHIFT 12
#define ROUNDS 3   /* reads during the second half */
#define PIECE 1024 /* counters per call */

static int fd;
static struct anemone_add added;

/* Reads `count` counters from `first` on, and adds them to the sums. */
static void gather(uint32_t first, uint32_t count, uint64_t* sums) {
    uint64_t values[PIECE];
    struct anemone_read call = {.size = sizeof(call), .id = added.id, .values = (uintptr_t)values};
    uint32_t i;

    for (; count; first += call.count, count -= call.count) {
        call.first = first;
        call.count = count < PIECE ? count : PIECE;
        CHECK(!ioctl(fd, ANEMONE_READ, &call));
        for (i = 0; i < call.count; i++)
            sums[first + i] += values[i];
    }
}

static unsigned long long seen(void) {
    struct anemone_status counts = status(fd, added.id);

    return counts.matched + counts.unmapped;
}

int main(int argc, char** argv) {
    unsigned int first = argc == 4 ? atoi(argv[2]) : 0, regions = atoi(argv[argc - 1]), count, i;
    struct anemone_entry* entries = calloc(regions, sizeof(*entries));
    struct anemone_spec spec = counting(argv[1], regions);
    uint64_t* sums;

    if (!strcmp(argv[1], "skew"))
        spec.translation.sub = (struct anemone_field){.mask = (1 << HUGE_SHIFT) - (1 << BASE_SHIFT),
                                                      .shift = BASE_SHIFT};
    fd = open_device();
    added = add(fd, spec);
    CHECK(added.regions == regions);
    count = regions * added.region_counters;
    for (i = 0; i < regions; i++)
        entries[i] = (struct anemone_entry){.key = first + i, .region = i};
    map_keys(fd, added.id, entries, regions);
    printf("pipelines %u counters %u\n", added.pipelines, added.region_counters);

    sums = calloc(count, sizeof(*sums));
    CHECK(sums);
    ask("start");
    do
        gather(0, PIECE, sums);
    while (!seen());
    printf("early %llu\n", seen());
    ask("rest");
    for (i = 0; i < ROUNDS; i++)
        gather(0, count, sums);
    ask("wait");
    gather(0, count, sums);

    for (i = 0; i < count; i++)
        if (sums[i])
            printf("counter %u %llu\n", i, (unsigned long long)sums[i]);
    memset(sums, 0, count * sizeof(*sums));
    gather(0, count, sums);
    for (i = 0; i < count; i++)
        CHECK(!sums[i]);
    printf("matched %llu unmapped %llu\n", (unsigned long long)status(fd, added.id).matched,
           (unsigned long long)status(fd, added.id).unmapped);
    return 0;
}
