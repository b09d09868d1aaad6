// SPDX-License-Identifier: Apache-2.0
// The AXI-Lite master of the control port, one transaction at a time, in parallel with the
// channels.
#pragma once

#include <cstdint>

#include "expander.h"

namespace anemone {

class ControlPort {
public:
    explicit ControlPort(Expander& expander);

    void read(uint32_t offset);
    void write(uint32_t offset, uint64_t data, uint8_t strobe);

    void offer(); // before settle
    void take();  // after settle

    bool busy() const { return address_ || data_ || answer_; }
    // Results of the last transaction.
    bool failed() const { return failed_; }
    uint64_t value() const { return value_; }

private:
    void answered(bool valid, unsigned response);

    ControlPins& pins_;
    bool write_ = false;
    bool address_ = false, data_ = false, answer_ = false; // still to be accepted or answered
    bool failed_ = false;
    uint64_t value_ = 0;
};

} // namespace anemone
