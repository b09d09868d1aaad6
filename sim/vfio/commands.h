// SPDX-License-Identifier: Apache-2.0
// Commands from outside the guest, over a UNIX socket: one line per command and one line of JSON
// per answer.
//
//   access ADDRESS WRITE  a program's access; answered when memory has answered it
//   trace FILE            many accesses, u64 each: address << 1 | write; all channels in parallel
//   settle                answered when no access is left, in the device or in the ring
//   status                counts since the start
//   fault KIND            none, ones, never-done (function.h); spurious N: message N without a
//                         cause; sideband ADDRESS: two bits flip in the sideband of that line in
//                         near memory
//   reset                 as by the guest
//
// Numbers are decimal or 0x. A command that fails is answered with {"error": "..."}.
#pragma once

#include <deque>
#include <string>

#include <poll.h>

#include "function.h"
#include "sockets.h"

namespace anemone {

class Commands {
public:
    Commands(Function& function, const std::string& path)
        : function_(function), listener_(listenAt(path)) {}

    // Descriptors to wait for.
    template <typename Sink> void eachDescriptor(Sink sink) const {
        sink(listener_.get());
        for (const Client& client : clients_)
            sink(client.fd.get());
    }
    void serve(int descriptor); // serves one of these that is ready
    void answerWaiting();       // answers commands whose accesses are done

private:
    struct Client {
        Descriptor fd;
        std::string received;
        bool waiting = false;
    };

    void receive(Client& client);
    std::string execute(const std::string& line, bool& waits);
    std::string fault(const std::string& kind, const std::string& number);
    void trace(const std::string& path);
    void access(uint64_t address, uint64_t write);
    std::string status();

    Function& function_;
    Descriptor listener_;
    std::deque<Client> clients_;
};

} // namespace anemone
