// SPDX-License-Identifier: Apache-2.0
#include "interrupts.h"

#include <unistd.h>

namespace anemone {

void Interrupts::arm(unsigned vector, Descriptor eventfd) {
    Vector& v = vectors_.at(vector);
    v.eventfd = std::move(eventfd);
    if (v.eventfd && v.pending) {
        v.pending = false;
        raise(vector);
    }
}

void Interrupts::disarm() {
    for (Vector& v : vectors_)
        v.eventfd.reset();
}

void Interrupts::raise(unsigned vector) {
    Vector& v = vectors_.at(vector);
    const uint64_t one = 1;
    if (v.eventfd && write(v.eventfd.get(), &one, sizeof one) == sizeof one)
        ++delivered_;
    else
        v.pending = true;
}

void Interrupts::reset() {
    for (Vector& v : vectors_)
        v.pending = false;
}

} // namespace anemone
