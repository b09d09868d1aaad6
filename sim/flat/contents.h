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

// Checks that every line of each set of the trace is in exactly one slot, that which its set's
// sideband says, with what was last written to it; and that no other set was written to. Returns
// the sets whose near line has not tag 0, ascending. Throws std::runtime_error.
SetTags checkContents(const Job& job, const Trace& trace, const Host& host, const Memory& near,
                      const Memory& far);

} // namespace anemone
