/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * The PCI function of an Anemone with its own configuration space, as in co-simulation.
 *
 * A DVSEC says where things are. A card with a vendor's PCIe IP may have none: then the control
 * registers are the BAR that begins with the register `id`, and the telemetry region is in the
 * device's memory.
 */
#ifndef ANEMONE_PCI_H
#define ANEMONE_PCI_H

/* Belongs to no vendor; QEMU uses it for its own devices. */
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

/* CXL's DVSEC for devices (CXL 3.1, 8.1.3): the memory in the host's address space. */
#define ANEMONE_CXL_VENDOR 0x1e98
#define ANEMONE_CXL_DEVICE_DVSEC 0
#define ANEMONE_CXL_CAPABILITY 0x0a /* u16 */
#define ANEMONE_CXL_CAPABILITY_RANGES_SHIFT 4
#define ANEMONE_CXL_CONTROL 0x0c /* u16 */
#define ANEMONE_CXL_CONTROL_MEM_ENABLE 0x4
#define ANEMONE_CXL_RANGE_SIZE_HIGH(i) (0x18 + 0x10 * (i))
#define ANEMONE_CXL_RANGE_SIZE_LOW(i) (0x1c + 0x10 * (i))
#define ANEMONE_CXL_RANGE_VALID 0x1 /* in the low word of the size */
#define ANEMONE_CXL_RANGE_ACTIVE 0x2
#define ANEMONE_CXL_RANGE_BASE_HIGH(i) (0x20 + 0x10 * (i))
#define ANEMONE_CXL_RANGE_BASE_LOW(i) (0x24 + 0x10 * (i))

/* Its register locator (8.1.9): entries of two words, one of them for the component registers. */
#define ANEMONE_CXL_LOCATOR_DVSEC 8
#define ANEMONE_CXL_LOCATOR_FIRST 0x0c
#define ANEMONE_CXL_BLOCK_COMPONENT 1
#define ANEMONE_CXL_COMPONENT_BYTES 0x10000

/*
 * The component registers (8.2.4), from CACHEMEM on: capability headers, and the HDM decoders
 * (8.2.4.20).
 */
#define ANEMONE_CXL_CACHEMEM 0x1000
#define ANEMONE_CXL_CM_ID 1
#define ANEMONE_CXL_HDM_ID 5
#define ANEMONE_CXL_HDM_ENABLE 0x2                 /* in the word after the capability */
#define ANEMONE_CXL_DECODER(i) (0x10 + 0x20 * (i)) /* base, size, control, skip */
#define ANEMONE_CXL_DECODER_COMMITTED 0x400

#endif
