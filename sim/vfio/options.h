// SPDX-License-Identifier: Apache-2.0
// The command line of the server.
#pragma once

#include <cstdint>
#include <string>

#include "host_memory.h"

namespace anemone {

struct Options {
    std::string socket, control, ring; // paths; ring is empty if there is none
    HostMemory memory;
    bool telemetryInMemory = false;
};

// Exits on --help, or with status 2 and a line on stderr that names a wrong option and its value.
// deviceBytes is the default of the host size.
Options parseOptions(int argc, char** argv, uint64_t deviceBytes);

} // namespace anemone
