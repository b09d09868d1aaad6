// SPDX-License-Identifier: Apache-2.0
#include "machine.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <sstream>
#include <stdexcept>

namespace capture {
namespace {
// Capacity of the operations' file, per instruction on average. An AVX gather has eight operations
// and XSAVE more, but both are rare.
constexpr std::uint64_t kOperations = 4;
} // namespace

RunConfig RunConfig::parse(const std::string& text) {
    RunConfig made{};
    std::map<std::string, std::uint64_t*> numbers = {
        {"instruction_ps", &made.instruction_ps},
        {"skip", &made.skip},
        {"warm", &made.warm},
        {"hold", &made.hold},
        {"instructions", &made.instructions},
    };
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        const auto equals = word.find('=');
        const auto found = numbers.find(word.substr(0, equals));
        if (equals == std::string::npos || found == numbers.end())
            throw std::invalid_argument("\"" + word + "\" is no setting, or there twice");
        *found->second = std::stoull(word.substr(equals + 1));
        numbers.erase(found);
    }
    if (!numbers.empty())
        throw std::invalid_argument(numbers.begin()->first + " is missing");
    return made;
}

Machine::Machine(const Config& c, const RunConfig& r, const Files& files)
    : config(c), run(r), pages(c), cache(c) {
    auto* start = static_cast<char*>(map_file(files.rows, kFirstRow + c.events * sizeof(Row)));
    totals = reinterpret_cast<RunTotals*>(start);
    rows_ = reinterpret_cast<Row*>(start + kFirstRow);
    if (r.instructions != 0) {
        most_operations_ = r.instructions * kOperations;
        instructions_ = static_cast<InstructionRow*>(
            map_file(files.instructions, r.instructions * sizeof(InstructionRow)));
        operations_ = static_cast<Operation*>(
            map_file(files.operations, most_operations_ * sizeof(Operation)));
    }
    totals->hold = r.hold;
    settle();
}

void Machine::count(std::uint64_t instructions) {
    totals->instructions += instructions;
    if (phase() == Phase::record)
        totals->recorded_instructions += instructions;
    else if (phase() != Phase::done)
        settle();
}

void Machine::settle() {
    if (__atomic_load_n(&totals->hold, __ATOMIC_ACQUIRE) != 0) {
        begun_ = totals->instructions;
        return;
    }
    const std::uint64_t so_far = totals->instructions - begun_;
    if (so_far >= run.skip + run.warm)
        phase_ = Phase::record;
    else if (so_far >= run.skip)
        phase_ = Phase::warm;
    totals->phase = static_cast<std::uint64_t>(phase());
}

void Machine::move(Row row) {
    rows_[totals->rows] = row;
    totals->pages = pages.used();
    // Written after the row, because the command reads the rows up to this count.
    __atomic_store_n(&totals->rows, totals->rows + 1, __ATOMIC_RELEASE);
    if (totals->rows == config.events) {
        phase_ = Phase::done;
        totals->phase = static_cast<std::uint64_t>(Phase::done);
    }
}

void Machine::write(InstructionRow row, const Operation* operations) {
    if (!writes_instructions())
        return;
    row.first = totals->operation_rows;
    row.n = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(row.n, most_operations_ - totals->operation_rows));
    std::copy_n(operations, row.n, operations_ + row.first);
    totals->operation_rows += row.n;
    instructions_[totals->instruction_rows++] = row;
}

void Machine::fail(const char* why) {
    std::snprintf(totals->error, kErrorBytes, "%s", why);
    phase_ = Phase::done;
    totals->phase = static_cast<std::uint64_t>(Phase::done);
}

void Machine::forget() {
    totals->children++;
    totals = new RunTotals(*totals);
    phase_ = Phase::done;
}

} // namespace capture
