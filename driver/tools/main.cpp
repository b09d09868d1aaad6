// SPDX-License-Identifier: GPL-2.0
/* anemonectl: counts memory accesses in an Anemone memory expander. See man/anemonectl.8. */
#include <cstdio>
#include <fcntl.h>
#include <new>
#include <unistd.h>

#include "options.hpp"

namespace {

constexpr const Command* commands[] = {
    &command_list,   &command_add,    &command_run,    &command_map, &command_read,  &command_watch,
    &command_events, &command_status, &command_rotate, &command_rm,  &command_check,
};

void help() {
    std::puts("usage: anemonectl COMMAND ...\n"
              "\n"
              "Counts memory accesses in an Anemone memory expander by the rules of a file\n"
              "(docs/rules.md).\n");
    for (const Command* command : commands)
        std::printf("  %-8s  %s\n", command->name, command->summary);
    std::puts(R"(
`anemonectl COMMAND --help` describes a command; --version prints the version.

A first session:
  anemonectl list                    lists the devices
  anemonectl add -f hotness.toml     counts accesses by 2 MiB page
  anemonectl watch hotness           shows the hottest pages
  anemonectl rm hotness

Exit status: 0 on success; 1 if the work failed; 2 if the input is wrong.)");
}

int run(const Command& command, int argc, char** argv) {
    auto options = parse_options(command, argc, argv);
    int status = options ? command.run(*options) : 0;

    /* A full disk or a closed pipe is a failure. */
    if (std::fflush(stdout) || std::ferror(stdout))
        fail("the output could not be written");
    return status;
}

int run_named(int argc, char** argv) {
    std::string_view name = argc > 1 ? argv[1] : "";
    std::string allowed;

    if (argc < 2 || name == "--help" || name == "-h" || name == "help") {
        help();
        return argc < 2 ? STATUS_INPUT : 0;
    }
    if (name == "--version") {
        std::printf("anemonectl %s (uapi %d)\n", ANEMONECTL_VERSION, ANEMONE_UAPI_VERSION);
        return 0;
    }
    for (const Command* command : commands) {
        if (name == command->name)
            return run(*command, argc - 1, argv + 1);
        allowed += (allowed.empty() ? "" : ", ") + std::string(command->name);
    }
    bad_input("command is \"", name, "\"; allowed: ", allowed);
}

} // namespace

int main(int argc, char** argv) {
    int nothing;

    /* A file that is opened later must not become stdout. */
    while ((nothing = open("/dev/null", O_RDWR)) >= 0 && nothing <= STDERR_FILENO)
        ;
    close(nothing);
    try {
        return run_named(argc, argv);
    } catch (const Error& error) {
        print_note(error.what());
        return error.status;
    } catch (const std::bad_alloc&) {
        print_note("out of memory");
        return STATUS_FAILED;
    }
}
