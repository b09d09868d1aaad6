// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>

#include "options.h"
#include "server.h"

int main(int argc, char** argv) {
    const anemone::Options options = anemone::parseOptions(argc, argv, anemone::kDeviceBytes);
    try {
        anemone::Function function(options.memory, options.telemetryInMemory);
        anemone::Server(function, options.socket, options.control, options.ring).run();
    } catch (const std::exception& e) {
        std::fprintf(stderr, "vfio: %s\n", e.what());
        return 1;
    }
}
