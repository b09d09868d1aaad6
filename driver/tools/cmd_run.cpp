// SPDX-License-Identifier: GPL-2.0
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>

#include "device.hpp"
#include "json.hpp"
#include "show.hpp"
#include "target.hpp"

namespace {

volatile pid_t child;

/* Forwards a signal to the command, so that its counters are still read. */
void pass_on(int signal_number) {
    kill(child, signal_number);
}

/* Runs the command to its end; returns its status as a shell does. */
int run_command(char** words) {
    struct sigaction passed = {};
    int status;

    std::fflush(nullptr);
    child = fork();
    if (child < 0)
        fail("fork: ", error_text());
    if (!child) {
        execvp(words[0], words);

        int error = errno;

        note(words[0], ": ", error_text(error));
        _exit(error == ENOENT ? 127 : 126);
    }
    /* Ignored here, because the terminal sends these to the command, too. */
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    passed.sa_handler = pass_on;
    sigaction(SIGTERM, &passed, nullptr);
    sigaction(SIGHUP, &passed, nullptr);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            fail("wait: ", error_text());
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void show_all(const Session& session, const Options& o) {
    const Reading reading = {false, o.channels, o.all, o.json};
    std::optional<JsonList> list;

    if (o.json)
        list.emplace();
    for (const Telemetry& t : session.telemetries) {
        anemone_status status = telemetry_status(session, t);

        if (list)
            list->next();
        else
            std::printf("\n%s: %llu matched, %llu unmapped, %llu out of range\n", t.name.c_str(),
                        status.matched, status.unmapped, status.out_of_range);
        show_counters(session, t, reading);
    }
    if (list)
        list->close_line();
}

int run(const Options& o) {
    Session session;

    if (o.file.empty())
        bad_input("run: --file is missing; allowed: a rule file (docs/rules.md)");
    session.path = chosen_device(o);

    std::vector<Rule> rules = read_rules(o.file, device_limits(session.path, o.host));

    session.fd = device_open(session.path);

    auto info = device_info(session.fd.get());

    if (!info)
        fail(session.path, ": ", error_text());
    session.info = *info;
    for (const Rule& rule : rules) {
        session.telemetries.push_back(telemetry_add(session, rule));
        telemetry_map_rule(session, rule, session.telemetries.back());
    }

    int status = run_command(o.words.data());

    if (!o.output.empty() && !std::freopen(o.output.c_str(), "w", stdout))
        fail(o.output, ": ", error_text());
    show_all(session, o);
    return status;
}

} // namespace

const Command command_run = {
    .name = "run",
    .summary = "count while a command runs, then print the counters",
    .help = R"(usage: anemonectl run -f RULES.toml [-o FILE] [--json] -- COMMAND [WORD...]

Adds the rules of the file, runs the command, reads the counters when it ends, and
removes the rules. Accesses of other programs to the device's memory are counted,
too. The exit status is that of the command.

  -f, --file F    the rules (docs/rules.md)
  -o, --output F  write the counters to this file
      --channels  show a value for each memory channel instead of the sum
  -a, --all       show counters that are zero, too
      --host-addresses  addresses and keys in the file are host addresses, not
                  device addresses
  -d, --device D  not needed if there is only one
  -j, --json      print JSON: a list with an object for each rule

example:  anemonectl run -f skew.toml -- numactl --membind=1 ./server
)",
    .options = OPTION_FILE | OPTION_HOST | OPTION_OUTPUT | OPTION_CHANNELS | OPTION_ALL |
               OPTION_DEVICE | OPTION_JSON,
    .min_words = 1,
    .max_words = ANY_WORDS,
    .run = run,
};
