// SPDX-License-Identifier: Apache-2.0
// QEMU plugin that counts a guest's instructions between marks, kernel and interrupts included.
//
// A mark is a NOPL with a displacement of 0x27E0nn00 (mark.h). At mark nn the plugin writes
// "nn INSTRUCTIONS SINCE" to `out`: instructions since the start, and since the last interrupt. A
// halted processor executes none. Only for one processor.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "qemu_plugin.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = 7;

static FILE* out;
static uint64_t instructions, interrupted;

static void execute(unsigned vcpu, void* data) {
    (void)vcpu;
    (void)data;
    ++instructions;
}

static void mark(unsigned vcpu, void* data) {
    (void)vcpu;
    fprintf(out, "%u %" PRIu64 " %" PRIu64 "\n", (unsigned)(uintptr_t)data, instructions,
            instructions - interrupted);
    fflush(out);
}

static void interrupt(unsigned vcpu, int kind, uint64_t from, uint64_t to, void* data) {
    (void)vcpu, (void)kind, (void)from, (void)to, (void)data;
    interrupted = instructions;
}

// The number of a mark, or -1.
static int mark_of(const struct qemu_plugin_insn* insn) {
    uint8_t code[8];
    if (qemu_plugin_insn_data(insn, code, sizeof code) < 7 || memcmp(code, "\x0f\x1f\x80", 3) ||
        code[3] || code[5] != 0xE0 || code[6] != 0x27)
        return -1;
    return code[4];
}

// One callback per instruction, because a fault or a device access may leave a block early.
static void translate(struct qemu_plugin_tb* tb, void* data) {
    (void)data;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); ++i) {
        struct qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, i);
        const int number = mark_of(insn);
        qemu_plugin_register_vcpu_insn_exec_cb(insn, execute, QEMU_PLUGIN_CB_NO_REGS, NULL);
        if (number >= 0)
            qemu_plugin_register_vcpu_insn_exec_cb(insn, mark, QEMU_PLUGIN_CB_NO_REGS,
                                                   (void*)(uintptr_t)number);
    }
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc,
                                           char** argv) {
    (void)info;
    for (int i = 0; i < argc; ++i)
        if (!strncmp(argv[i], "out=", 4))
            out = fopen(argv[i] + 4, "w");
    if (!out) {
        fprintf(stderr, "instructions: out=FILE is missing, or cannot be written\n");
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translate, NULL);
    qemu_plugin_register_vcpu_discon_cb(id, QEMU_PLUGIN_DISCON_INTERRUPT, interrupt, NULL);
    return 0;
}
