/* SPDX-License-Identifier: GPL-2.0 */
/* Reads fields of a rule from its TOML table; errors name file, rule, line and field. */
#ifndef ANEMONECTL_RULE_FIELDS_HPP
#define ANEMONECTL_RULE_FIELDS_HPP

#include <initializer_list>

#include "names.hpp"
#include "toml_file.hpp"

/* A table of a rule file. */
class Scope {
public:
    Scope(const TomlFile& source, const Limits& limits)
        : source(source), limits(limits), table_(&source.root()) {}
    /* The table of a rule; `number` counts from 1. */
    Scope rule(unsigned int number, const toml::node& node) const;
    /* A table in this one; it has no members if it is missing. */
    Scope inner(const char* key) const;
    /* Whether the table exists. */
    explicit operator bool() const { return table_; }

    /* "FILE: rule 2 "skew" (line 17): primary.shift is 99; allowed: ..."; value: the field's. */
    [[noreturn]] void wrong(std::string_view key, const toml::node* value,
                            const std::string& allowed) const;
    [[noreturn]] void wrong(std::string_view key, const std::string& allowed) const {
        wrong(key, field(key), allowed);
    }
    /* The same with the value as text. */
    [[noreturn]] void wrong_words(std::string_view key, const std::string& value,
                                  const std::string& allowed) const;

    /* Refuses other keys, and a table without one of `required`. */
    void only_keys(std::initializer_list<const char*> required,
                   std::initializer_list<const char*> optional = {}) const;
    /* Null if it is missing. */
    const toml::node* field(std::string_view key) const;
    bool is(std::string_view key, std::string_view value) const;

    /* A whole number of any sign and size, or a string of hex. */
    bool is_whole(const toml::node& value) const;
    /* Its value, or empty if it is something else, negative or past 64 bits. */
    std::optional<uint64_t> whole_number(const toml::node& value) const;
    /* A field of at most `maximum`; `also` names other allowed values. */
    uint64_t number(std::string_view key, uint64_t maximum, const std::string& also = "") const;
    /* The code of a name, which must be built in. */
    unsigned int choice(std::string_view key, Names names) const;
    /* The names that are built in, as "a, b<last>c". */
    std::string built_names(Names names, const char* last) const;
    bool is_built(const Name& name) const;

    const TomlFile& source;
    const Limits& limits;

private:
    toml::source_index line_of(std::string_view key) const;

    unsigned int number_ = 0; /* of the rule; 0: top level */
    const toml::node* rule_ = nullptr;
    const toml::table* table_;
    std::string path_; /* of the table within the rule */
};

#endif
