/* SPDX-License-Identifier: GPL-2.0 */
/* JSON on stdout: a value on a line, with ", " and ": " between its parts. */
#ifndef ANEMONECTL_JSON_HPP
#define ANEMONECTL_JSON_HPP

#include <string>

#include <nlohmann/json.hpp>

/* Keeps the order of an object's members. */
using Json = nlohmann::ordered_json;

void print_json(const Json& value);

/*
 * A list that is printed while it grows, so that a long one needs no memory: a list by itself, or
 * the last member of an object.
 */
class JsonList {
public:
    JsonList();
    JsonList(const Json& object, const std::string& member);
    JsonList(const JsonList&) = delete;
    /* Prints the next element, or only what separates it from the one before. */
    void add(const Json& element);
    void next();
    /* Prints the brackets that close it. */
    void close();
    /* Behind the list that is no part of another. */
    void close_line();

private:
    std::string closing_;
    bool first_ = true;
};

#endif
