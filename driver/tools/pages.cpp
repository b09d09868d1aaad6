// SPDX-License-Identifier: GPL-2.0
/* A 32-bit program needs 64-bit offsets, because pagemap is longer than 2 GiB. */
#define _FILE_OFFSET_BITS 64

#include "pages.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <fstream>
#include <set>
#include <unistd.h>

#include "device.hpp"

namespace {

/* An entry of pagemap: Documentation/admin-guide/mm/pagemap.rst of Linux. */
constexpr uint64_t PRESENT = 1ULL << 63, FRAME = (1ULL << 55) - 1;
constexpr size_t AT_ONCE = 4096;

static_assert(sizeof(off_t) == sizeof(uint64_t));

[[noreturn]] void no_process(uint32_t pid) {
    bad_input("--pid is ", pid, "; allowed: a process that runs and has memory of its own");
}

/* Reports a failed open(). */
[[noreturn]] void refused(uint32_t pid, const std::string& file) {
    int error = errno;

    if (error == ESRCH || access(device_proc(pid).c_str(), F_OK))
        no_process(pid);
    fail(file, ": ", error_text(error),
         ": reading a process's page addresses needs CAP_SYS_ADMIN, permission to trace it, and a "
         "kernel with CONFIG_PROC_PAGE_MONITOR (see anemonectl(8))");
}

/* "START-END ..." in hex; a mapping of the kernel gives an empty span. */
Span parse_mapping(const std::string& line) {
    const char* end = line.data() + line.size();
    uint64_t first = 0, past = 0;
    auto dash = std::from_chars(line.data(), end, first, 16).ptr;

    if (dash != end)
        std::from_chars(dash + 1, end, past, 16);
    return past > first ? Span{first, past - 1} : Span{1, 0};
}

class Collector {
public:
    Collector(uint32_t pid, const anemone_spec& spec, uint32_t limit)
        : pid_(pid), spec_(spec), limit_(limit), path_(device_proc(pid) + "/pagemap"),
          pagemap_(open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
        if (!pagemap_)
            refused(pid, path_);
    }

    /* Whether the process still has the same memory: it neither ended nor called execve(2). */
    bool stands() const {
        uint64_t entry;

        return pread(pagemap_.get(), &entry, sizeof(entry), 0) > 0;
    }

    void add(Span mapping) {
        std::array<uint64_t, AT_ONCE> entries;

        for (uint64_t page = mapping.first / size_; page <= mapping.last / size_;) {
            size_t wanted = std::min<uint64_t>(AT_ONCE, mapping.last / size_ - page + 1);
            ssize_t got = pread(pagemap_.get(), entries.data(), wanted * sizeof(entries[0]),
                                static_cast<off_t>(page * sizeof(entries[0])));

            if (got < 0 && errno != EINTR)
                fail(path_, ": ", error_text());
            if (got == 0)
                return; /* the kernel's page for system calls, not the process's */
            for (size_t i = 0; got > 0 && i < static_cast<size_t>(got) / sizeof(entries[0]); i++)
                add_page(page++ * size_, entries[i]);
        }
    }

    std::vector<ProcessKey> found;

private:
    void add_page(uint64_t address, uint64_t entry) {
        uint64_t start = (entry & FRAME) * size_;
        unsigned int shift = spec_.translation.primary.shift;

        if (!(entry & PRESENT))
            return;
        if (!start)
            fail(path_, ": page numbers are hidden: reading them needs CAP_SYS_ADMIN");
        if (start >= spec_.filter.end || start + size_ <= spec_.filter.start)
            return;
        for (uint64_t key = start >> shift; key <= (start + size_ - 1) >> shift; key++)
            if (reaches(spec_, key) && seen_.insert(key).second)
                add_key({address, key});
    }

    void add_key(ProcessKey key) {
        if (found.size() == limit_)
            fail("process ", pid_, " has more keys in the rule's range than the table's ", limit_,
                 ": name a --range of it, or add a rule of a greater primary.shift");
        found.push_back(key);
    }

    const uint32_t pid_;
    const anemone_spec& spec_;
    const size_t limit_;
    const uint64_t size_ = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    const std::string path_;
    const Descriptor pagemap_;
    std::set<uint64_t> seen_;
};

} // namespace

std::vector<ProcessKey> keys_of_process(uint32_t pid, const anemone_spec& spec, Span within,
                                        uint32_t limit) {
    /*
     * Opened before the mappings, so that a program which execve(2) starts in between has none of
     * these pages.
     */
    Collector collector(pid, spec, limit);
    std::string path = device_proc(pid) + "/maps";
    std::ifstream maps(path);
    bool any = false;

    if (!maps)
        refused(pid, path);
    for (std::string line; std::getline(maps, line);) {
        Span mapping = parse_mapping(line);

        any = true;
        mapping.first = std::max(mapping.first, within.first);
        mapping.last = std::min(mapping.last, within.last);
        if (mapping.first <= mapping.last)
            collector.add(mapping);
    }
    /* A zombie, or a kernel thread. */
    if (!any)
        no_process(pid);
    if (maps.bad() || !collector.stands())
        fail("process ", pid, " ended, or began another program, while its pages were looked up");
    return std::move(collector.found);
}
