// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <getopt.h>

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace anemone {

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

[[noreturn]] void misused(const std::string& what) {
    std::fprintf(stderr, "vfio: %s; see --help\n", what.c_str());
    std::exit(2);
}

uint64_t range(const char* option, const char* text) {
    char* end = nullptr;
    errno = 0;
    const uint64_t value = std::strtoull(text, &end, 0);
    if (!std::isdigit(static_cast<unsigned char>(*text)) || *end || errno || value % kRangeUnit)
        misused(std::string(option) + " is \"" + text + "\", not a multiple of 256 MiB");
    return value;
}

} // namespace

Options parseOptions(int argc, char** argv, uint64_t deviceBytes) {
    enum { kSocket = 1, kControl, kHostBase, kHostSize, kRing, kHelp };
    const option known[] = {
        {"socket", required_argument, nullptr, kSocket},
        {"control", required_argument, nullptr, kControl},
        {"host-base", required_argument, nullptr, kHostBase},
        {"host-size", required_argument, nullptr, kHostSize},
        {"ring", required_argument, nullptr, kRing},
        {"help", no_argument, nullptr, kHelp},
        {nullptr, 0, nullptr, 0},
    };
    Options options;
    options.hostSize = deviceBytes;
    // The colon: what is wrong is said here, and not by getopt_long.
    for (int code; (code = getopt_long(argc, argv, ":", known, nullptr)) != -1;) {
        switch (code) {
        case kSocket:
            options.socket = optarg;
            break;
        case kControl:
            options.control = optarg;
            break;
        case kHostBase:
            options.hostBase = range("--host-base", optarg);
            break;
        case kHostSize:
            options.hostSize = range("--host-size", optarg);
            break;
        case kRing:
            options.ring = optarg;
            break;
        case kHelp:
            std::fputs(kUsage, stdout);
            std::exit(0);
        case ':':
            misused(std::string(argv[optind - 1]) + " has no value");
        default: // of a letter getopt_long tells the letter alone
            misused("no option " + (std::isprint(optopt)
                                        ? std::string("-") + static_cast<char>(optopt)
                                        : std::string(argv[optind - 1])));
        }
    }
    if (optind < argc)
        misused(std::string("no option ") + argv[optind]);
    if (options.socket.empty() || options.control.empty())
        misused("--socket and --control are needed");
    return options;
}

} // namespace anemone
