/* SPDX-License-Identifier: GPL-2.0 */
/* Fields of a rule taken out of its TOML table, and errors that name file, rule, line and field. */
#ifndef ANEMONECTL_RULE_FIELDS_HPP
#define ANEMONECTL_RULE_FIELDS_HPP

#include <initializer_list>

#include "names.hpp"
#include "toml_file.hpp"

/* A table of a rule file that is being read. */
class Scope {
public:
    Scope(const TomlFile& source, const Limits& limits)
        : source(source), limits(limits), table_(&source.root()) {}
    /* A rule's; `number` counts from 1. */
    Scope rule(unsigned int number, const toml::node& node) const;
    /* A table in this one; without members when there is none. */
    Scope inner(const char* key) const;
    /* There is such a table. */
    explicit operator bool() const { return table_; }

    /* "FILE: rule 2 "skew" (line 17): primary.shift is 99; allowed: ..."; `value`: the field's. */
    [[noreturn]] void wrong(std::string_view key, const toml::node* value,
                            const std::string& allowed) const;
    [[noreturn]] void wrong(std::string_view key, const std::string& allowed) const {
        wrong(key, field(key), allowed);
    }
    /* The same with a value in words. */
    [[noreturn]] void wrong_words(std::string_view key, const std::string& value,
                                  const std::string& allowed) const;

    /* Refuses other keys, and a table without all of `required`. */
    void only_keys(std::initializer_list<const char*> required,
                   std::initializer_list<const char*> optional = {}) const;
    /* Null: it is not there. */
    const toml::node* field(std::string_view key) const;
    bool is(std::string_view key, std::string_view value) const;

    /* A whole number of any sign and size; a string of hex is one, too. */
    bool is_whole(const toml::node& value) const;
    /* Its value, unless it is something else, negative or past 64 bits. */
    std::optional<uint64_t> whole_number(const toml::node& value) const;
    /* A field of at most `most`; `also`: what else it may be. */
    uint64_t number(std::string_view key, uint64_t most, const std::string& also = "") const;
    /* The code of a name out of those that are built in. */
    unsigned int choice(std::string_view key, Names names) const;
    /* Names that are built in, as "a, b<last>c". */
    std::string built_names(Names names, const char* last) const;
    bool is_built(const Name& name) const;

    const TomlFile& source;
    const Limits& limits;

private:
    toml::source_index line_of(std::string_view key) const;

    unsigned int number_ = 0; /* of the rule; 0: this is the top level */
    const toml::node* rule_ = nullptr;
    const toml::table* table_;
    std::string path_; /* of the table in the rule */
};

#endif
