// SPDX-License-Identifier: Apache-2.0
// Files of little-endian 64-bit words, written by anemone.backends.rtl.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

namespace anemone {

// Reads a file word by word. All methods throw std::runtime_error with the file's name.
class Words {
public:
    explicit Words(const std::string& path);

    uint64_t next();
    // Fails unless the next word is `value`. `what` names the parameter in the message.
    void expect(uint64_t value, const char* what);
    [[noreturn]] void fail(const std::string& what) const;

private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::string path_;
    std::unique_ptr<std::FILE, Close> file_;
};

// A mapped file of words, for traces that are larger than memory.
class MappedWords {
public:
    explicit MappedWords(const std::string& path);
    ~MappedWords();
    MappedWords(const MappedWords&) = delete;
    MappedWords& operator=(const MappedWords&) = delete;

    std::size_t size() const { return size_; }
    uint64_t operator[](std::size_t i) const { return words_[i]; }

private:
    const uint64_t* words_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace anemone
