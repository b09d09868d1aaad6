// SPDX-License-Identifier: GPL-2.0
#include "options.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <getopt.h>
#include <vector>

namespace {

/* Codes of options without a letter, above all letters. */
enum Code {
    UNMAP = 256,
    SNAPSHOT,
    CHANNELS,
    ONCE,
    PERIOD,
    STOP,
    COUNTERS,
    PIPELINES,
    STATES,
    TABLE,
    DEVICE_GIB,
    FLAT,
    HASH,
    ALL_OPS,
    COUNT,
    HOST,
    PID,
    RANGE
};

constexpr struct {
    option known;
    unsigned int bit;
} known_options[] = {
    {{"device", required_argument, nullptr, 'd'}, OPTION_DEVICE},
    {{"file", required_argument, nullptr, 'f'}, OPTION_FILE},
    {{"json", no_argument, nullptr, 'j'}, OPTION_JSON},
    {{"all", no_argument, nullptr, 'a'}, OPTION_ALL},
    {{"unmap", no_argument, nullptr, UNMAP}, OPTION_UNMAP},
    {{"snapshot", no_argument, nullptr, SNAPSHOT}, OPTION_SNAPSHOT},
    {{"channels", no_argument, nullptr, CHANNELS}, OPTION_CHANNELS},
    {{"interval", required_argument, nullptr, 'i'}, OPTION_INTERVAL},
    {{"top", required_argument, nullptr, 'n'}, OPTION_TOP},
    {{"once", no_argument, nullptr, ONCE}, OPTION_ONCE},
    {{"period", required_argument, nullptr, PERIOD}, OPTION_PERIOD},
    {{"stop", no_argument, nullptr, STOP}, OPTION_STOP},
    {{"output", required_argument, nullptr, 'o'}, OPTION_OUTPUT},
    {{"counters", no_argument, nullptr, COUNTERS}, OPTION_COUNTERS},
    {{"pipelines", required_argument, nullptr, PIPELINES}, OPTION_LIMITS},
    {{"states", required_argument, nullptr, STATES}, OPTION_LIMITS},
    {{"table", required_argument, nullptr, TABLE}, OPTION_LIMITS},
    {{"device-gib", required_argument, nullptr, DEVICE_GIB}, OPTION_LIMITS},
    {{"flat", no_argument, nullptr, FLAT}, OPTION_LIMITS},
    {{"hash", no_argument, nullptr, HASH}, OPTION_LIMITS},
    {{"all-ops", no_argument, nullptr, ALL_OPS}, OPTION_LIMITS},
    {{"count", required_argument, nullptr, COUNT}, OPTION_COUNT},
    {{"host-addresses", no_argument, nullptr, HOST}, OPTION_HOST},
    {{"pid", required_argument, nullptr, PID}, OPTION_PID},
    {{"range", required_argument, nullptr, RANGE}, OPTION_PID},
    {{"help", no_argument, nullptr, 'h'}, OPTION_HELP},
};

double seconds(const char* word) {
    char* end;
    double value = std::strtod(word, &end);

    if (!*word || *end || !std::isfinite(value) || value < 0.01 || value > 86400)
        bad_input("--interval is \"", word, "\"; allowed: 0.01 to 86400 seconds");
    return value;
}

uint32_t small_number(const char* what, const char* word, uint32_t minimum, uint32_t maximum) {
    return static_cast<uint32_t>(parse_number(what, word, minimum, maximum));
}

/* START-END, end exclusive. */
void take_range(Options& o, std::string_view word) {
    size_t dash = word.find('-');

    if (dash == word.npos)
        bad_input("--range is \"", word, "\"; allowed: START-END, two addresses of the process");
    o.first = parse_number("--range START", word.substr(0, dash), 0, UINT64_MAX - 1);
    o.last = parse_number("--range END", word.substr(dash + 1), o.first + 1, UINT64_MAX) - 1;
}

/* An option with a value. */
void take(Options& o, int code, const char* word) {
    switch (code) {
    case 'd':
        o.device = word;
        break;
    case 'f':
        o.file = word;
        break;
    case 'o':
        o.output = word;
        break;
    case 'i':
        o.interval = seconds(word);
        break;
    case 'n':
        o.top = small_number("--top", word, 1, 1000000);
        break;
    case PERIOD:
        o.period_ms = small_number("--period", word, 1, 60000);
        break;
    case COUNT:
        o.count = small_number("--count", word, 1, UINT32_MAX);
        break;
    case PID:
        o.pid = small_number("--pid", word, 1, INT32_MAX);
        break;
    case RANGE:
        take_range(o, word);
        break;
    case PIPELINES:
        o.limits.pipelines = small_number("--pipelines", word, 1, 32);
        break;
    case STATES:
        o.limits.states = small_number("--states", word, 16, 1 << 20);
        break;
    case TABLE:
        o.limits.table = small_number("--table", word, 2, 1 << 18);
        break;
    case DEVICE_GIB:
        o.limits.bytes = parse_number("--device-gib", word, 1, 1 << 21) << 30;
        break;
    }
}

bool& flag(Options& o, int code) {
    switch (code) {
    case 'j':
        return o.json;
    case 'a':
        return o.all;
    case UNMAP:
        return o.unmap;
    case SNAPSHOT:
        return o.snapshot;
    case CHANNELS:
        return o.channels;
    case ONCE:
        return o.once;
    case STOP:
        return o.stop;
    case HOST:
        return o.host;
    case COUNTERS:
        return o.counters;
    case HASH:
        return o.limits.hash;
    case ALL_OPS:
        return o.all_ops;
    default:
        return o.limits.flat;
    }
}

} // namespace

std::optional<Options> parse_options(const Command& command, int argc, char** argv) {
    /* Options may follow words, except for a command that runs another. */
    std::string letters = command.max_words == ANY_WORDS ? "+:" : ":";
    std::vector<option> longs;
    Options o;
    int code;

    for (const auto& [known, bit] : known_options) {
        if (!(bit & (command.options | OPTION_HELP)))
            continue;
        longs.push_back(known);
        if (known.val < 256)
            letters += static_cast<char>(known.val);
        if (known.val < 256 && known.has_arg)
            letters += ':';
    }
    longs.push_back({});
    opterr = 0;
    while ((code = getopt_long(argc, argv, letters.c_str(), longs.data(), nullptr)) != -1) {
        if (code == 'h') {
            std::fputs(command.help, stdout);
            return std::nullopt;
        }
        if (code == '?' || code == ':')
            bad_input(command.name, ": ", argv[optind - 1], ' ',
                      code == ':' ? "needs a value" : "is no option of it", "; `anemonectl ",
                      command.name, " --help` lists the options");
        if (optarg)
            take(o, code, optarg);
        else
            flag(o, code) = true;
    }
    if (o.all_ops)
        o.limits.features = UINT64_MAX;
    o.words = {argv + optind, static_cast<size_t>(argc - optind)};
    if (o.words.size() < command.min_words || o.words.size() > command.max_words) {
        std::string_view help = command.help;

        /* The help begins with the usage line. */
        bad_input(command.name, ": ",
                  o.words.size() < command.min_words ? "something is missing" : "too many words",
                  "; ", help.substr(0, help.find('\n')));
    }
    return o;
}
