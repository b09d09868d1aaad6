// SPDX-License-Identifier: GPL-2.0
#include "numbers.hpp"

#include <algorithm>

namespace {

std::vector<std::string_view> words_of(std::string_view line) {
    constexpr std::string_view blanks = " \t\r,";
    std::vector<std::string_view> words;

    line = line.substr(0, line.find('#'));
    for (size_t at = 0; (at = line.find_first_not_of(blanks, at)) != line.npos;) {
        size_t end = std::min(line.find_first_of(blanks, at), line.size());

        words.push_back(line.substr(at, end - at));
        at = end;
    }
    return words;
}

} // namespace

std::vector<std::vector<uint64_t>> read_numbers(const std::string& path,
                                                std::span<const char* const> columns) {
    std::string content = read_file(path);
    std::vector<std::vector<uint64_t>> rows;
    std::string_view rest = content;

    if (content.find('\0') != content.npos)
        bad_input(path, ": file: content is binary; allowed: lines of numbers");
    for (size_t number = 1; !rest.empty(); number++) {
        size_t size = std::min(rest.find('\n'), rest.size());
        std::vector<std::string_view> words = words_of(rest.substr(0, size));
        std::string place = text(path.substr(0, 300), ": line ", number, ": ");
        std::vector<uint64_t> row;

        rest.remove_prefix(std::min(size + 1, rest.size()));
        for (std::string_view word : words) {
            if (row.size() == columns.size())
                bad_input(place, "word ", row.size() + 1, " is \"", word.substr(0, 40),
                          "\"; allowed: ", columns.size(), " on a line");
            row.push_back(parse_number(place + columns[row.size()], word, 0, UINT64_MAX));
        }
        if (row.empty())
            continue;
        if (row.size() < columns.size())
            bad_input(place, columns[row.size()], " is missing; allowed: ", columns.size(),
                      " numbers on a line");
        rows.push_back(std::move(row));
    }
    return rows;
}
