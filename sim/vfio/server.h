// SPDX-License-Identifier: Apache-2.0
// Waits for QEMU and for commands, and runs the hardware while it has work.
#pragma once

#include <optional>
#include <string>

#include "access_ring.h"
#include "commands.h"
#include "function.h"
#include "session.h"

namespace anemone {

class Server {
public:
    // Paths of the sockets of QEMU and of the commands; ring: a file of accesses, or empty. Throws
    // std::runtime_error.
    Server(Function& function, const std::string& socket, const std::string& control,
           const std::string& ring);

    // Runs until the process is killed. Throws std::runtime_error on wrong hardware.
    [[noreturn]] void run();

private:
    bool wait(int timeout); // milliseconds; serves what came and returns whether anything came
    void serve(int descriptor);

    Function& function_;
    Descriptor listener_;
    Commands commands_;
    std::optional<Session> session_; // one client at a time
    std::optional<AccessRing> ring_;
};

} // namespace anemone
