// SPDX-License-Identifier: Apache-2.0
// Checks the final contents of near and far memory directly, without the controller.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "host.h"
#include "job.h"
#include "memory.h"

namespace anemone {

using SetTags = std::vector<std::pair<uint64_t, uint64_t>>; // set, tag in near

// Checks each set of the trace: every line is in exactly one slot, as the sideband says, and holds
// what was last written to it. Checks that no other set was written. Returns the sets whose near
// line does not have tag 0, ascending. Throws std::runtime_error.
SetTags checkContents(const Job& job, const Trace& trace, const Host& host, const Memory& near,
                      const Memory& far);

} // namespace anemone
