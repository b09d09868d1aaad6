/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A TOML file read by toml++, with two additions for rule files: integers of 64 bits, and values in
 * messages as they are written in the file.
 */
#ifndef ANEMONECTL_TOML_FILE_HPP
#define ANEMONECTL_TOML_FILE_HPP

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <toml++/toml.h>

class TomlFile {
public:
    struct Member {
        const toml::key* key;
        const toml::node* value;
    };
    /* A whole number of any size. */
    struct Integer {
        bool negative;
        std::optional<uint64_t> magnitude; /* empty: past 64 bits */
        std::string written;
    };

    /* `name` is the file's name in messages. Throws if it is not TOML. */
    TomlFile(std::string name, std::string content);

    const std::string& name() const { return name_; }
    const toml::table& root() const { return root_; }
    /* A table's members in the file's order. */
    static std::vector<Member> members(const toml::table& table);
    std::optional<std::string_view> string(const toml::node& node) const;
    std::optional<Integer> integer(const toml::node& node) const;
    /* The value as it was written, approximately, shortened to one line. */
    std::string show(const toml::node& node, int depth = 2) const;

private:
    using Place = std::pair<toml::source_index, toml::source_index>; /* line, column */

    static Place place(const toml::source_position& position) {
        return {position.line, position.column};
    }
    size_t offset(Place at) const;
    Place place(size_t offset) const;
    void find_lines();
    size_t string_end(size_t start);
    void refuse_what_breaks_the_parser();
    std::string written(const toml::node& node) const;
    bool quote_wide_integer(const toml::parse_error& error);
    [[noreturn]] void wrong(Place at, std::string_view what) const;

    std::string name_;
    std::u32string content_;
    std::vector<size_t> lines_;         /* offsets of their first characters */
    std::map<Place, std::string> wide_; /* strings for toml++ that are numbers in the file */
    toml::table root_;
};

#endif
