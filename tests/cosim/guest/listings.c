// SPDX-License-Identifier: Apache-2.0
/*
 * Listings 1 and 2 of the NEMO paper by the driver. While the host makes the accesses of a trace,
 * the counters are read again and again, with the effect that resets them; what was read in all is
 * printed. listings skew FIRST REGIONS: base pages of huge pages, from number FIRST on. listings
 * hotness PAGES: huge pages, from number 0 on.
 */
#include "telemetry.h"

#define BASE_SHIFT 12
#define ROUNDS 3 /* of reads, the first of them while the accesses are made */

static void gather(int fd, uint32_t id, uint32_t count, uint64_t* sums) {
    uint64_t* values = calloc(count, sizeof(*values));
    uint32_t i;

    CHECK(values);
    read_counters(fd, id, 0, count, values);
    for (i = 0; i < count; i++)
        sums[i] += values[i];
    free(values);
}

int main(int argc, char** argv) {
    unsigned int first = argc == 4 ? atoi(argv[2]) : 0, regions = atoi(argv[argc - 1]), i;
    struct anemone_entry* entries = calloc(regions, sizeof(*entries));
    struct anemone_spec spec = counting(argv[1], regions);
    struct anemone_status counts;
    struct anemone_add added;
    int fd = open_device();
    uint64_t* sums;

    if (!strcmp(argv[1], "skew"))
        spec.sub = (struct anemone_field){.mask = (1 << HUGE_SHIFT) - (1 << BASE_SHIFT),
                                          .shift = BASE_SHIFT};
    added = add(fd, spec);
    CHECK(added.regions == regions);
    for (i = 0; i < regions; i++)
        entries[i] = (struct anemone_entry){.key = first + i, .region = i};
    map_keys(fd, added.id, entries, regions);
    printf("pipelines %u counters %u\n", added.pipelines, added.region_counters);

    sums = calloc(regions * added.region_counters, sizeof(*sums));
    CHECK(sums);
    ask("start %s", argv[1]);
    for (i = 0; i < ROUNDS; i++)
        gather(fd, added.id, regions * added.region_counters, sums);
    counts = status(fd, added.id);
    printf("early %llu\n", (unsigned long long)(counts.matched + counts.unmapped));
    ask("wait");
    gather(fd, added.id, regions * added.region_counters, sums);

    for (i = 0; i < regions * added.region_counters; i++)
        if (sums[i])
            printf("counter %u %llu\n", i, (unsigned long long)sums[i]);
    memset(sums, 0, regions * added.region_counters * sizeof(*sums));
    gather(fd, added.id, regions * added.region_counters, sums);
    for (i = 0; i < regions * added.region_counters; i++)
        CHECK(!sums[i]);
    counts = status(fd, added.id);
    printf("matched %llu unmapped %llu\n", (unsigned long long)counts.matched,
           (unsigned long long)counts.unmapped);
    return 0;
}
