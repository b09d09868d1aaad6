// SPDX-License-Identifier: Apache-2.0
#include "records.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace anemone {

Records::Records(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "wb")) {
    if (!file_)
        throw std::runtime_error(path_ + ": " + std::strerror(errno));
}

void Records::put(const void* record, std::size_t bytes) {
    if (std::fwrite(record, bytes, 1, file_.get()) != 1)
        throw std::runtime_error(path_ + ": " + std::strerror(errno));
}

void Records::finish() {
    if (std::fclose(file_.release()) != 0)
        throw std::runtime_error(path_ + ": " + std::strerror(errno));
}

} // namespace anemone
