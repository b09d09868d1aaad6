// SPDX-License-Identifier: Apache-2.0
#include "job.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace anemone {

namespace {

constexpr uint64_t kMagic = 0x31'42'4F'4A'4D'45'4E'41; // "ANEMJOB1"

[[noreturn]] void fail(const std::string& path, const std::string& what) {
    throw std::runtime_error(path + ": " + what);
}

class Words {
public:
    explicit Words(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "rb")) {
        if (!file_)
            fail(path_, std::strerror(errno));
    }

    uint64_t next() {
        uint64_t word;
        if (std::fread(&word, sizeof word, 1, file_.get()) != 1)
            fail(path_, "ends too early");
        return word;
    }

    void expect(uint64_t value, const char* what) {
        const uint64_t word = next();
        if (word != value)
            fail(path_, std::string(what) + " is " + std::to_string(word) +
                            ", this hardware's is " + std::to_string(value));
    }

private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::string path_;
    std::unique_ptr<std::FILE, Close> file_;
};

} // namespace

std::vector<JobRule> readJob(const std::string& path) {
    Words words(path);
    words.expect(kMagic, "magic");
    words.expect(kPipelines, "pipelines");
    words.expect(kChannels, "channels");
    words.expect(kStates, "states");
    words.expect(kTable, "table");
    words.expect(BUILT_ADDRESS_BITS, "address bits");
    const uint64_t count = words.next();
    if (count > kPipelines)
        fail(path, "more rules than pipelines");
    std::vector<JobRule> rules(count);
    for (JobRule& r : rules) {
        for (uint64_t* field :
             {&r.rule.reads, &r.rule.writes, &r.rule.start, &r.rule.end, &r.rule.primaryMask,
              &r.rule.primaryShift, &r.rule.subMask, &r.rule.subShift, &r.rule.op,
              &r.rule.operandSource, &r.rule.operand, &r.rule.counterWidth, &r.rule.notifyOp,
              &r.rule.notifyOperand, &r.rule.effectKind, &r.rule.effectOp, &r.rule.effectOperand,
              &r.readEvery})
            *field = words.next();
        r.map.resize(words.next());
        for (auto& [key, base] : r.map) {
            key = words.next();
            base = words.next();
            if (key >= kTable || base >= uint64_t(kStates) * 8)
                fail(path, "a table entry out of range");
        }
    }
    return rules;
}

Trace::Trace(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat about;
    if (file < 0 || fstat(file, &about) != 0)
        fail(path, std::strerror(errno));
    size_ = std::size_t(about.st_size) / sizeof(Row);
    if (size_) {
        void* mapped = mmap(nullptr, size_ * sizeof(Row), PROT_READ, MAP_SHARED, file, 0);
        if (mapped == MAP_FAILED)
            fail(path, std::strerror(errno));
        madvise(mapped, size_ * sizeof(Row), MADV_SEQUENTIAL);
        rows_ = static_cast<const Row*>(mapped);
    }
    close(file);
}

Trace::~Trace() {
    if (rows_)
        munmap(const_cast<Row*>(rows_), size_ * sizeof(Row));
}

} // namespace anemone
