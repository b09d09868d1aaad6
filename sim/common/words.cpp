// SPDX-License-Identifier: Apache-2.0
#include "words.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace anemone {

namespace {
[[noreturn]] void failWith(const std::string& path, const std::string& what) {
    throw std::runtime_error(path + ": " + what);
}
} // namespace

Words::Words(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "rb")) {
    if (!file_)
        fail(std::strerror(errno));
}

uint64_t Words::next() {
    uint64_t word;
    if (std::fread(&word, sizeof word, 1, file_.get()) != 1)
        fail("ends too early");
    return word;
}

void Words::expect(uint64_t value, const char* what) {
    const uint64_t word = next();
    if (word != value)
        fail(std::string(what) + " is " + std::to_string(word) + ", this hardware's is " +
             std::to_string(value));
}

void Words::fail(const std::string& what) const {
    failWith(path_, what);
}

MappedWords::MappedWords(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat about;
    if (file < 0 || fstat(file, &about) != 0)
        failWith(path, std::strerror(errno));
    size_ = std::size_t(about.st_size) / sizeof(uint64_t);
    if (size_) {
        void* mapped = mmap(nullptr, size_ * sizeof(uint64_t), PROT_READ, MAP_SHARED, file, 0);
        if (mapped == MAP_FAILED)
            failWith(path, std::strerror(errno));
        madvise(mapped, size_ * sizeof(uint64_t), MADV_SEQUENTIAL);
        words_ = static_cast<const uint64_t*>(mapped);
    }
    close(file);
}

MappedWords::~MappedWords() {
    if (words_)
        munmap(const_cast<uint64_t*>(words_), size_ * sizeof(uint64_t));
}

} // namespace anemone
