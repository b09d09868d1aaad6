// SPDX-License-Identifier: Apache-2.0
// Sampled loads of a rank of an MPI program: its instructions run through the core model, which
// says of each load how long it takes and where it finds its data. The tracer's marks
// (sim/mpi/marks.h) say from when on, which instructions are MPI's own, and after how many receives
// a load comes. sw-model/anemone/models/msgfree/modelled.py reads the file.
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

// The file's first page. Counts are of what the program does outside of MPI.
struct LoadsHeader {
    char magic[8]; // "ANELDS1\n"
    std::uint64_t rank, period;
    double ghz;
    std::uint64_t cycles; // of the thread that took longest
    std::uint64_t instructions, loads, load_bytes, l1_miss, l3_miss;
    std::uint64_t lines_read; // from memory, prefetches too
    std::uint64_t samples;
    std::uint64_t cycles_first, cycles_last; // at the first receive, and the most at a later one
};

struct LoadSample {
    std::uint64_t received, address; // records that the tracer had written before
    float latency_ns;
    std::uint32_t origin; // as core::Origin
};
static_assert(sizeof(LoadSample) == 24, "as the command reads it");

struct LoadSettings {
    std::string core;   // the machine, as core::Config reads it
    std::string folder; // of the files
    std::uint64_t period;
    std::uint64_t beside; // ranks that share L3 and memory, this one too
};

// What the threads of a rank share. All but the constructor and received is for who holds `lock`.
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

// One thread, from when the rank has begun.
class Sampler {
public:
    Sampler(Rank& rank, std::uint64_t seed);
    void access(std::uint64_t address, std::uint64_t bytes, bool store);
    void execute(const Instruction& insn); // its accesses follow
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
    std::uint64_t bytes_ = 0; // that it loads
    unsigned depth_ = 0;      // inside of MPI where above 0
    bool done_ = false;
    std::uint64_t random_, left_;
    core::Requests base_{}; // requests when it came back from MPI
    core::Cycle now_ = 0, cycles_ = 0;
};

} // namespace capture
