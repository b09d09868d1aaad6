// SPDX-License-Identifier: Apache-2.0
// The command line of the server.
#pragma once

#include <cstdint>
#include <string>

#include "host_memory.h"

namespace anemone {

struct Options {
    std::string socket, control, ring; // paths; no ring where it is empty
    HostMemory memory;
    bool telemetryInMemory = false;
};

// Ends the process where that is asked for (--help), or where an option is wrong: with exit status
// 2 and a line on stderr that names it and its value. deviceBytes: the host size unless one is
// given.
Options parseOptions(int argc, char** argv, uint64_t deviceBytes);

} // namespace anemone
