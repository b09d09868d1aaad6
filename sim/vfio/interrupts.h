// SPDX-License-Identifier: Apache-2.0
// MSI-X: signals the eventfds that QEMU has set for the hardware's vectors.
#pragma once

#include <cstdint>
#include <vector>

#include "sockets.h"

namespace anemone {

class Interrupts {
public:
    explicit Interrupts(unsigned vectors) : vectors_(vectors) {}

    unsigned vectors() const { return unsigned(vectors_.size()); }
    // A vector without a descriptor is masked.
    void arm(unsigned vector, Descriptor eventfd);
    void disarm();
    // Signals the vector, or keeps it pending until it is armed.
    void raise(unsigned vector);
    void reset(); // clears pending vectors; eventfds stay

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
