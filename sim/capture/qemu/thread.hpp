// SPDX-License-Identifier: Apache-2.0
// One thread of a captured program: its core, its clock, the flow of its loaded values.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core.hpp"
#include "instruction.hpp"
#include "machine.hpp"

namespace capture {

// Each thread calls only its own object, except for the constructor.
class Thread final : private Traffic {
public:
    Thread(Machine& machine, std::uint16_t number);
    Thread(const Thread&) = delete;

    void enter(const Block& block);                            // before the block's instructions
    void execute(const Block& block, const Instruction& insn); // only to record instructions
    void access(const Block& block, const Instruction& insn, std::uint64_t address,
                std::uint64_t bytes, bool store);
    void fence();
    void begin(std::uint64_t op) { op_ = op; }
    std::uint64_t last_store() const { return last_store_; }
    void finish(); // the thread or the program ends

private:
    void settle(); // reports the executed instructions to the machine

    // The flow of loaded values.
    void reach(const Instruction& insn);
    void pass(const Instruction& insn);
    void look(const Instruction& insn, std::uint64_t address, bool store);
    void wait(std::uint64_t load); // all loads up to this one are complete
    std::uint64_t newest(std::uint64_t registers) const;
    bool flows() const { return holds_ != 0 || !spilled_.empty() || returns_ != 0; }

    void to_cache(const Instruction& insn, std::uint64_t address, std::uint64_t bytes, bool store);
    void catch_up(const Instruction& insn); // the clock
    void commit();

    void stalls() override;
    void moves(std::uint64_t line, Kind kind, bool full) override;
    void prefetched(bool used) override;

    Machine& machine_;
    Core core_;
    const std::uint16_t number_;

    // Counts of executed instructions.
    std::uint64_t before_ = 0;   // before the current block
    std::uint64_t executed_ = 0; // with the current block
    std::uint64_t reported_ = 0; // reported to machine_
    std::uint64_t clocked_ = 0;  // when the clock was last moved
    std::uint64_t row_at_ = 0;   // at the last row
    std::uint64_t now_ps_ = 0;
    bool recording_;
    bool reported_all_ = false; // the recording is over
    std::uint64_t loads_ = 0, stores_ = 0;

    // Recently touched lines. A repeated access would hit, so it skips the shared cache and its
    // lock.
    struct Recent {
        std::uint64_t line = ~0ull, asked = 0;
        bool written = false;
    };
    static constexpr std::uint64_t kRecent = 64;
    std::array<Recent, kRecent> recent_;
    const std::uint64_t fresh_; // an entry expires after this many cache accesses
    std::uint64_t asked_;       // cache accesses so far
    std::uint64_t last_page_ = ~0ull;
    std::uint64_t last_store_ = 0;

    // Loads of this thread that missed are numbered from 1. A row depends on the load that its
    // address is computed from, unless an earlier row has waited for that load or a later one.
    std::uint64_t load_ = 0;      // the last load
    std::uint64_t waited_ = 0;    // loads up to this one are complete
    std::uint64_t loaded_at_ = 0; // executed_ at the last load

    // Registers that hold the result of an incomplete load, or a value computed from it, and for
    // each register the number of its newest such load. Stored words and loaded lines are tracked
    // in the same way: a load from them depends on that load, too. Instructions are examined only
    // while something is tracked; the block is examined up to next_.
    std::uint64_t holds_ = 0;
    std::array<std::uint64_t, kRegisters> of_load_{};
    struct Tracked {
        std::uint64_t unit; // number of the virtual word or line
        std::uint64_t load;
    };
    std::vector<Tracked> spilled_, lines_;

    const Block* block_ = nullptr;
    std::size_t next_ = 0;
    const Instruction* current_ = nullptr; // the instruction that accesses memory
    std::uint64_t depends_ = 0;            // the newest load that its address depends on
    std::uint64_t returns_ = 0;            // the load that its data depend on
    std::uint64_t line_ = 0;               // the virtual line that it accesses

    std::uint64_t op_ = 0;

    InstructionRow pending_{};
    std::vector<Operation> operations_;
    bool is_pending_ = false;
};

} // namespace capture
