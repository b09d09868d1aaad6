// SPDX-License-Identifier: Apache-2.0
// Sampled loads of a rank of an MPI program. Its instructions run through the core model, which
// gives the latency and the data source of each load. The tracer's marks (sim/mpi/marks.h) give the
// start, the instructions inside MPI, and the number of receives before a load.
// sw-model/anemone/models/msgfree/modelled.py reads the file.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "../../core/core.hpp"
#include "../../core/instructions.hpp"
#include "instruction.hpp"

namespace capture {

// The file's first page. Counts cover the program outside of MPI.
struct LoadsHeader {
    char magic[8]; // "ANELDS1\n"
    std::uint64_t rank, period;
    double ghz;
    std::uint64_t cycles; // of the thread that took longest
    std::uint64_t instructions, loads, load_bytes, l1_miss, l3_miss;
    std::uint64_t lines_read; // from memory, with prefetches
    std::uint64_t samples;
    std::uint64_t cycles_first, cycles_last; // at the first receive; the most at a later one
};

struct LoadSample {
    std::uint64_t received; // records that the tracer had written before the load
    std::uint64_t address;
    float latency_ns;
    std::uint32_t origin; // core::Origin
};
static_assert(sizeof(LoadSample) == 24, "as the command reads it");

struct LoadSettings {
    std::string core;   // the machine, in the format of core::Config
    std::string folder; // of the files
    std::uint64_t period;
    std::uint64_t ranks_on_host; // they share L3 and memory
};

// State that the threads of a rank share. `lock` guards all but the constructor and `received`.
class Rank {
public:
    explicit Rank(const LoadSettings& settings); // throws
    void begin(std::uint64_t rank);              // throws
    bool begun() const { return header_ != nullptr; }
    void sample(const LoadSample& sample);
    void flush();

    std::mutex lock;
    std::atomic<std::uint64_t> received = 0;
    const std::uint64_t period;
    const core::Config config;
    core::Shared shared;
    LoadsHeader& header() { return *header_; }

private:
    const std::string folder_;
    LoadsHeader* header_ = nullptr;
    int file_ = -1;
    std::vector<LoadSample> samples_;
};

// One thread of a rank that has begun.
class Sampler {
public:
    Sampler(Rank& rank, std::uint64_t seed);
    void access(std::uint64_t address, std::uint64_t bytes, bool store);
    void execute(const Instruction& insn); // called before access() of the same instruction
    void enter();
    void leave(std::uint64_t received);
    void finish();

private:
    void commit(std::uint64_t next_pc);
    void count();
    std::uint64_t draw(); // loads until the next sample, the period on average

    Rank& rank_;
    core::Core core_;
    core::Translator translator_;
    const Instruction* pending_ = nullptr;
    std::vector<core::Touched> touched_;
    std::vector<core::Op> ops_;
    std::uint64_t bytes_ = 0; // loaded by the pending instruction
    unsigned depth_ = 0;      // nesting of MPI calls; 0 outside MPI
    bool done_ = false;
    std::uint64_t random_, left_;
    core::Requests base_{}; // requests at the last return from MPI
    core::Cycle now_ = 0, cycles_ = 0;
};

} // namespace capture
