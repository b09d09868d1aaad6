// SPDX-License-Identifier: Apache-2.0
/*
 * What calls return that do not run to their end. answers signal: a call that a signal interrupts
 * returns how far it came. answers killed: a read that takes seconds ends with its process. answers
 * ones: the status of a telemetry on several pipelines of a device that dropped off the bus.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include "telemetry.h"

#define KEYS 8192

static void interrupted(int number) {
    (void)number;
}

/* Exactly as many keys are mapped as the call returns, whenever the signal comes. */
static void is_ended_by_a_signal(int fd, uint32_t id) {
    static struct anemone_entry entries[KEYS];
    struct sigaction action = {.sa_handler = interrupted};
    unsigned int i, times, ended = 0;

    sigaction(SIGALRM, &action, NULL);
    for (times = 0; times < 40; times++) {
        struct itimerval timer = {.it_value.tv_usec = 500 + 200 * times}, none = {0};
        struct anemone_map map = {
            .size = sizeof(map), .id = id, .entries = (uintptr_t)entries, .count = KEYS};
        int error;

        for (i = 0; i < KEYS; i++)
            entries[i] = (struct anemone_entry){.key = i};
        setitimer(ITIMER_REAL, &timer, NULL);
        error = ioctl(fd, ANEMONE_MAP, &map) ? errno : 0;
        setitimer(ITIMER_REAL, &none, NULL);
        CHECK(error ? error == EINTR && map.done < KEYS : map.done == KEYS);
        CHECK(status(fd, id).mapped == map.done);
        ended += error == EINTR && map.done;
        for (i = 0; i < map.done; i++)
            entries[i].flags = ANEMONE_ENTRY_UNMAP;
        map_keys(fd, id, entries, map.done);
    }
    CHECK(ended);
}

static double seconds(void) {
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

/* A process that is killed early does not read the last counters. */
static void ends_with_its_process(int fd, const struct anemone_add* added) {
    size_t bytes = added->regions * sizeof(uint64_t);
    uint64_t* values = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    double begun, all;
    pid_t child;
    int how;

    CHECK(values != MAP_FAILED);
    read_counters(fd, added->id, 0, added->regions, values); /* makes the pages present */
    begun = seconds();
    read_counters(fd, added->id, 0, added->regions, values);
    all = seconds() - begun;
    memset(values, 0xFF, bytes);
    child = fork();
    CHECK(child >= 0);
    if (!child) {
        read_counters(fd, added->id, 0, added->regions, values);
        _exit(0);
    }
    usleep((useconds_t)(all / 8 * 1e6));
    CHECK(!kill(child, SIGKILL) && waitpid(child, &how, 0) == child);
    CHECK(WIFSIGNALED(how) && values[added->regions - 1] == ~0ULL);
}

static void fell_off(int fd, uint32_t id) {
    struct anemone_status call = {.size = sizeof(call), .id = id};

    ask("fault ones");
    CHECK(ioctl(fd, ANEMONE_STATUS, &call) == -1 && errno == EIO);
    CHECK(info(fd).flags & ANEMONE_INFO_FAILED);
}

int main(int argc, char** argv) {
    int fd = open_device();
    struct anemone_add added = add(fd, counting("answers", 65536));

    CHECK(argc == 2 && added.pipelines > 1);
    if (!strcmp(argv[1], "signal"))
        is_ended_by_a_signal(fd, added.id);
    else if (!strcmp(argv[1], "killed"))
        ends_with_its_process(fd, &added);
    else
        fell_off(fd, added.id);
    return 0;
}
