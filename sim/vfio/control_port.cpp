// SPDX-License-Identifier: Apache-2.0
#include "control_port.h"

namespace anemone {

ControlPort::ControlPort(Expander& expander) : pins_(expander.control()) {
    pins_.bready = pins_.rready = 1;
}

void ControlPort::read(uint32_t offset) {
    pins_.araddr = offset;
    write_ = false;
    address_ = answer_ = true;
}

void ControlPort::write(uint32_t offset, uint64_t data, uint8_t strobe) {
    pins_.awaddr = offset;
    pins_.wdata = data;
    pins_.wstrb = strobe;
    write_ = address_ = data_ = answer_ = true;
}

void ControlPort::offer() {
    pins_.arvalid = address_ && !write_;
    pins_.awvalid = address_ && write_;
    pins_.wvalid = data_;
}

void ControlPort::take() {
    if (write_ ? pins_.awready : pins_.arready)
        address_ = false;
    if (pins_.wready)
        data_ = false;
    if (write_)
        answered(pins_.bvalid, pins_.bresp);
    else
        answered(pins_.rvalid, pins_.rresp);
}

void ControlPort::answered(bool valid, unsigned response) {
    if (!answer_ || !valid)
        return;
    answer_ = false;
    failed_ = response != 0;
    value_ = pins_.rdata;
}

} // namespace anemone
