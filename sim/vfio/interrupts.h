// SPDX-License-Identifier: Apache-2.0
// MSI-X: vectors of the hardware to eventfds that QEMU gave for them.
#pragma once

#include <cstdint>
#include <vector>

#include "sockets.h"

namespace anemone {

class Interrupts {
public:
    explicit Interrupts(unsigned vectors) : vectors_(vectors) {}

    unsigned vectors() const { return unsigned(vectors_.size()); }
    // With no descriptor the vector is masked.
    void arm(unsigned vector, Descriptor eventfd);
    void disarm();
    // Signals the vector, or keeps it pending until it is armed.
    void raise(unsigned vector);
    void reset(); // nothing is pending; what is armed stays

    uint64_t delivered() const { return delivered_; }
    bool pending(unsigned vector) const { return vectors_[vector].pending; }

private:
    struct Vector {
        Descriptor eventfd;
        bool pending = false;
    };
    std::vector<Vector> vectors_;
    uint64_t delivered_ = 0;
};

} // namespace anemone
