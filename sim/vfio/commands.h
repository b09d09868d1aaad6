// SPDX-License-Identifier: Apache-2.0
// What others than the guest ask for, over a UNIX socket: a line a command, a line of JSON back.
//
//   access ADDRESS WRITE  a program's access; answered when memory has answered it
//   trace FILE            as many, u64 each: address << 1 | write; the channels side by side
//   settle                answered when there is no access to make, or to come by the ring
//   status                counts since the start
//   fault KIND            none, ones, never-done (function.h); spurious N: message N, for nothing;
//                         sideband ADDRESS: two bits flip beside the line that near memory has
//                         there
//   reset                 as by the guest
//
// Numbers are decimal or 0x. What cannot be done is answered with {"error": "..."}.
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

    // What to wait for.
    template <typename Sink> void eachDescriptor(Sink sink) const {
        sink(listener_.get());
        for (const Client& client : clients_)
            sink(client.fd.get());
    }
    void serve(int descriptor); // one of these, which has something
    void answerWaiting();       // those whose accesses are done

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
