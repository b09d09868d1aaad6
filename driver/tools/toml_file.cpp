// SPDX-License-Identifier: GPL-2.0
#define TOML_IMPLEMENTATION
#include "toml_file.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "common.hpp"
#include "utf8.hpp"

namespace {

/* Longest text, and most elements of a list, that a message shows. */
constexpr size_t LONGEST = 80;
constexpr size_t MAX_ELEMENTS = 4;
/* More than any valid file has. Each wide number makes the parser read the file again. */
constexpr size_t MAX_WIDE = 1000;
/* More than any rule has, and few enough for the parser's recursion. */
constexpr size_t MAX_DOTS = 128;

/* Converts "\r\n" to "\n", as Python does. */
std::string plain_lines(std::string_view content) {
    std::string plain;

    for (size_t i = 0; i < content.size(); i++)
        if (!content.substr(i).starts_with("\r\n"))
            plain += content[i];
    return plain;
}

TomlFile::Integer parse_integer(const std::string& written) {
    std::string_view digits = written;
    TomlFile::Integer integer = {digits.starts_with('-'), 0, written};
    std::string plain;
    int base = 10;
    uint64_t value = 0;

    if (digits.starts_with('-') || digits.starts_with('+'))
        digits.remove_prefix(1);
    if (digits.starts_with("0x") || digits.starts_with("0o") || digits.starts_with("0b")) {
        base = digits[1] == 'x' ? 16 : digits[1] == 'o' ? 8 : 2;
        digits.remove_prefix(2);
    }
    std::copy_if(digits.begin(), digits.end(), std::back_inserter(plain),
                 [](char c) { return c != '_'; });
    if (std::from_chars(plain.data(), plain.data() + plain.size(), value, base).ec == std::errc())
        integer.magnitude = value;
    else
        integer.magnitude.reset();
    return integer;
}

} // namespace

TomlFile::TomlFile(std::string name, std::string content) : name_(std::move(name)) {
    size_t good = 0;

    content_ = decode_utf8(content, &good);
    if (good < content.size())
        bad_input(name_, ": line ", 1 + std::ranges::count(content_, U'\n'), ": text is byte ",
                  Hex{static_cast<unsigned char>(content[good])}, "; allowed: UTF-8 text");
    content_ = decode_utf8(plain_lines(content));
    find_lines();
    refuse_what_breaks_the_parser();
    for (;;) {
        toml::parse_result result = toml::parse(encode_utf8(content_), name_);

        if (result) {
            root_ = std::move(result).table();
            return;
        }
        if (!quote_wide_integer(result.error()))
            wrong(place(result.error().source().begin), result.error().description());
        find_lines();
    }
}

void TomlFile::wrong(Place at, std::string_view what) const {
    bad_input(name_, ": line ", at.first, ", column ", at.second,
              ": TOML is wrong: ", one_line(what, 200), "; allowed: valid TOML");
}

size_t TomlFile::offset(Place at) const {
    return std::min(lines_[std::min<size_t>(at.first, lines_.size()) - 1] + at.second - 1,
                    content_.size());
}

TomlFile::Place TomlFile::place(size_t offset) const {
    auto line = std::prev(std::ranges::upper_bound(lines_, offset));

    return {static_cast<toml::source_index>(line - lines_.begin() + 1),
            static_cast<toml::source_index>(offset - *line + 1)};
}

void TomlFile::find_lines() {
    lines_ = {0};
    for (size_t i = 0; i < content_.size(); i++)
        if (content_[i] == '\n')
            lines_.push_back(i + 1);
}

/*
 * Returns the end of the string at `start`: its last quote, or the end of the file if there is
 * none. It escapes a non-ASCII character that follows a backslash and blanks, because the parser
 * would test that character for a blank.
 */
size_t TomlFile::string_end(size_t start) {
    char32_t quote = content_[start];
    bool lines = content_.compare(start, 3, std::u32string(3, quote)) == 0;
    std::u32string end(lines ? 3 : 1, quote);

    for (size_t at = start + end.size(); at < content_.size(); at++) {
        if (content_[at] == '\\' && quote == '"') {
            size_t next = content_.find_first_not_of(U" \t\n", at + 1);

            if (next == content_.npos)
                break;
            if (lines && next > at + 1 && content_[next] > 0x7e) {
                char escape[12];

                std::snprintf(escape, sizeof(escape), "\\U%08x",
                              static_cast<unsigned int>(content_[next]));
                content_.replace(next, 1, std::u32string(escape, escape + std::strlen(escape)));
            }
            at = lines && next > at + 1 ? next - 1 : at + 1;
        } else if (content_[at] == '\n' && !lines) {
            break; /* the parser reports this */
        } else if (content_.compare(at, end.size(), end) == 0) {
            at += end.size() - 1;
            /* Of five quotes the first two belong to the string. */
            for (int i = 0; i < 2 && lines && content_[at + 1] == quote; i++)
                at++;
            return at;
        }
    }
    return content_.size();
}

/*
 * Refuses files on which toml++ 3 fails: non-ASCII characters outside strings and comments, for
 * which its test for blanks has undefined behaviour, and keys with thousands of dots, on which it
 * recurses. It also refuses a byte order mark, which toml++ would skip.
 */
void TomlFile::refuse_what_breaks_the_parser() {
    size_t dots = 0;

    for (size_t i = 0; i < content_.size(); i++) {
        char32_t c = content_[i];

        if (c == '"' || c == '\'')
            i = string_end(i);
        else if (c == '#')
            i = std::min(content_.find('\n', i), content_.size()) - 1;
        else if (c > 0x7e)
            wrong(place(i), "a character that no key or value has outside of quotes");
        else if (c == '.' && ++dots > MAX_DOTS)
            wrong(place(i), "keys within keys, too deep");
        else if (std::u32string_view(U"=,[]{}\n").find(c) != std::u32string_view::npos)
            dots = 0;
    }
    find_lines();
}

/*
 * toml++ accepts integers of up to 63 bits, but masks have 64. If it stops at a wider integer, this
 * function puts quotes around it. Errors come in file order, so earlier positions stay valid.
 */
bool TomlFile::quote_wide_integer(const toml::parse_error& error) {
    constexpr std::u32string_view blanks = U" \t\n", of_number = U"0123456789abcdefABCDEFxob_+-";
    size_t end = offset(place(error.source().begin)), start;

    if (error.description().find("is not representable in 64 bits") == std::string_view::npos ||
        error.description().find("integer") == std::string_view::npos || wide_.size() == MAX_WIDE)
        return false;
    while (end && blanks.find(content_[end - 1]) != blanks.npos)
        end--;
    for (start = end; start && of_number.find(content_[start - 1]) != of_number.npos;)
        start--;
    if (!wide_.emplace(place(start), encode_utf8({content_.data() + start, end - start})).second)
        return false;
    content_.insert(end, 1, U'"');
    content_.insert(start, 1, U'"');
    return true;
}

std::vector<TomlFile::Member> TomlFile::members(const toml::table& table) {
    std::vector<Member> members;

    for (const auto& [key, value] : table)
        members.push_back({&key, &value});
    std::ranges::stable_sort(
        members, {}, [](const Member& member) { return place(member.key->source().begin); });
    return members;
}

std::optional<std::string_view> TomlFile::string(const toml::node& node) const {
    const auto* value = node.as_string();

    if (!value || wide_.contains(place(node.source().begin)))
        return std::nullopt;
    return value->get();
}

std::optional<TomlFile::Integer> TomlFile::integer(const toml::node& node) const {
    if (auto wide = wide_.find(place(node.source().begin)); wide != wide_.end() && node.is_string())
        return parse_integer(wide->second);
    if (const auto* value = node.as_integer()) {
        auto bits = static_cast<uint64_t>(value->get());

        return Integer{value->get() < 0, value->get() < 0 ? -bits : bits, written(node)};
    }
    return std::nullopt;
}

std::string TomlFile::written(const toml::node& node) const {
    size_t begin = offset(place(node.source().begin)), end = offset(place(node.source().end));
    std::u32string_view token = std::u32string_view(content_).substr(begin, end - begin);

    return encode_utf8(token.substr(0, token.find_last_not_of(U" \t\n") + 1));
}

std::string TomlFile::show(const toml::node& node, int depth) const {
    const toml::table* table = node.as_table();
    std::string shown;
    size_t count = 0;

    if (auto value = string(node))
        return '"' + one_line(*value, LONGEST) + '"';
    if (auto value = integer(node)) {
        const char* sign = value->negative ? "-" : "";

        if (!value->magnitude)
            return one_line(value->written, LONGEST);
        if (*value->magnitude < 1 << 20)
            return text(sign, *value->magnitude);
        return text(sign, Hex{*value->magnitude});
    }
    if (!table && !node.is_array())
        return one_line(written(node), LONGEST);
    if (!depth)
        return table ? "{...}" : "[...]";

    auto add = [&](const toml::node& element, const std::string& before) {
        if (count <= MAX_ELEMENTS)
            shown += count ? ", " : "";
        if (count < MAX_ELEMENTS)
            shown += before + show(element, depth - 1);
        else if (count == MAX_ELEMENTS)
            shown += "...";
        count++;
    };

    if (table)
        for (const Member& member : members(*table))
            add(*member.value, one_line(member.key->str(), LONGEST) + " = ");
    else
        for (const toml::node& element : *node.as_array())
            add(element, "");
    return table ? '{' + shown + '}' : '[' + shown + ']';
}
