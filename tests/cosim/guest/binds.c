// SPDX-License-Identifier: Apache-2.0
/*
 * Binds the driver to its device, and unbinds it at the end. It checks that a failed probe leaves
 * nothing behind that the kernel shows. binds works: it binds, and a telemetry counts. binds
 * refused: it does not bind. binds allocations: lets the first, second, ... allocation fail until a
 * probe has no failing one; after each it binds without failures, and works.
 */
#include <dirent.h>
#include <stdbool.h>

#include "telemetry.h"

#define NAME "0000:01:00.0"
#define DEVICE "/sys/bus/pci/devices/" NAME
#define DRIVER "/sys/bus/pci/drivers/anemone"
#define BARS 6

static unsigned long long bars[BARS][2]; /* first and last bytes */
static int fail_nth = -1;

/* Writes to a sysfs file; returns 0 or the error. Allocation number n fails; 0: none. */
static int write_sysfs(const char* file, unsigned int n) {
    int fd = open(file, O_WRONLY), error;
    char count[12];

    CHECK(fd >= 0);
    snprintf(count, sizeof(count), "%u", n);
    CHECK(!n || pwrite(fail_nth, count, strlen(count), 0) > 0);
    error = write(fd, NAME, strlen(NAME)) < 0 ? errno : 0;
    close(fd);
    return error;
}

/* Whether an allocation failed; from now on none does. */
static bool one_failed(void) {
    char count[12] = "";

    CHECK(pread(fail_nth, count, sizeof(count) - 1, 0) > 0);
    CHECK(pwrite(fail_nth, "0", 1, 0) > 0);
    return !atoi(count);
}

static bool bound(void) {
    return !access(DRIVER "/" NAME, F_OK);
}

static void says_nothing_of(const char* path, const char* word) {
    FILE* file = fopen(path, "r");
    char line[1024];

    CHECK(file);
    while (fgets(line, sizeof(line), file))
        if (strstr(line, word))
            fail("%s still has %s", path, line);
    fclose(file);
}

static void find_bars(void) {
    FILE* file = fopen(DEVICE "/resource", "r");
    unsigned int i;

    CHECK(file);
    for (i = 0; i < BARS; i++)
        CHECK(fscanf(file, "%llx %llx %*x", &bars[i][0], &bars[i][1]) == 2);
    fclose(file);
}

static void none_is_mapped(void) {
    FILE* file = fopen("/proc/vmallocinfo", "r");
    unsigned long long at;
    unsigned int i;
    char line[1024];

    CHECK(file);
    while (fgets(line, sizeof(line), file)) {
        const char* where = strstr(line, "phys=");

        if (!where || sscanf(where, "phys=%llx", &at) != 1)
            continue;
        for (i = 0; i < BARS; i++)
            if (at >= bars[i][0] && at < bars[i][1])
                fail("BAR %u is still mapped: %s", i, line);
    }
    fclose(file);
}

static void nothing_is_left(void) {
    struct dirent* entry;
    DIR* folder;

    CHECK(!bound());
    CHECK(access("/dev/anemone0", F_OK) && access(DEVICE "/anemone", F_OK));
    CHECK(access(DEVICE "/msi_irqs", F_OK)); /* its vectors are gone */
    says_nothing_of(DEVICE "/enable", "1");
    says_nothing_of("/proc/interrupts", "anemone");
    says_nothing_of("/proc/iomem", "anemone");
    none_is_mapped();
    folder = opendir("/sys/kernel/debug/anemone");
    CHECK(folder);
    while ((entry = readdir(folder)))
        CHECK(entry->d_name[0] == '.');
    closedir(folder);
}

static void unbind(void) {
    CHECK(!write_sysfs(DRIVER "/unbind", 0));
    nothing_is_left();
}

/* What was checked above exists, and one access is counted. */
static void works(void) {
    struct anemone_entry entry = {.key = 3, .region = 1};
    uint64_t values[2];
    uint32_t id;
    int fd;

    CHECK(!write_sysfs(DRIVER "/bind", 0) && bound());
    CHECK(!access(DEVICE "/anemone", F_OK) && !access(DEVICE "/msi_irqs", F_OK));
    CHECK(!access("/sys/kernel/debug/anemone/anemone0/registers", F_OK));
    fd = open_device();
    id = add(fd, counting("works", 2)).id;
    map_keys(fd, id, &entry, 1);
    ask("access %d 0", 3 << HUGE_SHIFT);
    read_counters(fd, id, ANEMONE_READ_SNAPSHOT, 2, values);
    CHECK(values[1] == 1);
    close(fd);
    unbind();
}

/* An allocation that fails makes the probe fail, or was optional. */
static void allocations(void) {
    unsigned int n, refused = 0;
    bool failed = true;
    int error;

    fail_nth = open("/proc/thread-self/fail-nth", O_RDWR);
    for (n = 1; failed; n++) {
        error = write_sysfs(DRIVER "/bind", n);
        failed = one_failed();
        if (error) {
            if (!failed || (error != ENOMEM && error != EBUSY && error != ENODEV))
                fail("allocation %u: %s", n, strerror(error));
            refused++;
            nothing_is_left();
        } else {
            unbind();
        }
        works();
    }
    printf("%u allocations failed, %u probes\n", n - 2, refused);
}

int main(int argc, char** argv) {
    CHECK(argc == 2);
    if (bound())
        CHECK(!write_sysfs(DRIVER "/unbind", 0));
    find_bars();
    nothing_is_left();
    if (!strcmp(argv[1], "refused")) {
        CHECK(write_sysfs(DRIVER "/bind", 0));
        nothing_is_left();
    } else if (!strcmp(argv[1], "works")) {
        works();
    } else {
        allocations();
    }
    return 0;
}
