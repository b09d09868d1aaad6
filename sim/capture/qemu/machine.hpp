// SPDX-License-Identifier: Apache-2.0
// What the threads of a captured program share: pages, cache, clock, phase, and the files.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "cache.hpp"
#include "config.hpp"
#include "filter.hpp"
#include "output.hpp"
#include "pages.hpp"

namespace capture {

// What only this capture has, beside Config. Counts are of instructions, of all threads.
struct RunConfig {
    std::uint64_t instruction_ps; // of a thread that waits for no memory
    std::uint64_t skip, warm;     // run so far only to touch pages, and to fill the cache
    std::uint64_t hold;           // 1: skip begins when the command clears RunTotals::hold
    std::uint64_t instructions;   // to write down one by one, 0 for none

    // "name=value ...", all of them. Throws std::invalid_argument.
    static RunConfig parse(const std::string& text);
};

struct Files {
    std::string rows, instructions, operations;
};

// Callers hold `lock`, except of phase().
class Machine {
public:
    // Throws std::invalid_argument or std::runtime_error.
    Machine(const Config& config, const RunConfig& run, const Files& files);
    Machine(const Machine&) = delete;

    Phase phase() const { return phase_.load(std::memory_order_relaxed); }
    void count(std::uint64_t instructions); // some more were executed; may change the phase
    void move(Row row);                     // its address and time are of this machine
    bool writes_instructions() const {
        return phase() == Phase::record && totals->instruction_rows < run.instructions;
    }
    void write(InstructionRow row, const Operation* operations);
    void fail(const char* why); // ends the recording
    void forget();              // in a child: the files are the parent's

    const Config config;
    const RunConfig run;
    std::mutex lock;
    PageMap pages;
    Cache cache;
    std::uint64_t now_ps = 0; // of the thread that is furthest
    RunTotals* totals;

private:
    void settle(); // the phase that the instructions so far make it

    std::atomic<Phase> phase_{Phase::load};
    Row* rows_;
    InstructionRow* instructions_ = nullptr;
    Operation* operations_ = nullptr;
    std::uint64_t most_operations_ = 0;
    std::uint64_t begun_ = 0; // instructions executed when `hold` was cleared
};

} // namespace capture
