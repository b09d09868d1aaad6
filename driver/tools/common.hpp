/* SPDX-License-Identifier: GPL-2.0 */
/* Errors, descriptors, files and numbers, for all files of anemonectl. */
#ifndef ANEMONECTL_COMMON_HPP
#define ANEMONECTL_COMMON_HPP

#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

/* Exit statuses: the work failed, or the input was wrong. */
constexpr int STATUS_FAILED = 1;
constexpr int STATUS_INPUT = 2;

/* Ends the program: main() prints "anemonectl: ..." and returns the status. */
class Error : public std::runtime_error {
public:
    Error(int status, const std::string& message) : std::runtime_error(message), status(status) {}
    int status;
};

/* Prints as 0x... */
struct Hex {
    uint64_t value;
};
std::ostream& operator<<(std::ostream& out, Hex number);

/* Concatenates its arguments. */
template <class... Parts> std::string text(const Parts&... parts) {
    std::ostringstream out;
    (out << ... << parts);
    return out.str();
}

template <class... Parts> [[noreturn]] void fail(const Parts&... parts) {
    throw Error(STATUS_FAILED, text(parts...));
}

template <class... Parts> [[noreturn]] void bad_input(const Parts&... parts) {
    throw Error(STATUS_INPUT, text(parts...));
}

/* Prints one line on stderr, after flushing stdout. */
void print_note(std::string_view message);
template <class... Parts> void note(const Parts&... parts) {
    print_note(text(parts...));
}

/* The text of errno, or of another error. */
std::string error_text();
std::string error_text(int error);

/* The "s" of a plural. */
inline const char* plural(uint64_t count) {
    return count == 1 ? "" : "s";
}

/* Owns a file descriptor. */
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Descriptor() { close(); }
    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }
    void close(); /* keeps errno */

private:
    int fd_ = -1;
};

/* Reads a file; "-" is stdin. */
std::string read_file(const std::string& path);

/* A whole number, decimal or 0x..., from `minimum` to `maximum`. `what` names it in the error. */
uint64_t parse_number(std::string_view what, std::string_view digits, uint64_t minimum,
                      uint64_t maximum);

#endif
