// SPDX-License-Identifier: Apache-2.0
/*
 * Random calls of /dev/anemone0 of all kinds, valid and invalid, by several threads, on files of
 * their own and on shared ones. fuzz SEED CALLS SECONDS [THREADS]: makes so many calls, or fewer if
 * the time is up. Meanwhile it asks the host for accesses ("traffic"). It checks that each call
 * returns an allowed result, that nothing of other files' telemetries is visible, and that
 * everything is free at the end. With one thread, the same seed makes the same calls.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <time.h>

#include "fuzz_pages.h"

#define THREADS_MAX 8

typedef void (*operation_t)(struct worker*, int, struct private_file*);

/* An operation is as frequent as it is in this list. */
static const operation_t operations[] = {
    op_info, op_add,    op_remove,   op_map,      op_map,    op_map,    op_read,   op_read,
    op_read, op_status, op_status,   op_eventfd,  op_events, op_events, op_rotate, op_rotate,
    op_turn, op_turn,   op_snapshot, op_snapshot, op_number, op_pages,  op_child,  op_records,
};

/* Closes a file that threads, a mapping, a rotation or pages may be using. */
static void reopen(struct worker* w, struct private_file* file) {
    int copy = one_in(w, 4) ? dup(file->fd) : -1;

    close(file->fd);
    if (copy >= 0)
        close(copy);
    file->fd = open_node(O_NONBLOCK);
    file->record = sizeof(struct anemone_event);
    file->count = 0;
}

static void replace(struct worker* w) {
    unsigned int slot = below(w, SHARED_FILES);
    int fresh = open_node(slot ? O_NONBLOCK : 0);

    CHECK(dup2(fresh, shared[slot]) >= 0);
    close(fresh);
}

static void* work(void* argument) {
    struct worker* w = argument;
    unsigned int i;

    w->fail = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
    while (atomic_load(&left) > 0) {
        operation_t operation = operations[below(w, sizeof(operations) / sizeof(*operations))];
        struct private_file* file = &w->files[below(w, PRIVATE_FILES)];

        if (one_in(w, 60))
            reopen(w, file);
        else if (one_in(w, 60))
            replace(w);
        else if (one_in(w, 4) && operation != op_events)
            operation(w, shared[below(w, SHARED_FILES)], NULL);
        else /* most calls need a telemetry */
            (file->count || !one_in(w, 3) ? operation : op_add)(w, file->fd, file);
    }
    for (i = 0; i < PRIVATE_FILES; i++)
        close(w->files[i].fd);
    if (w->arena)
        munmap(w->arena, ARENA_BYTES);
    munmap(w->values, VALUES_BYTES);
    if (w->fail >= 0)
        close(w->fail);
    return NULL;
}

/* Waits in read(2) and poll(2) on a shared file until it is interrupted. */
static void* wait_for_events(void* argument) {
    struct worker* w = argument;
    struct anemone_event events[4];
    ssize_t got, i;

    while (atomic_load(&left) > 0) {
        struct pollfd one = {.fd = shared[0], .events = POLLIN};

        if (one_in(w, 2))
            poll(&one, 1, 1000);
        got = read(shared[0], events, sizeof(events));
        EXPECT(w, got > 0 || errno == EINTR);
        for (i = 0; i < got / (ssize_t)sizeof(*events); i++)
            check_event(w, &events[i], NULL);
    }
    return NULL;
}

static void interrupted(int number) {
    (void)number;
}

static void init(struct worker* w, unsigned int number, uint64_t seed) {
    unsigned int i;

    *w = (struct worker){.number = number, .state = seed * 1000003 + number, .fail = -1};
    w->values = mmap(NULL, VALUES_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(w->values != MAP_FAILED);
    for (i = 0; i < PRIVATE_FILES; i++)
        w->files[i] = (struct private_file){.fd = open_node(O_NONBLOCK),
                                            .record = sizeof(struct anemone_event)};
}

static struct anemone_info information(void) {
    struct anemone_info info = {.size = sizeof(info)};
    int fd = open_node(0);

    CHECK(!ioctl(fd, ANEMONE_INFO, &info));
    close(fd);
    return info;
}

static void report(long asked) {
    static const char* const names[REQUESTS] = {"info", "add",      "remove",  "map",
                                                "read", "status",   "eventfd", "rotate",
                                                "turn", "snapshot", "events"};
    unsigned int i;

    printf("calls %ld\n", asked - atomic_load(&left));
    for (i = 0; i < REQUESTS; i++)
        printf("%s done %ld refused %ld\n", names[i], done[i], refused[i]);
    for (i = 0; i < KEY_SHIFTS; i++)
        printf("own pages of %u bits: %ld\n", key_shifts[i], atomic_load(&exclusive_counted[i]));
    printf("interrupts %llu spurious %llu\n", (unsigned long long)device.interrupts,
           (unsigned long long)device.spurious);
}

static int all_is_free(void) {
    device = information();
    printf("%u of %u pipelines free, flags %#x\n", device.pipelines_free, device.pipelines,
           device.flags);
    CHECK(device.pipelines_free == device.pipelines && !(device.flags & ANEMONE_INFO_FAILED));
    puts("all is free");
    return 0;
}

int main(int argc, char** argv) {
    static struct worker workers[THREADS_MAX + 1];
    unsigned int threads = argc > 4 ? atoi(argv[4]) : 3, i;
    uint64_t seed = argc > 2 ? strtoull(argv[1], NULL, 0) : 0;
    struct sigaction action = {.sa_handler = interrupted};
    time_t end;
    long asked;

    if (argc == 2 && !strcmp(argv[1], "ended"))
        return all_is_free();
    if (argc < 4 || !threads || threads > THREADS_MAX)
        fail("usage: fuzz SEED CALLS SECONDS [THREADS, to %d]", THREADS_MAX);
    asked = atol(argv[2]);
    atomic_store(&left, asked);
    printf("fuzz %llu %s %s %u\n", (unsigned long long)seed, argv[2], argv[3], threads);
    fflush(stdout);
    sigaction(SIGUSR1, &action, NULL);
    device = information();
    for (i = 0; i < SHARED_FILES; i++)
        shared[i] = open_node(i ? O_NONBLOCK : 0);
    for (i = 0; i <= threads; i++) {
        init(&workers[i], i, seed);
        CHECK(!pthread_create(&workers[i].thread, NULL, i < threads ? work : wait_for_events,
                              &workers[i]));
    }
    end = time(NULL) + atol(argv[3]);
    for (i = 0; atomic_load(&left) > 0; i++) {
        if (time(NULL) >= end) {
            asked -= atomic_exchange(&left, 0); /* calls that will not be made */
        }
        if (i % 16 == 0)
            ask("traffic");
        usleep(20000);
        pthread_kill(workers[threads].thread, SIGUSR1);
        if (i % 4 == 0)
            pthread_kill(workers[i / 4 % threads].thread, SIGUSR1);
    }
    for (i = 0; i < threads; i++)
        pthread_join(workers[i].thread, NULL);
    for (i = 0; i < SHARED_FILES; i++) {
        /* The waiting thread holds the file until it is interrupted. */
        pthread_kill(workers[threads].thread, SIGUSR1);
        usleep(10000);
        CHECK(dup2(workers[threads].files[0].fd, shared[i]) >= 0);
    }
    while (pthread_tryjoin_np(workers[threads].thread, NULL)) {
        pthread_kill(workers[threads].thread, SIGUSR1);
        usleep(10000);
    }
    for (i = 0; i < SHARED_FILES; i++)
        close(shared[i]);
    for (i = 0; i < PRIVATE_FILES; i++)
        close(workers[threads].files[i].fd);
    device = information();
    report(asked);
    fflush(stdout);
    /* Remaining mappings keep their files until exec replaces this process's memory. */
    execl("/proc/self/exe", "fuzz", "ended", NULL);
    fail("exec: %s", strerror(errno));
}
