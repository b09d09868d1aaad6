// SPDX-License-Identifier: GPL-2.0
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <ctime>
#include <sys/ioctl.h>
#include <unistd.h>

#include "interrupt.hpp"
#include "json.hpp"
#include "sample.hpp"
#include "target.hpp"

namespace {

constexpr int BAR_WIDTH = 24;
/* Screen lines that are not rows, including the cursor's. */
constexpr unsigned int OTHER_LINES = 4;

double now() {
    timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

/* Waits until that time, or until Ctrl-C. */
void wait_until(double end) {
    for (double left; !interrupted && (left = end - now()) > 0;) {
        timespec time = {static_cast<time_t>(left), 0};

        time.tv_nsec = static_cast<long>((left - static_cast<double>(time.tv_sec)) * 1e9);
        nanosleep(&time, nullptr);
    }
}

/* --- Showing ---------------------------------------------------------------------------------- */

void show_json(const Telemetry& t, const Sample& sample, double seconds, uint32_t top) {
    Json rows = Json::array();

    for (const Row& row : std::span(sample.rows).first(std::min<size_t>(sample.rows.size(), top))) {
        Json object = {{sample.is_turn ? "key" : "region", row.region}};

        if (sample.by_counter)
            object["offset"] = row.offset;
        object["count"] = row.count;
        object["share"] = static_cast<double>(row.count) / static_cast<double>(sample.total);
        object["keys"] = row.keys;
        object["addresses"] = addresses_json(row.addresses);
        rows.push_back(object);
    }
    print_json({{"name", t.name},
                {"seconds", seconds},
                {"of", sample.is_turn    ? "turns"
                       : sample.is_count ? "interval"
                                         : "values"},
                {"total", sample.total},
                {"rows", rows}});
}

/* Ends a line; on a terminal this also erases the rest of the old line. */
const char* end_of_line(bool redraw) {
    return redraw ? "\033[K\n" : "\n";
}

void show_row(const Sample& sample, const Row& row, bool redraw) {
    /*
     * A sum of other values than counts can overflow the total's 64 bits, so compute the share in
     * floating point.
     */
    double count = static_cast<double>(row.count), total = static_cast<double>(sample.total);
    double largest = static_cast<double>(sample.rows[0].count);
    std::string bar(static_cast<size_t>(std::min(count / largest, 1.0) * BAR_WIDTH + 0.5), '#');

    if (sample.is_turn)
        std::printf("%#12" PRIx64, row.region);
    else
        std::printf("%12" PRIu64, row.region);
    if (sample.by_counter)
        std::printf(" %6u", row.offset);
    std::printf(" %14" PRIu64 " %6.2f%%  %-*s  %s%s", row.count,
                sample.total ? 100 * count / total : 0, BAR_WIDTH, bar.c_str(),
                addresses_text(row.addresses, row.keys).c_str(), end_of_line(redraw));
}

void show(const Session& session, const Telemetry& t, const Sample& sample, double seconds,
          size_t top, bool redraw) {
    const char* what = sample.is_turn    ? "in the keys' last turns"
                       : sample.is_count ? "counted"
                                         : "is the sum of the values";
    winsize screen;

    if (redraw) {
        std::fputs("\033[H", stdout);
        if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &screen) && screen.ws_row > OTHER_LINES)
            top = std::min<size_t>(top, screen.ws_row - OTHER_LINES);
    }
    std::printf("%s on %s: %" PRIu64 " %s", t.name.c_str(), session.path.c_str(), sample.total,
                what);
    if (sample.is_count)
        std::printf(" in %.1f s", seconds);
    std::printf(", %zu %s%s%s", sample.rows.size(), sample.by_counter ? "counters" : "regions",
                redraw ? "; Ctrl-C ends" : "", end_of_line(redraw));
    std::printf("%12s%s %14s %7s  %-*s  ADDRESSES%s", sample.is_turn ? "KEY" : "REGION",
                sample.by_counter ? " OFFSET" : "", "COUNT", "SHARE", BAR_WIDTH, "",
                end_of_line(redraw));
    for (const Row& row : std::span(sample.rows).first(std::min(sample.rows.size(), top)))
        show_row(sample, row, redraw);
    std::fputs(redraw ? "\033[J" : "\n", stdout);
}

/* --- Watching --------------------------------------------------------------------------------- */

/* Shows each interval until Ctrl-C, until the telemetry ends, or once. */
void watch(const Options& o, const std::string& device, bool redraw) {
    std::vector<uint64_t> last;
    double next = now(), before = 0;
    uint32_t id = 0;

    while (!interrupted) {
        Session session;
        const Telemetry* t = nullptr;

        /* Read again each time, because names and maps may have changed. */
        if (Link::open(device, false, false, session))
            t = session.find(o.words[0]);
        if (!t) {
            note('"', o.words[0], "\" was removed");
            return;
        }

        bool first = before == 0 || t->id != id;
        double time = now();

        if (first)
            last.clear();

        Sample sample = take_sample(session, *t, o.counters, last);

        /* The first sample only sets the start values. */
        if (!first && o.json)
            show_json(*t, sample, time - before, o.top);
        else if (!first)
            show(session, *t, sample, time - before, o.top, redraw);
        if (std::fflush(stdout) || (!first && o.once))
            return;
        id = t->id;
        before = time;
        next = std::max(next, now() - o.interval) + o.interval;
        session = {};
        wait_until(next);
    }
}

int run(const Options& o) {
    bool redraw = isatty(STDOUT_FILENO) && !o.json && !o.once;
    std::string device = open_telemetry(o, o.words[0], false).session.path;

    catch_interrupts();
    if (redraw)
        std::fputs("\033[?25l\033[2J", stdout); /* no cursor, an empty screen */
    watch(o, device, redraw);
    if (redraw)
        std::fputs("\033[?25h", stdout);
    return 0;
}

} // namespace

const Command command_watch = {
    .name = "watch",
    .summary = "show the hottest regions continuously",
    .help = R"(usage: anemonectl watch NAME [--interval S] [--top N] [--counters] [--once] [--json]

Shows what each region counted in each interval, hottest first: the count, its share
of the total, and the addresses. It reads snapshots, which other readers do not
notice. On a terminal it redraws the table in place, elsewhere it prints one table
after another. Ctrl-C ends it. If the rule's op does not add, it shows the values
instead.

  -i, --interval S  length of an interval in seconds (1)
  -n, --top N       largest number of rows (20)
      --counters    show a row for each counter instead of each region
      --once        show one interval
  -d, --device D    needed if several devices have a telemetry with this name
  -j, --json        print JSON: an object on a line for each interval
)",
    .options =
        OPTION_INTERVAL | OPTION_TOP | OPTION_COUNTERS | OPTION_ONCE | OPTION_DEVICE | OPTION_JSON,
    .min_words = 1,
    .max_words = 1,
    .run = run,
};
