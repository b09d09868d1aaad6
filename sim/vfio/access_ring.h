// SPDX-License-Identifier: Apache-2.0
// The reading end of a ring of accesses (ring.h): the guest's own, as QEMU sees them.
#pragma once

#include <string>

#include "device.h"
#include "ring.h"

namespace anemone {

class AccessRing {
public:
    // Makes the file. Throws std::runtime_error.
    explicit AccessRing(const std::string& path);
    ~AccessRing();
    AccessRing(const AccessRing&) = delete;
    AccessRing& operator=(const AccessRing&) = delete;

    // Gives the device what came, as long as it is not far behind; a full ring holds up the guest.
    void moveInto(Device& device);
    bool empty() const;

private:
    anemone_ring* ring_;
};

} // namespace anemone
