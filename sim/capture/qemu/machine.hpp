// SPDX-License-Identifier: Apache-2.0
// State that the threads of a captured program share: pages, cache, clock, phase, files.
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

// Settings of the capture by QEMU, in addition to Config. Counts are instructions of all threads.
struct RunConfig {
    std::uint64_t instruction_ps; // time per instruction without memory stalls
    std::uint64_t skip, warm;     // instructions that only touch pages; that only fill the cache
    std::uint64_t hold;           // 1: skip begins when the command clears RunTotals::hold
    std::uint64_t instructions;   // instructions to record one by one; 0: none

    // Parses "name=value ..."; every setting must be given. Throws std::invalid_argument.
    static RunConfig parse(const std::string& text);
};

struct Files {
    std::string rows, instructions, operations;
};

// Callers hold `lock`, except for phase().
class Machine {
public:
    // Throws std::invalid_argument or std::runtime_error.
    Machine(const Config& config, const RunConfig& run, const Files& files);
    Machine(const Machine&) = delete;

    Phase phase() const { return phase_.load(std::memory_order_relaxed); }
    void count(std::uint64_t instructions); // adds executed instructions; may change the phase
    void move(Row row);                     // records a line that moved
    bool writes_instructions() const {
        return phase() == Phase::record && totals->instruction_rows < run.instructions;
    }
    void write(InstructionRow row, const Operation* operations);
    void fail(const char* why); // ends the recording
    void forget();              // in a forked child: the files belong to the parent

    const Config config;
    const RunConfig run;
    std::mutex lock;
    PageMap pages;
    Cache cache;
    std::uint64_t now_ps = 0; // the latest time of any thread
    RunTotals* totals;

private:
    void settle(); // sets the phase from the instructions executed so far

    std::atomic<Phase> phase_{Phase::load};
    Row* rows_;
    InstructionRow* instructions_ = nullptr;
    Operation* operations_ = nullptr;
    std::uint64_t most_operations_ = 0;
    std::uint64_t begun_ = 0; // instructions executed when `hold` was cleared
};

} // namespace capture
