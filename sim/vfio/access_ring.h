// SPDX-License-Identifier: Apache-2.0
// The reader of a ring of accesses (ring.h): the guest's accesses to memory, as QEMU sees them.
#pragma once

#include <string>

#include "device.h"
#include "ring.h"

namespace anemone {

class AccessRing {
public:
    // Creates the file. Throws std::runtime_error.
    explicit AccessRing(const std::string& path);
    ~AccessRing();
    AccessRing(const AccessRing&) = delete;
    AccessRing& operator=(const AccessRing&) = delete;

    // Moves accesses into the device unless it is far behind; a full ring stops the guest.
    void moveInto(Device& device);
    bool empty() const;

private:
    anemone_ring* ring_;
};

} // namespace anemone
