// SPDX-License-Identifier: Apache-2.0
// Near or far memory: an AXI slave with a latency, a bandwidth and contents.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>

#include "axi.h"
#include "job.h"

namespace anemone {

struct Line {
    std::array<uint64_t, kLineWords> words{};
    uint64_t sideband = 0;

    static Line of(uint64_t word) {
        Line line;
        line.words.fill(word);
        return line;
    }
    bool holds(uint64_t word) const { return words == of(word).words; }
};

// A read returns the line as it was when the read was accepted, and a write takes effect when it is
// answered. AXI leaves the order of concurrent accesses open, so with jitter a read may also take
// its data when it is answered, and a write may take effect when it is accepted.
class Memory {
public:
    using Lines = std::unordered_map<uint64_t, Line>;
    // first: the initial contents of a line.
    Memory(std::string name, AxiPins& pins, const Timing& timing, const Job& job,
           std::function<Line(uint64_t)> first);

    void offer(uint64_t cycle); // before settle
    // After settle. sideband: of the write data. Throws std::runtime_error if an access is not
    // exactly one line.
    void take(uint64_t cycle, uint64_t sideband);

    // The sideband of the read data, after offer().
    uint64_t sideband() const { return answer_ ? answer_->line.sideband : 0; }
    bool idle() const;
    uint64_t reads() const { return reads_; }
    uint64_t writes() const { return writes_; }

    Line at(uint64_t line) const;
    const Lines& written() const { return lines_; }
    // Clears all writes and counts. first: the new initial contents.
    void forget(std::function<Line(uint64_t)> first);

private:
    struct Read {
        uint64_t due, line;
        SData id;
        bool late;
        Line content;
    };
    struct Answer {
        SData id;
        Line line;
    };
    struct Write {
        uint64_t due, line;
        SData id;
        bool early;
        Line content;
        uint64_t strobe;
    };
    struct Beat {
        Line content;
        uint64_t strobe;
    };
    struct Address {
        uint64_t line;
        SData id;
    };
    uint64_t due(uint64_t cycle, uint64_t latency);
    uint64_t chance(uint64_t below);
    bool ready(uint64_t cycle) const;
    Address address(const AddressPins& pins) const;
    void perform(const Write& write);
    [[noreturn]] void fail(const std::string& what) const;

    const std::string name_;
    AxiPins& pins_;
    const Timing timing_;
    const uint64_t jitter_;
    std::function<Line(uint64_t)> first_;
    std::minstd_rand random_;
    Lines lines_;
    uint64_t next_ = 0; // the cycle in which the next access can begin
    std::deque<Read> asked_;
    std::optional<Answer> answer_; // the offered read response
    std::deque<Address> addressed_;
    std::deque<Beat> beats_;
    std::deque<Write> writing_;
    std::optional<SData> written_; // id of the offered write response
    uint64_t reads_ = 0, writes_ = 0;
};

} // namespace anemone
