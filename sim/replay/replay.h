// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace anemone {

// Replays the trace through the rules of `job` and writes to the folder `out`:
//   reads.N, states.N  results of periodic reads and the final states, by rule (readout.h)
//   lines              responses to reads that are rows of the trace
// Prints `progress DONE TOTAL` (slots) at intervals, and at the end one line `result JSON`.
// Throws std::runtime_error when a check fails.
void replay(const std::string& job, const std::string& trace, const std::string& out);

// Prints `result JSON` with latencies in cycles, measured on an otherwise idle engine.
void latency();

} // namespace anemone
