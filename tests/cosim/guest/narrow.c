// SPDX-License-Identifier: Apache-2.0
/*
 * A 32-bit program that makes every call of the device: all structures must have the same meaning.
 * It uses no C library, because there is no 32-bit one here; it prints the failing line and exits
 * with 1.
 */
#include <stddef.h>
#include <stdint.h>

#include <linux/anemone.h>

_Static_assert(sizeof(void*) == 4, "built with -m32");

enum { SYS_EXIT = 1, SYS_READ = 3, SYS_WRITE = 4, SYS_OPEN = 5, SYS_IOCTL = 54, SYS_MMAP2 = 192 };
enum { O_RDWR = 2, PROT_READ = 1, MAP_SHARED = 1 };
#define EBUSY 16

static long call(long number, long a, long b, long c) {
    long result;

    __asm__ volatile("int $0x80" : "=a"(result) : "0"(number), "b"(a), "c"(b), "d"(c) : "memory");
    return result;
}

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            call(SYS_EXIT, __LINE__, 0, 0);                                                        \
    } while (0)

/* The compiler calls these implicitly. */
void* memset(void* to, int value, size_t bytes) {
    for (volatile char* p = to; bytes--; p++)
        *p = (char)value;
    return to;
}

void* memcpy(void* to, const void* from, size_t bytes) {
    volatile char* p = to;

    for (const char* q = from; bytes--; q++)
        *p++ = *q;
    return to;
}

static int fd;
static long
    page; /* in memory, because the sixth argument is passed in the frame pointer's register */

/* The offset of a telemetry's snapshot has more than 32 bits; its page number does not. */
static const struct anemone_snapshot* map_snapshot(uint32_t id) {
    long address;

    page = (long)(ANEMONE_SNAPSHOT_OFFSET(id) >> 12);
    __asm__ volatile("push %%ebp; mov %[page], %%ebp; int $0x80; pop %%ebp"
                     : "=a"(address)
                     : "0"(SYS_MMAP2), "b"(0), "c"(4096), "d"(PROT_READ), "S"(MAP_SHARED),
                       "D"(fd), [page] "m"(page)
                     : "memory");
    CHECK(address < 0 ? address < -4095 : address);
    return (const struct anemone_snapshot*)address;
}

static int call_device(unsigned long command, void* argument) {
    return (int)call(SYS_IOCTL, fd, (long)command, (long)argument);
}

/* Asks the host for accesses: three to huge page 5 and, last, two to 6. */
static void ask_for_accesses(void) {
    char answer = 0;
    long port = call(SYS_OPEN, (long)"/dev/ttyS1", O_RDWR, 0);

    CHECK(port >= 0);
    CHECK(call(SYS_WRITE, port, (long)"accesses\n", 9) == 9);
    while (answer != '\n')
        CHECK(call(SYS_READ, port, (long)&answer, 1) == 1);
}

static void run(void) {
    struct anemone_info info = {.size = sizeof(info)};
    struct anemone_add add = {
        .size = sizeof(add),
        .spec = {.name = "narrow",
                 .filter.type = ANEMONE_R | ANEMONE_W,
                 .translation.primary = {.mask = ANEMONE_ALL_MEM, .shift = 21},
                 .update = {.op = ANEMONE_OP_ADD, .operand = 1},
                 .notify = {.op = ANEMONE_NOTIFY_GE, .operand = 3},
                 .read_effect = {.op = ANEMONE_OP_RESET},
                 .width = 64,
                 .regions = 8}};
    struct anemone_entry entry[] = {{.key = 5, .region = 1}, {.key = 6, .region = 7}};
    struct anemone_event event;
    const struct anemone_snapshot* snapshot;
    uint64_t value[8], keys[] = {5, 6};

    fd = (int)call(SYS_OPEN, (long)"/dev/anemone0", O_RDWR, 0);
    CHECK(fd >= 0);
    CHECK(!call_device(ANEMONE_INFO, &info));
    CHECK(info.uapi == ANEMONE_UAPI_VERSION && info.pipelines == 8 && info.host_size == 1ULL << 34);
    CHECK(!call_device(ANEMONE_ADD, &add) && add.regions >= 8 && add.region_counters == 1);

    struct anemone_map map = {
        .size = sizeof(map), .id = add.id, .entries = (uintptr_t)entry, .count = 2};
    struct anemone_read read = {
        .size = sizeof(read), .id = add.id, .count = 8, .values = (uintptr_t)value};
    struct anemone_status status = {.size = sizeof(status), .id = add.id};
    struct anemone_rotate rotate = {.size = sizeof(rotate),
                                    .id = add.id,
                                    .keys = (uintptr_t)keys,
                                    .count = 2,
                                    .period_ms = 60000};
    struct anemone_turn turn = {
        .size = sizeof(turn), .id = add.id, .index = 1, .count = 1, .values = (uintptr_t)value};
    struct anemone_id id = {.size = sizeof(id), .id = add.id};
    struct anemone_eventfd none = {.size = sizeof(none), .id = add.id, .fd = -1};

    CHECK(!call_device(ANEMONE_MAP, &map) && map.done == 2);
    ask_for_accesses();
    CHECK(call(SYS_READ, fd, (long)&event, sizeof(event)) == sizeof(event));
    CHECK(event.id == add.id && event.counter == 1 && event.channel == 0);
    CHECK(!call_device(ANEMONE_STATUS, &status));
    CHECK(status.matched == 5 && status.mapped == 2 && status.events == 1);
    snapshot = map_snapshot(add.id);
    CHECK(!call_device(ANEMONE_SNAPSHOT, &id));
    CHECK(snapshot->sequence == 2 && snapshot->count == add.regions);
    CHECK(snapshot->values[1] == 3 && snapshot->values[7] == 2);
    CHECK(!call_device(ANEMONE_READ, &read));
    for (unsigned int i = 0; i < 8; i++)
        CHECK(value[i] == (i == 1 ? 3 : i == 7 ? 2 : 0));
    CHECK(call_device(ANEMONE_ROTATE, &rotate) == -EBUSY); /* because keys are mapped */
    entry[0].flags = entry[1].flags = ANEMONE_ENTRY_UNMAP;
    CHECK(!call_device(ANEMONE_MAP, &map) && map.done == 2);
    CHECK(!call_device(ANEMONE_ROTATE, &rotate) && rotate.sweep_ns == 60000ULL * 1000 * 1000);
    CHECK(!call_device(ANEMONE_TURN, &turn) && turn.turns == 0);
    CHECK(!call_device(ANEMONE_EVENTFD, &none));
    CHECK(!call_device(ANEMONE_REMOVE, &id));
}

__attribute__((force_align_arg_pointer)) void _start(void) {
    run();
    call(SYS_EXIT, 0, 0, 0);
}
