// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace anemone {

// Runs the trace with the settings of `job` and writes to the folder `out`:
//   outcomes  a byte per access, in order: 0 hit, 1 miss without swap, 2 swap, 3 dedicated
//   sets      u64 set, u64 tag: the sets whose near line ends with a tag other than 0, ascending
// Prints `progress DONE TOTAL` (accesses) at intervals, and at the end one line `result JSON`.
// Throws std::runtime_error when a check fails. Reads with wrong data are only counted.
void run(const std::string& job, const std::string& trace, const std::string& out);

} // namespace anemone
