/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A device for tests is a file that all its users map. The position of an open file identifies its
 * telemetries, because descriptors that are passed to another process share it. They live as long
 * as a lock on the byte at that position.
 */
#ifndef ANEMONECTL_FAKE_STORE_HPP
#define ANEMONECTL_FAKE_STORE_HPP

#include <cstdint>
#include <linux/anemone.h>

constexpr uint32_t FAKE_TELEMETRIES = 8;
constexpr uint32_t FAKE_CHANNELS = 2;
constexpr uint32_t FAKE_STATES = 1024;
constexpr uint32_t FAKE_TABLE = 512;
constexpr uint32_t FAKE_PIPELINES = 4;
constexpr uint32_t FAKE_ADDRESS_BITS = 30;
constexpr uint32_t FAKE_COUNTERS = FAKE_STATES * 8;
constexpr uint32_t FAKE_KEYS = 64;
constexpr uint64_t FAKE_HOST_BASE = 0x1000000000;
constexpr uint32_t FAKE_EVENTS = 16;
constexpr uint32_t FAKE_TURN_COUNTERS = 512;

struct FakeTelemetry {
    uint64_t owner; /* 0: unused */
    uint32_t id, regions, region_counters, pipelines, keys;
    anemone_spec spec;
    anemone_status status;
    uint32_t region_of[FAKE_TABLE]; /* 0: not mapped; else region + 1 */
    uint64_t value[FAKE_CHANNELS][FAKE_COUNTERS];
    uint64_t key[FAKE_KEYS];
    uint64_t turn[FAKE_KEYS][FAKE_TURN_COUNTERS];
};

struct FakeDevice {
    uint32_t flat, last_id, turns;
    uint32_t moved; /* the host has moved the memory */
    uint64_t last_owner;
    uint32_t waiting, listens; /* events; whether anybody asked for records */
    anemone_record event[FAKE_EVENTS];
    FakeTelemetry telemetry[FAKE_TELEMETRIES];
};

/* Maps and locks the device of an open file; on failure returns false and sets errno. */
bool fake_enter(int fd, FakeDevice** device);
void fake_leave(int fd, FakeDevice* device);
/* Index of a key in the table. */
uint64_t fake_index(const FakeTelemetry* telemetry, uint64_t key);

#endif
