/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the plugin takes of QEMU's interface for plugins of instruction emulation, version 7. No
 * package has its header, and the version in the name is checked as the plugin is loaded.
 */
#ifndef QEMU_PLUGIN_H
#define QEMU_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLUGIN_VERSION 7
#define PLUGIN_EXPORT __attribute__((visibility("default")))

typedef uint64_t plugin_id;
struct plugin_block;       /* instructions that are translated together */
struct plugin_instruction; /* one of them */
struct plugin_address;     /* where an access goes in the guest's memory */

enum { PLUGIN_NO_REGISTERS = 0, PLUGIN_READS_AND_WRITES = 3 };

typedef void (*plugin_on_block)(struct plugin_block* block, void* data);
typedef void (*plugin_on_access)(unsigned int cpu, uint32_t access, uint64_t address, void* data);

void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, plugin_on_block call, void* data);
size_t qemu_plugin_tb_n_insns(const struct plugin_block* block);
struct plugin_instruction* qemu_plugin_tb_get_insn(const struct plugin_block* block, size_t number);
void qemu_plugin_register_vcpu_mem_cb(struct plugin_instruction* instruction, plugin_on_access call,
                                      int registers, int kinds, void* data);
struct plugin_address* qemu_plugin_get_hwaddr(uint32_t access, uint64_t address);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct plugin_address* address);
bool qemu_plugin_mem_is_store(uint32_t access);
unsigned int qemu_plugin_mem_size_shift(uint32_t access);

#endif
