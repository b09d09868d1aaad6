// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>

namespace anemone {

// A file of fixed-size records. Throws std::runtime_error when it cannot be written.
class Records {
public:
    explicit Records(const std::string& path);
    void put(const void* record, std::size_t bytes);
    void finish();

private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::string path_;
    std::unique_ptr<std::FILE, Close> file_;
};

} // namespace anemone
