/* SPDX-License-Identifier: GPL-2.0 */
/* The command line: commands and their shared options. */
#ifndef ANEMONECTL_OPTIONS_HPP
#define ANEMONECTL_OPTIONS_HPP

#include <optional>
#include <span>

#include "rules.hpp"

/* The options that a command takes. */
enum OptionBit : unsigned int {
    OPTION_DEVICE = 1u << 0,
    OPTION_FILE = 1u << 1,
    OPTION_JSON = 1u << 2,
    OPTION_ALL = 1u << 3,
    OPTION_UNMAP = 1u << 4,
    OPTION_SNAPSHOT = 1u << 5,
    OPTION_CHANNELS = 1u << 6,
    OPTION_INTERVAL = 1u << 7,
    OPTION_TOP = 1u << 8,
    OPTION_ONCE = 1u << 9,
    OPTION_PERIOD = 1u << 10,
    OPTION_STOP = 1u << 11,
    OPTION_OUTPUT = 1u << 12,
    OPTION_COUNTERS = 1u << 13,
    OPTION_LIMITS = 1u << 14, /* from --pipelines to --all-ops */
    OPTION_COUNT = 1u << 15,
    OPTION_HOST = 1u << 16,
    OPTION_PID = 1u << 17,  /* --pid, --range */
    OPTION_HELP = 1u << 31, /* taken by every command */
};

struct Options {
    /* Empty if not given. */
    std::string device, file, output;
    bool json = false, all = false, unmap = false, snapshot = false, channels = false, once = false,
         stop = false, counters = false, host = false, all_ops = false;
    double interval = 1;                                  /* seconds */
    uint32_t top = 20, period_ms = 0, count = 0, pid = 0; /* count 0: unlimited; pid 0: none */
    uint64_t first = 0, last = UINT64_MAX;                /* addresses of the process: --range */
    Limits limits = default_limits;
    /* Words that are not options; a null pointer follows the last one. */
    std::span<char*> words;
};

struct Command {
    const char* name;
    const char* summary; /* its line in the list of commands */
    const char* help;    /* the whole help, which begins with the usage line */
    unsigned int options;
    size_t min_words, max_words; /* words */
    int (*run)(const Options& options);
};

/* Maximum number of words for a command that runs another. */
constexpr size_t ANY_WORDS = SIZE_MAX;

extern const Command command_list, command_add, command_run, command_map, command_read,
    command_watch, command_status, command_rotate, command_rm, command_check, command_events;

/* Parses the words after a command's name; empty if it printed the help. */
std::optional<Options> parse_options(const Command& command, int argc, char** argv);

#endif
