// SPDX-License-Identifier: Apache-2.0
// A client of the vfio-user socket (QEMU): answers its requests to the function.
#pragma once

#include "connection.h"
#include "function.h"

namespace anemone {

class Session {
public:
    Session(Function& function, Descriptor fd) : function_(function), connection_(std::move(fd)) {}
    ~Session() { function_.interrupts().disarm(); }

    int descriptor() const { return connection_.descriptor(); }
    // Waits for one message and serves it. False: the client has gone.
    bool serve();

private:
    template <typename T> void reply(const T& answer);
    void version();
    void regionInfo();
    void irqInfo();
    void setIrqs();
    void regionRead();
    void regionWrite();
    bool within(const vfio::Access& access) const;

    Function& function_;
    Connection connection_;
    Message message_;
};

} // namespace anemone
