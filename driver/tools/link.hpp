/* SPDX-License-Identifier: GPL-2.0 */
/* A command's connection to a device's holder. */
#ifndef ANEMONECTL_LINK_HPP
#define ANEMONECTL_LINK_HPP

#include "wire.hpp"

class Link {
public:
    /*
     * Opens the telemetries of a device's holder. With `start` one is started when there is none;
     * without, the result is then empty. With `change` no other command changes anything while the
     * link is open.
     */
    static std::optional<Link> open(const std::string& device, bool start, bool change,
                                    Session& session);

    /* New, or changed. A new one goes again when the link closes without a commit. */
    void put(const Telemetry& telemetry);
    /* From the device, too. */
    void remove(uint32_t id);
    void commit();

private:
    void request(WireKind kind, uint32_t id) const;
    void wait_done(const char* what) const;
    Session receive_session(const std::string& device) const;

    Descriptor lock_; /* held: other commands and the holder's end wait */
    Descriptor socket_;
};

#endif
