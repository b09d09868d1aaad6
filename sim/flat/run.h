// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace anemone {

// Runs the trace in `trace` as `job` says and writes into the folder `out`:
//   outcomes  a byte an access, in their order: 0 hit, 1 miss without swap, 2 swap, 3 dedicated
//   sets      u64 set, u64 tag: the sets whose near line has not tag 0 at the end, ascending
// Prints `progress DONE TOTAL` (accesses) now and then, and at the end one line `result JSON`.
// Throws std::runtime_error when a check fails; reads of wrong data are only counted.
void run(const std::string& job, const std::string& trace, const std::string& out);

} // namespace anemone
