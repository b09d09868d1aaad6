// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <getopt.h>

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace anemone {

namespace {

constexpr char kUsage[] =
    "engine --socket PATH --control PATH [--host-base N] [--host-size N] [--memory WORD]\n"
    "       [--ways N] [--granularity N] [--telemetry-in-memory] [--ring PATH]\n"
    "\n"
    "The memory expander as a PCI function for QEMU's vfio-user-pci.\n"
    "\n"
    "  --socket PATH   where QEMU connects\n"
    "  --control PATH  socket for commands (commands.h)\n"
    "  --host-base N   host address of the memory, a multiple of 256 MiB (default 0x4080000000,\n"
    "                  which is no multiple of the size)\n"
    "  --host-size N   size of the memory (default: the device, times --ways)\n"
    "  --memory WORD   how CXL's registers describe it: range (the DVSEC's range 1; default),\n"
    "                  invalid (without Memory_Info_Valid), off (without Mem_Enable), decoder (a\n"
    "                  committed HDM decoder), uncommitted (an uncommitted one)\n"
    "  --ways N        devices that the decoder interleaves: 1 (default), 2, 4, 8, 16\n"
    "  --granularity N interleave granularity in bytes: 256 (default) to 16384\n"
    "  --telemetry-in-memory  the DVSEC says that the telemetry region is in the memory (the BAR\n"
    "                  still has it, too)\n"
    "  --ring PATH     file to create for accesses to memory (ring.h)\n";

constexpr uint64_t kRangeUnit = 1 << 28; // granularity of CXL's ranges

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

uint64_t powerOfTwo(const char* option, const char* text, uint64_t minimum, uint64_t maximum) {
    char* end = nullptr;
    const uint64_t value = std::strtoull(text, &end, 0);
    if (!std::isdigit(static_cast<unsigned char>(*text)) || *end || value < minimum ||
        value > maximum || value & (value - 1))
        misused(std::string(option) + " is \"" + text + "\", not a power of two from " +
                std::to_string(minimum) + " to " + std::to_string(maximum));
    return value;
}

HostMemory::Source parseSource(const std::string& word) {
    using Source = HostMemory::Source;
    const std::pair<const char*, Source> words[] = {{"range", Source::kRange},
                                                    {"invalid", Source::kInvalid},
                                                    {"off", Source::kOff},
                                                    {"decoder", Source::kDecoder},
                                                    {"uncommitted", Source::kUncommitted}};
    for (const auto& [name, value] : words)
        if (word == name)
            return value;
    misused("--memory is \"" + word + "\"; range, invalid, off, decoder or uncommitted");
}

} // namespace

Options parseOptions(int argc, char** argv, uint64_t deviceBytes) {
    enum {
        kSocket = 1,
        kControl,
        kHostBase,
        kHostSize,
        kMemory,
        kWays,
        kGranularity,
        kTelemetryInMemory,
        kRing,
        kHelp
    };
    const option long_options[] = {
        {"socket", required_argument, nullptr, kSocket},
        {"control", required_argument, nullptr, kControl},
        {"host-base", required_argument, nullptr, kHostBase},
        {"host-size", required_argument, nullptr, kHostSize},
        {"memory", required_argument, nullptr, kMemory},
        {"ways", required_argument, nullptr, kWays},
        {"granularity", required_argument, nullptr, kGranularity},
        {"telemetry-in-memory", no_argument, nullptr, kTelemetryInMemory},
        {"ring", required_argument, nullptr, kRing},
        {"help", no_argument, nullptr, kHelp},
        {nullptr, 0, nullptr, 0},
    };
    Options options;
    // The colon suppresses getopt_long's messages, because we print our own.
    for (int code; (code = getopt_long(argc, argv, ":", long_options, nullptr)) != -1;) {
        switch (code) {
        case kSocket:
            options.socket = optarg;
            break;
        case kControl:
            options.control = optarg;
            break;
        case kHostBase:
            options.memory.base = range("--host-base", optarg);
            break;
        case kHostSize:
            options.memory.bytes = range("--host-size", optarg);
            break;
        case kMemory:
            options.memory.source = parseSource(optarg);
            break;
        case kWays:
            options.memory.ways = unsigned(powerOfTwo("--ways", optarg, 1, 16));
            break;
        case kGranularity:
            options.memory.granularity = unsigned(powerOfTwo("--granularity", optarg, 256, 16384));
            break;
        case kTelemetryInMemory:
            options.telemetryInMemory = true;
            break;
        case kRing:
            options.ring = optarg;
            break;
        case kHelp:
            std::fputs(kUsage, stdout);
            std::exit(0);
        case ':':
            misused(std::string(argv[optind - 1]) + " has no value");
        default: // for a short option, getopt_long reports only the letter
            misused("no option " + (std::isprint(optopt)
                                        ? std::string("-") + static_cast<char>(optopt)
                                        : std::string(argv[optind - 1])));
        }
    }
    if (optind < argc)
        misused(std::string("no option ") + argv[optind]);
    if (options.socket.empty() || options.control.empty())
        misused("--socket and --control are needed");
    if (!options.memory.bytes)
        options.memory.bytes = deviceBytes * options.memory.ways;
    return options;
}

} // namespace anemone
