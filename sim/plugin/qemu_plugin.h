// SPDX-License-Identifier: Apache-2.0
// The part of QEMU's plugin interface, version 7 (QEMU 11.1), that our plugins use. No package has
// QEMU's own header.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t qemu_plugin_id_t;
typedef struct qemu_info_t qemu_info_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;

enum { QEMU_PLUGIN_CB_NO_REGS = 0 };
enum { QEMU_PLUGIN_MEM_RW = 3 };
enum { QEMU_PLUGIN_DISCON_INTERRUPT = 1 };

#define QEMU_PLUGIN_EXPORT __attribute__((visibility("default")))

typedef void (*qemu_plugin_tb_cb)(struct qemu_plugin_tb* tb, void* data);
typedef void (*qemu_plugin_vcpu_cb)(unsigned vcpu, void* data);
typedef void (*qemu_plugin_mem_cb)(unsigned vcpu, uint32_t info, uint64_t address, void* data);
typedef void (*qemu_plugin_discon_cb)(unsigned vcpu, int kind, uint64_t from, uint64_t to,
                                      void* data);
typedef void (*qemu_plugin_exit_cb)(void* data);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_tb_cb cb, void* data);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb* tb, qemu_plugin_vcpu_cb cb,
                                          int flags, void* data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn* insn, qemu_plugin_vcpu_cb cb,
                                            int flags, void* data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn* insn, qemu_plugin_mem_cb cb,
                                      int flags, int accesses, void* data);
void qemu_plugin_register_vcpu_discon_cb(qemu_plugin_id_t id, int kind, qemu_plugin_discon_cb cb,
                                         void* data);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_exit_cb cb, void* data);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* tb);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb* tb, size_t index);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn* insn, void* to, size_t bytes);

struct qemu_plugin_hwaddr* qemu_plugin_get_hwaddr(uint32_t info, uint64_t address);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr* hwaddr);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr* hwaddr);
bool qemu_plugin_mem_is_store(uint32_t info);
unsigned qemu_plugin_mem_size_shift(uint32_t info);
