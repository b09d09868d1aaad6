// SPDX-License-Identifier: Apache-2.0
// `name=value` arguments of a workload, whole numbers all.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace workload {

class Arguments {
public:
    Arguments(int count, char** values) : count_(count), values_(values) {}

    std::uint64_t get(const char* name, std::uint64_t otherwise) const {
        const std::size_t n = std::strlen(name);
        for (int i = 1; i < count_; i++) {
            if (std::strncmp(values_[i], name, n) == 0 && values_[i][n] == '=') {
                return std::strtoull(values_[i] + n + 1, nullptr, 10);
            }
        }
        return otherwise;
    }

private:
    int count_;
    char** values_;
};

// A workload checks its own answers; a wrong one means that the capture broke the program.
inline void check(bool holds, const char* what) {
    if (holds)
        return;
    std::fprintf(stderr, "wrong answer: %s\n", what);
    std::exit(1);
}

} // namespace workload
