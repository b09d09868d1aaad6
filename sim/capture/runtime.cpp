// SPDX-License-Identifier: Apache-2.0
// Start, end and phases of a captured program.
//
// ANEMONE_CAPTURE        settings, "name=value ..." (config.hpp)
// ANEMONE_CAPTURE_OUT    file of the events, 16 bytes each (filter.hpp)
// ANEMONE_CAPTURE_TOTALS file of the totals, JSON, written at the end
#include "runtime.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "anemone_capture.h"
#include "filter.hpp"

extern "C" int anemone_program_main(int argc, char** argv, char** environment);
extern "C" char __executable_start, _end;

namespace capture {

bool program_runs = false;

namespace {

Filter* filter = nullptr;
void* program_thread = nullptr; // thread pointer of the one captured thread
std::uint64_t untracked = 0;    // accesses outside heap, stack and executable
int out = -1;
int argument_count;
char** arguments;
char** environment;

void write_events(void*, const Event* events, std::size_t n) {
    const char* from = reinterpret_cast<const char*>(events);
    for (std::size_t left = n * sizeof *events; left > 0;) {
        const ssize_t wrote = write(out, from, left);
        if (wrote <= 0)
            fail("cannot write the events");
        from += wrote;
        left -= static_cast<std::size_t>(wrote);
    }
}

// While one exists, allocations come from the runtime's heap and the hooks record nothing.
class Inside {
public:
    Inside() { program_runs = false; }
    ~Inside() { program_runs = true; }
};

bool own_thread() {
    return program_thread != nullptr && __builtin_thread_pointer() == program_thread;
}

bool tracked(std::uint64_t address) {
    const auto image = reinterpret_cast<std::uint64_t>(&__executable_start);
    const Region executable{image, reinterpret_cast<std::uint64_t>(&_end) - image};
    return kProgramHeap.holds(address) || kProgramStack.holds(address) || executable.holds(address);
}

const char* setting(const char* name) {
    const char* value = getenv(name);
    if (value == nullptr) {
        fail("this program is run by `anemone capture`, which sets ANEMONE_CAPTURE and its kin");
    }
    return value;
}

void finish() {
    program_thread = nullptr;
    program_runs = false;
    filter->enter(Phase::done);
    if (close(out) != 0)
        fail("cannot write the events");
    FILE* totals = fopen(setting("ANEMONE_CAPTURE_TOTALS"), "w");
    if (totals == nullptr)
        fail("cannot write the totals");
    std::string text = filter->json();
    text.insert(text.size() - 1, ", \"untracked\": " + std::to_string(untracked));
    fprintf(totals, "%s\n", text.c_str());
    if (fclose(totals) != 0)
        fail("cannot write the totals");
}

void* run_program(void*) {
    program_thread = __builtin_thread_pointer();
    program_runs = true;
    // The arguments are copied to the program's heap, so that its reads of them are tracked. The
    // folder of its name is cut off, so that the trace does not depend on the checkout's path.
    std::vector<char*> program_arguments;
    for (int i = 0; i < argument_count; i++) {
        const char* slash = i == 0 ? strrchr(arguments[i], '/') : nullptr;
        program_arguments.push_back(strdup(slash ? slash + 1 : arguments[i]));
    }
    program_arguments.push_back(nullptr);
    exit(anemone_program_main(argument_count, program_arguments.data(), environment));
}

} // namespace

void fail(const char* what) {
    // No stdio: it may not be initialised yet.
    const char* parts[] = {"anemone capture: ", what, "\n"};
    for (const char* part : parts) {
        if (write(2, part, strlen(part)) < 0)
            break;
    }
    _exit(3);
}

void reserve(const Region& region) {
    void* at = reinterpret_cast<void*>(region.base);
    void* got = mmap(at, region.bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got != at)
        fail("cannot reserve the program's address space (ulimit -v, overcommit?)");
}

void record_access(std::uintptr_t pc, const volatile void* address, std::size_t bytes, bool write) {
    if (!own_thread())
        return;
    const auto at = reinterpret_cast<std::uint64_t>(address);
    if (!tracked(at)) {
        untracked++;
        return;
    }
    const Inside inside;
    try {
        filter->access(pc, at, bytes, write);
    } catch (const std::exception& e) {
        fail(e.what());
    }
}

void saw_call() {
    if (own_thread())
        filter->call();
}

} // namespace capture

using namespace capture;

extern "C" {

void anemone_capture_warm() {
    filter->enter(Phase::warm);
}
void anemone_capture_record() {
    filter->enter(Phase::record);
}
double anemone_capture_progress() {
    return filter->progress();
}
uint64_t anemone_capture_now_ns() {
    return filter->now_ns();
}
void anemone_capture_idle_ns(uint64_t ns) {
    filter->idle(ns);
}

void anemone_capture_stream(const void* address, uint64_t bytes) {
    if (!own_thread())
        return;
    const Inside inside;
    try {
        filter->stream(reinterpret_cast<std::uint64_t>(address), bytes);
    } catch (const std::exception& e) {
        fail(e.what());
    }
}

void anemone_capture_fence() {
    const Inside inside;
    filter->fence();
}

// The program's own main is renamed (redirect.syms), so that this one runs first.
int main(int argc, char** argv, char** envp) {
    argument_count = argc;
    arguments = argv;
    environment = envp;
    out = open(setting("ANEMONE_CAPTURE_OUT"), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (out < 0)
        fail("cannot open the file for the events");
    try {
        filter = new Filter(Config::parse(setting("ANEMONE_CAPTURE")), write_events, nullptr);
    } catch (const std::exception& e) {
        fail(e.what());
    }
    atexit(finish);

    reserve(kProgramStack);
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstack(&attributes, reinterpret_cast<void*>(kProgramStack.base),
                              kProgramStack.bytes) != 0 ||
        pthread_create(&thread, &attributes, run_program, nullptr) != 0) {
        fail("cannot start the program's thread");
    }
    pthread_join(thread, nullptr);
    return 1; // not reached: the program's thread ends the process
}
}
