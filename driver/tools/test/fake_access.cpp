// SPDX-License-Identifier: GPL-2.0
/*
 * Makes a device for tests, and accesses to its memory.
 *   fake-access DEVICE new|new-flat
 *   fake-access DEVICE R|W ADDRESS TIMES    makes accesses, which all rules see (ops: add, or)
 *   fake-access DEVICE event TYPE ID COUNTER ADDRESS
 *   fake-access DEVICE moved                the host moves the memory
 *   fake-access DEVICE turn                 every key of a rotation completes a turn
 */
#include <cstdlib>
#include <fcntl.h>
#include <iostream>
#include <unistd.h>

#include "common.hpp"
#include "fake_store.hpp"

static void count(FakeTelemetry* t, uint64_t address, uint64_t times) {
    const anemone_spec* s = &t->spec;
    uint64_t key = (address & s->translation.primary.mask) >> s->translation.primary.shift;
    uint64_t index = fake_index(t, key);
    uint64_t offset = (address & s->translation.sub.mask) >> s->translation.sub.shift;
    unsigned int width = s->width ? s->width : 64;
    uint64_t all = width < 64 ? (1ULL << width) - 1 : UINT64_MAX;
    uint64_t* value;

    for (uint32_t i = 0; i < t->keys; i++)
        if (t->key[i] == key)
            t->turn[i][offset] += times;
    if (t->keys)
        return;
    if (index >= FAKE_TABLE || !t->region_of[index]) {
        t->status.unmapped += times;
        return;
    }
    value = &t->value[address >> 6 & 1][(t->region_of[index] - 1) * t->region_counters + offset];
    *value = (s->update.op == ANEMONE_OP_OR ? *value | s->update.operand
                                            : *value + times * s->update.operand) &
             all;
    t->status.matched += times;
}

static void access_all(FakeDevice* device, bool write, uint64_t device_address, uint64_t times) {
    for (uint32_t i = 0; i < FAKE_TELEMETRIES; i++) {
        FakeTelemetry* t = &device->telemetry[i];
        const anemone_spec* s = &t->spec;
        uint64_t address = device_address + (s->flags & ANEMONE_SPEC_HOST ? FAKE_HOST_BASE : 0);

        if (t->owner && s->filter.type & (write ? ANEMONE_W : ANEMONE_R) &&
            ((!s->filter.start && !s->filter.end) ||
             (address >= s->filter.start && address < s->filter.end)))
            count(t, address, times);
    }
}

/* Queues an event of channel 1. */
static void add_event(FakeDevice* device, char** words) {
    uint64_t number[4];

    for (int i = 0; i < 4; i++)
        number[i] = std::strtoull(words[i], nullptr, 0);
    if (device->waiting == FAKE_EVENTS)
        return;

    anemone_record& record = device->event[device->waiting++];

    record = {};
    record.event.type = static_cast<uint32_t>(number[0]);
    record.event.id = static_cast<uint32_t>(number[1]);
    record.event.counter = static_cast<uint32_t>(number[2]);
    record.event.channel = 1;
    record.event.time_ns = 12345678901;
    record.address = number[3];
}

static int usage() {
    std::cerr << "fake-access DEVICE new|new-flat|moved|turn, DEVICE R|W ADDRESS TIMES, or DEVICE "
                 "event TYPE ID COUNTER ADDRESS\n";
    return STATUS_INPUT;
}

int main(int argc, char** argv) {
    std::string_view what = argc > 2 ? argv[2] : "";
    bool fresh = argc == 3 && what.starts_with("new");
    FakeDevice* device;

    if (argc < 3)
        return usage();

    Descriptor fd(open(argv[1], O_RDWR | (fresh ? O_CREAT : 0), 0600));

    if (!fd || (fresh && ftruncate(fd.get(), sizeof(*device))) || !fake_enter(fd.get(), &device)) {
        std::cerr << argv[1] << ": " << error_text() << '\n';
        return STATUS_FAILED;
    }
    if (fresh)
        device->flat = what == "new-flat";
    else if (what == "moved")
        device->moved = 1;
    else if (what == "turn")
        device->turns++;
    else if (what == "event" && argc == 7)
        add_event(device, argv + 3);
    else if (argc == 5)
        access_all(device, what == "W", std::strtoull(argv[3], nullptr, 0),
                   std::strtoull(argv[4], nullptr, 0));
    else
        return usage();
    fake_leave(fd.get(), device);
    return 0;
}
