/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * The PCI function of an Anemone whose configuration space is its own, as in co-simulation.
 *
 * A DVSEC says where things are. Where there is none (a card whose PCIe IP is a vendor's), the
 * control registers are the BAR that begins with the register `id`, and the telemetry region is in
 * the device's memory.
 */
#ifndef ANEMONE_PCI_H
#define ANEMONE_PCI_H

/* No vendor's; as QEMU's own devices have it. */
#define ANEMONE_PCI_VENDOR 0x1234
#define ANEMONE_PCI_DEVICE 0x4e45

/* The DVSEC's identity; bytes from the start of the extended capability. */
#define ANEMONE_DVSEC_ID 0x4e45
#define ANEMONE_DVSEC_REVISION 1
#define ANEMONE_DVSEC_LENGTH 0x20
#define ANEMONE_DVSEC_CONTROL_BAR 0x0a   /* u8: of the registers */
#define ANEMONE_DVSEC_TELEMETRY_BAR 0x0b /* u8: of the telemetry region; 0xff: in memory */
#define ANEMONE_DVSEC_IN_MEMORY 0xff
#define ANEMONE_DVSEC_TELEMETRY_BASE 0x10 /* u64: device address of the region's first byte */
#define ANEMONE_DVSEC_TELEMETRY_SIZE 0x18 /* u64: bytes; two windows or more */

/* CXL's DVSEC for devices (CXL 3.1, 8.1.3): range 1 is the memory in the host's address space. */
#define ANEMONE_CXL_VENDOR 0x1e98
#define ANEMONE_CXL_DEVICE_DVSEC 0
#define ANEMONE_CXL_RANGE1_SIZE_HIGH 0x18
#define ANEMONE_CXL_RANGE1_SIZE_LOW 0x1c
#define ANEMONE_CXL_RANGE1_BASE_HIGH 0x20
#define ANEMONE_CXL_RANGE1_BASE_LOW 0x24

#endif
