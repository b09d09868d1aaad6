// SPDX-License-Identifier: Apache-2.0
#include "commands.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include <unistd.h>

#include "words.h"

namespace anemone {

namespace {
constexpr char kDone[] = "{}";

uint64_t number(const std::string& word, const char* what) {
    std::size_t end = 0;
    uint64_t value = 0;
    try {
        value = std::stoull(word, &end, 0);
    } catch (const std::logic_error&) {
    }
    if (word.empty() || end != word.size() || word[0] == '-')
        throw std::runtime_error(std::string(what) + " is \"" + word + "\", not a number");
    return value;
}

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            out += '\\';
        out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    return out + "\"";
}

uint64_t inDevice(uint64_t address) {
    if (address >= kDeviceBytes)
        throw std::runtime_error("an address of " + std::to_string(address) + ": the device has " +
                                 std::to_string(kDeviceBytes) + " bytes");
    return address;
}
} // namespace

void Commands::serve(int descriptor) {
    if (descriptor == listener_.get()) {
        if (Descriptor fd = acceptFrom(listener_))
            clients_.push_back({std::move(fd), {}, false});
        return;
    }
    const auto at = std::find_if(clients_.begin(), clients_.end(), [&](const Client& client) {
        return client.fd.get() == descriptor;
    });
    if (at == clients_.end())
        return;
    receive(*at);
    if (!at->fd)
        clients_.erase(at);
}

void Commands::receive(Client& client) {
    char piece[4096];
    const ssize_t n = read(client.fd.get(), piece, sizeof piece);
    if (n <= 0) {
        client.fd.reset();
        return;
    }
    client.received.append(piece, std::size_t(n));
    for (std::size_t end; (end = client.received.find('\n')) != std::string::npos;) {
        const std::string line = client.received.substr(0, end);
        client.received.erase(0, end + 1);
        std::string answer;
        try {
            answer = execute(line, client.waiting);
        } catch (const std::runtime_error& e) {
            answer = "{\"error\": " + quoted(e.what()) + "}";
        }
        if (client.waiting)
            continue;
        answer += '\n';
        writeAll(client.fd.get(), answer.data(), answer.size());
    }
}

void Commands::answerWaiting() {
    if (function_.device().injecting())
        return;
    for (Client& client : clients_) {
        if (client.waiting)
            writeAll(client.fd.get(), "{}\n", 3);
        client.waiting = false;
    }
}

std::string Commands::execute(const std::string& line, bool& waits) {
    std::istringstream words(line);
    std::string command, first, second;
    words >> command >> first >> second;
    if (command == "access") {
        access(number(first, "access: the address"), number(second, "access: write"));
        waits = true;
    } else if (command == "trace") {
        // The rest of the line, because a path may contain blanks.
        trace(line.substr(std::min(line.size(), std::string("trace ").size())));
        waits = true;
    } else if (command == "settle") {
        waits = true;
    } else if (command == "status") {
        return status();
    } else if (command == "fault") {
        return fault(first, second);
    } else if (command == "reset") {
        function_.reset();
    } else {
        throw std::runtime_error("no command \"" + command +
                                 "\"; there are access, trace, settle, status, fault and reset");
    }
    return kDone;
}

std::string Commands::fault(const std::string& kind, const std::string& number) {
    if (kind == "none") {
        function_.setFault(Fault::kNone);
    } else if (kind == "ones") {
        function_.setFault(Fault::kOnes);
    } else if (kind == "never-done") {
        function_.setFault(Fault::kNeverDone);
    } else if (kind == "spurious") {
        const uint64_t vector = anemone::number(number, "fault spurious: the vector");
        if (vector >= function_.interrupts().vectors())
            throw std::runtime_error("fault spurious: there is no vector " + number);
        function_.interrupts().raise(unsigned(vector));
    } else if (kind == "sideband") {
        function_.device().flipSideband(
            inDevice(anemone::number(number, "fault sideband: the address")));
    } else {
        throw std::runtime_error("no fault \"" + kind +
                                 "\"; there are none, ones, never-done, spurious and sideband");
    }
    return kDone;
}

void Commands::access(uint64_t address, uint64_t write) {
    if (write > 1)
        throw std::runtime_error("access: write is 0 or 1, not " + std::to_string(write));
    function_.device().access(inDevice(address), write != 0);
}

void Commands::trace(const std::string& path) {
    const MappedWords rows(path);
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i] >> 1 >= kDeviceBytes)
            throw std::runtime_error(path + ": row " + std::to_string(i) +
                                     " is past the device's end");
    for (std::size_t i = 0; i < rows.size(); ++i)
        access(rows[i] >> 1, rows[i] & 1);
}

std::string Commands::status() {
    const Device& device = function_.device();
    const Interrupts& interrupts = function_.interrupts();
    std::ostringstream out;
    out << "{\"cycles\": " << device.cycle() << ", \"events\": " << device.events()
        << ", \"reads\": " << function_.reads() << ", \"writes\": " << function_.writes()
        << ", \"delivered\": " << interrupts.delivered() << ", \"messages\": [";
    for (unsigned v = 0; v < interrupts.vectors(); ++v)
        out << (v ? ", " : "") << device.messages(v);
    out << "], \"pending\": [";
    const char* comma = "";
    for (unsigned v = 0; v < interrupts.vectors(); ++v) {
        if (!interrupts.pending(v))
            continue;
        out << comma << v;
        comma = ", ";
    }
    out << "]}";
    return out.str();
}

} // namespace anemone
