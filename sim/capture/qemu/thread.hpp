// SPDX-License-Identifier: Apache-2.0
// One thread of a captured program: its core, its clock, where its loaded values have gone.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core.hpp"
#include "instruction.hpp"
#include "machine.hpp"

namespace capture {

// Only the thread itself calls these, except the constructor.
class Thread final : private Traffic {
public:
    Thread(Machine& machine, std::uint16_t number);
    Thread(const Thread&) = delete;

    void enter(const Block& block);                            // and its instructions follow
    void execute(const Block& block, const Instruction& insn); // only to write instructions down
    void access(const Block& block, const Instruction& insn, std::uint64_t address,
                std::uint64_t bytes, bool store);
    void fence();
    void begin(std::uint64_t op) { op_ = op; }
    std::uint64_t last_store() const { return last_store_; }
    void finish(); // it, or the program, ends

private:
    void settle(); // tells the machine what has been executed

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

    // Instructions executed: before this block, and how many of them machine_ has been told.
    std::uint64_t before_ = 0, executed_ = 0, told_ = 0;
    std::uint64_t clocked_ = 0; // up to this one the clock has been moved
    std::uint64_t row_at_ = 0;  // the one of the last row
    std::uint64_t now_ps_ = 0;
    bool recording_;
    bool told_all_ = false; // the recording is over
    std::uint64_t loads_ = 0, stores_ = 0;

    // Lines that this thread touched just before: another access there finds the line as it was
    // left, and the cache, which the threads share, is not asked.
    struct Recent {
        std::uint64_t line = ~0ull, asked = 0;
        bool written = false;
    };
    static constexpr std::uint64_t kRecent = 64;
    std::array<Recent, kRecent> recent_;
    const std::uint64_t fresh_; // not after so many accesses that did ask
    std::uint64_t asked_;
    std::uint64_t last_page_ = ~0ull;
    std::uint64_t last_store_ = 0;

    // This thread's loads that missed have numbers, from 1. A row waits for a load that its address
    // is computed from, unless one before it has waited for that load or for a later one.
    std::uint64_t load_ = 0, waited_ = 0,
                  loaded_at_ = 0; // the last; all until this; executed_ then

    // Registers that hold the result of a load that nothing has waited for, or a value computed
    // from it: a set, and the number of the newest such load. Words that were stored meanwhile and
    // lines that were loaded are tracked likewise: another load of one waits for it, too.
    // Instructions are examined only while there are any; those before next_ have been.
    std::uint64_t holds_ = 0;
    std::array<std::uint64_t, kRegisters> of_load_{};
    struct Kept {
        std::uint64_t place, load; // a word's or line's number, virtual
    };
    std::vector<Kept> spilled_, lines_;

    const Block* block_ = nullptr;
    std::size_t next_ = 0;
    const Instruction* current_ = nullptr; // it has accessed memory
    std::uint64_t depends_ = 0;            // the newest load that its address is computed from
    std::uint64_t returns_ = 0;            // the load that what it reads comes from
    std::uint64_t line_ = 0;               // the virtual line that it accesses

    std::uint64_t op_ = 0;

    InstructionRow pending_{};
    std::vector<Operation> operations_;
    bool is_pending_ = false;
};

} // namespace capture
