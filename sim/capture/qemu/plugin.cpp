// SPDX-License-Identifier: Apache-2.0
// QEMU plugin that captures a program: QEMU calls it for every translation block and every load and
// store of every thread. Arguments: settings=FILE (two lines, for Config and for RunConfig),
// rows=FILE, instructions=FILE, operations=FILE.
//
// A forked child runs in a copy of QEMU and is not traced. A program that the child executes runs
// outside QEMU.
#include <pthread.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "qemu_plugin.h"
#include "thread.hpp"

using namespace capture;

namespace {

constexpr std::size_t kMaxThreads = 1 << 16;

Machine* machine;
Thread* threads[kMaxThreads]; // by QEMU's vCPU index, which QEMU reuses
std::uint16_t next_number;    // of a thread in the trace; wraps after 65536 threads
std::uint64_t guest_base;     // where the guest's address 0 is
std::mutex translating;

// Never freed: QEMU may still run a block after its translation was flushed.
std::vector<std::unique_ptr<Block>> blocks;

// Argument of the callbacks.
struct BlockInstruction {
    const Block* block;
    const Instruction* insn;
};
std::vector<std::unique_ptr<std::vector<BlockInstruction>>> block_instructions;

Thread& thread(unsigned vcpu) {
    return *threads[vcpu % kMaxThreads];
}

void on_block(unsigned vcpu, void* data) {
    thread(vcpu).enter(*static_cast<const Block*>(data));
}

void on_access(unsigned vcpu, uint32_t info, uint64_t address, void* data) {
    const auto* at = static_cast<const BlockInstruction*>(data);
    thread(vcpu).access(*at->block, *at->insn, address, 1ull << qemu_plugin_mem_size_shift(info),
                        qemu_plugin_mem_is_store(info));
}

void on_instruction(unsigned vcpu, void* data) {
    const auto* at = static_cast<const BlockInstruction*>(data);
    thread(vcpu).execute(*at->block, *at->insn);
}

void on_fence(unsigned vcpu, void*) {
    thread(vcpu).fence();
}

void on_begin(unsigned vcpu, void*) {
    Thread& self = thread(vcpu);
    self.begin(*reinterpret_cast<const std::uint64_t*>(guest_base + self.last_store()));
}

void on_end(unsigned vcpu, void*) {
    thread(vcpu).begin(0);
}

void on_translation(qemu_plugin_id_t, struct qemu_plugin_tb* tb) {
    const std::size_t n = qemu_plugin_tb_n_insns(tb);
    const std::lock_guard hold(translating);
    blocks.push_back(std::make_unique<Block>());
    block_instructions.push_back(std::make_unique<std::vector<BlockInstruction>>());
    Block& block = *blocks.back();
    auto& here = *block_instructions.back();
    block.instructions.reserve(n);
    here.reserve(n);
    for (std::size_t i = 0; i < n; i++) {
        const qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, i);
        block.instructions.push_back(decode(qemu_plugin_insn_data(insn),
                                            qemu_plugin_insn_size(insn),
                                            qemu_plugin_insn_vaddr(insn)));
        block.instructions.back().index = static_cast<std::uint16_t>(i);
        here.push_back({&block, &block.instructions.back()});
    }
    block.repeated = n == 1 && block.instructions[0].repeated;
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, &block);
    for (std::size_t i = 0; i < n; i++) {
        qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, i);
        const Instruction& facts = block.instructions[i];
        guest_base = reinterpret_cast<std::uint64_t>(qemu_plugin_insn_haddr(insn)) -
                     qemu_plugin_insn_vaddr(insn);
        if (machine->run.instructions != 0)
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_instruction, QEMU_PLUGIN_CB_NO_REGS,
                                                   &here[i]);
        if (facts.mark == Mark::begin)
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_begin, QEMU_PLUGIN_CB_NO_REGS, nullptr);
        else if (facts.mark == Mark::end)
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_end, QEMU_PLUGIN_CB_NO_REGS, nullptr);
        else if (facts.fence && !facts.loads)
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_fence, QEMU_PLUGIN_CB_NO_REGS, nullptr);
        qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS,
                                         QEMU_PLUGIN_MEM_RW, &here[i]);
    }
}

void on_start(qemu_plugin_id_t, unsigned vcpu) {
    delete threads[vcpu % kMaxThreads];
    threads[vcpu % kMaxThreads] = new Thread(*machine, next_number++);
}

void on_end_of_thread(qemu_plugin_id_t, unsigned vcpu) {
    thread(vcpu).finish();
}

bool executes(std::int64_t call) {
    return call == 59 || call == 322; // execve, execveat
}

// execve returns only when it fails.
void on_call(qemu_plugin_id_t, unsigned, std::int64_t call, std::uint64_t, std::uint64_t,
             std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
             std::uint64_t) {
    if (executes(call))
        machine->totals->replaced = 1;
}
void on_return(qemu_plugin_id_t, unsigned, std::int64_t call, std::int64_t) {
    if (executes(call))
        machine->totals->replaced = 0;
}

void on_exit(qemu_plugin_id_t, void*) {
    for (Thread* t : threads) {
        if (t != nullptr)
            t->finish();
    }
}

// The fork holds the lock: if another thread held it, the child could never take it. The child must
// not change the parent's files.
void before_fork() {
    machine->lock.lock();
}
void in_parent() {
    machine->lock.unlock();
}
void in_child() {
    machine->forget();
    machine->lock.unlock();
}

std::string value_of(const std::vector<std::string>& arguments, const std::string& name) {
    for (const std::string& argument : arguments) {
        if (argument.compare(0, name.size() + 1, name + "=") == 0)
            return argument.substr(name.size() + 1);
    }
    throw std::invalid_argument("the argument " + name + "= is missing");
}

} // namespace

#define EXPORTED __attribute__((visibility("default")))

extern "C" {

EXPORTED int qemu_plugin_version = 1;

EXPORTED int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc,
                                 char** argv) {
    try {
        if (info->system_emulation || std::string(info->target_name) != "x86_64")
            throw std::invalid_argument("QEMU is not that for x86-64 programs");
        const std::vector<std::string> arguments(argv, argv + argc);
        std::ifstream settings(value_of(arguments, "settings"));
        std::string shared, run_settings;
        std::getline(settings, shared);
        std::getline(settings, run_settings);
        const Files files{value_of(arguments, "rows"), value_of(arguments, "instructions"),
                          value_of(arguments, "operations")};
        machine = new Machine(Config::parse(shared), RunConfig::parse(run_settings), files);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "anemone capture: %s\n", e.what());
        return 1;
    }
    qemu_plugin_register_vcpu_init_cb(id, on_start);
    qemu_plugin_register_vcpu_exit_cb(id, on_end_of_thread);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_vcpu_syscall_cb(id, on_call);
    qemu_plugin_register_vcpu_syscall_ret_cb(id, on_return);
    qemu_plugin_register_atexit_cb(id, on_exit, nullptr);
    pthread_atfork(before_fork, in_parent, in_child);
    return 0;
}

} // extern "C"
