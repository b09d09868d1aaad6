// SPDX-License-Identifier: GPL-2.0
#include "common.hpp"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <iostream>
#include <unistd.h>
#include <vector>

namespace {

/* Refuses files that are surely no rule or key files. */
constexpr size_t LARGEST_FILE = 64u << 20;

} // namespace

std::ostream& operator<<(std::ostream& out, Hex number) {
    char digits[16];
    char* end = std::to_chars(digits, digits + sizeof(digits), number.value, 16).ptr;

    return out << "0x" << std::string_view(digits, end);
}

void print_note(std::string_view message) {
    std::fflush(stdout);
    std::cerr << text("anemonectl: ", message, '\n') << std::flush;
}

std::string error_text() {
    return error_text(errno);
}

std::string error_text(int error) {
    return std::strerror(error);
}

void Descriptor::close() {
    int error = errno;

    if (fd_ >= 0)
        ::close(std::exchange(fd_, -1));
    errno = error;
}

std::string read_file(const std::string& path) {
    Descriptor opened;
    int fd = STDIN_FILENO;
    std::vector<char> piece(1 << 16);
    std::string content;

    if (path != "-") {
        opened = Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC));
        fd = opened.get();
    }
    for (;;) {
        ssize_t got = fd < 0 ? -1 : read(fd, piece.data(), piece.size());

        if (got == 0)
            return content;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            bad_input(path, ": file: content is ", error_text(),
                      "; allowed: a file that can be read");
        content.append(piece.data(), static_cast<size_t>(got));
        if (content.size() > LARGEST_FILE)
            bad_input(path, ": file: size is over ", LARGEST_FILE >> 20, " MiB; allowed: less");
    }
}

uint64_t parse_number(std::string_view what, std::string_view digits, uint64_t minimum,
                      uint64_t maximum) {
    bool hex = digits.starts_with("0x") || digits.starts_with("0X");
    const char* end = digits.data() + digits.size();
    uint64_t value = 0;
    auto [at, error] = std::from_chars(digits.data() + (hex ? 2 : 0), end, value, hex ? 16 : 10);

    if (error != std::errc() || at != end || value < minimum || value > maximum)
        bad_input(what, " is \"", digits, "\"; allowed: a whole number of ", minimum, " to ",
                  maximum, ", decimal or 0x");
    return value;
}
