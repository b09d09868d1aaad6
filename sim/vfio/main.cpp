// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "server.h"

namespace {

constexpr char kUsage[] =
    "engine --socket PATH --control PATH [--host-base N] [--host-size N] [--ring PATH]\n"
    "\n"
    "The memory expander as a PCI function for QEMU's vfio-user-pci.\n"
    "\n"
    "  --socket PATH   where QEMU connects\n"
    "  --control PATH  where commands come (commands.h)\n"
    "  --host-base N   where the host has the memory, as CXL's range 1 says; multiples of 256 MiB\n"
    "                  (default 0x4080000000, which is no multiple of the size)\n"
    "  --host-size N   how much of it (default: all of the device)\n"
    "  --ring PATH     a file to make, in which accesses to memory come (ring.h)\n";

constexpr uint64_t kRangeUnit = 1 << 28; // of CXL's ranges

struct Options {
    std::string socket, control, ring;
    uint64_t hostBase = 0x4080000000, hostSize = anemone::kDeviceBytes;
};

[[noreturn]] void misused(const std::string& what) {
    std::fprintf(stderr, "vfio: %s; see --help\n", what.c_str());
    std::exit(2);
}

uint64_t range(const char* option, const char* text) {
    char* end = nullptr;
    const uint64_t value = std::strtoull(text, &end, 0);
    if (!*text || *end || *text == '-' || value % kRangeUnit)
        misused(std::string(option) + " is " + text + ", not a multiple of 256 MiB");
    return value;
}

Options parse(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; i += 2) {
        const std::string option = argv[i];
        if (option == "--help") {
            std::fputs(kUsage, stdout);
            std::exit(0);
        }
        if (i + 1 == argc)
            misused(option + " is no option, or its value is missing");
        const char* value = argv[i + 1];
        if (option == "--socket")
            options.socket = value;
        else if (option == "--control")
            options.control = value;
        else if (option == "--ring")
            options.ring = value;
        else if (option == "--host-base")
            options.hostBase = range("--host-base", value);
        else if (option == "--host-size")
            options.hostSize = range("--host-size", value);
        else
            misused("no option " + option);
    }
    if (options.socket.empty() || options.control.empty())
        misused("--socket and --control are needed");
    return options;
}

} // namespace

int main(int argc, char** argv) {
    const Options options = parse(argc, argv);
    try {
        anemone::Function function(options.hostBase, options.hostSize);
        anemone::Server(function, options.socket, options.control, options.ring).run();
    } catch (const std::exception& e) {
        std::fprintf(stderr, "vfio: %s\n", e.what());
        return 1;
    }
}
