// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace anemone {

// Replays the trace in `trace` through the rules of `job` and writes into the folder `out`:
//   reads.N, states.N  what periodic reads returned and the final states, by rule (readout.h)
//   lines              answers to reads that are rows of the trace
// Prints `progress DONE TOTAL` (slots) now and then, and at the end one line `result JSON`.
// Throws std::runtime_error when a check fails.
void replay(const std::string& job, const std::string& trace, const std::string& out);

// Prints `result JSON` with latencies in cycles, observed on an engine that is otherwise idle.
void latency();

} // namespace anemone
