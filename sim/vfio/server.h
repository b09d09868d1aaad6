// SPDX-License-Identifier: Apache-2.0
// Waits for QEMU and for commands, and runs the hardware as long as it has something to do.
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
    // Paths of the sockets for QEMU and for commands. ring: of accesses, too, or empty. Throws
    // std::runtime_error.
    Server(Function& function, const std::string& socket, const std::string& control,
           const std::string& ring);

    // Until the process is ended. Throws std::runtime_error when the hardware is wrong.
    [[noreturn]] void run();

private:
    bool wait(int patience); // milliseconds, and serve; whether anything came
    void serve(int descriptor);

    Function& function_;
    Descriptor listener_;
    Commands commands_;
    std::optional<Session> session_; // one QEMU at a time
    std::optional<AccessRing> ring_;
};

} // namespace anemone
