// SPDX-License-Identifier: Apache-2.0
// `name=value` arguments of a workload. All values are whole numbers.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace workload {

// Each workload checks its results: a wrong one means that the capture broke the program.
inline void check(bool holds, const char* what) {
    if (holds)
        return;
    std::fprintf(stderr, "wrong answer: %s\n", what);
    std::exit(1);
}

// Ends the program with one line for a value out of range or an unknown name.
class Arguments {
public:
    Arguments(int count, char** values) : values_(values + 1, values + count) {}

    std::uint64_t get(const char* name, std::uint64_t otherwise, std::uint64_t low,
                      std::uint64_t high) {
        const std::size_t n = std::strlen(name);
        std::uint64_t value = otherwise;
        for (std::size_t i = 0; i < values_.size(); i++) {
            if (std::strncmp(values_[i], name, n) != 0 || values_[i][n] != '=')
                continue;
            value = std::strtoull(values_[i] + n + 1, nullptr, 10);
            values_.erase(values_.begin() + static_cast<std::ptrdiff_t>(i--));
        }
        if (value < low || value > high) {
            std::fprintf(stderr, "%s is %llu; allowed: %llu to %llu\n", name,
                         (unsigned long long)value, (unsigned long long)low,
                         (unsigned long long)high);
            std::exit(1);
        }
        return value;
    }

    // Fails if an argument was never asked for.
    void end() const {
        if (values_.empty())
            return;
        std::fprintf(stderr, "no argument of this program: %s\n", values_[0]);
        std::exit(1);
    }

private:
    std::vector<char*> values_;
};

} // namespace workload
