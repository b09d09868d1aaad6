// SPDX-License-Identifier: Apache-2.0
// QEMU plugin that samples the loads of a rank of an MPI program (loads.hpp), from the tracer's
// mark on. Arguments: core=FILE (the machine), folder=FOLDER, period=N.
#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "loads.hpp"
#include "qemu_plugin.h"

using namespace capture;

namespace {

constexpr std::size_t kMaxThreads = 1 << 16;

struct Thread {
    std::unique_ptr<Sampler> sampler; // none before the rank has begun
    std::uint64_t last_store = 0;
};

Rank* rank;
Thread threads[kMaxThreads]; // by QEMU's vCPU index
std::uint64_t guest_base;    // where the guest's address 0 is
std::mutex translating;
bool is_child; // forked child: the file belongs to the parent
std::vector<std::unique_ptr<std::vector<Instruction>>> blocks; // never freed: QEMU may run them

// The thread's sampler, or null before the rank has begun.
Sampler* sampler(unsigned vcpu) {
    Thread& thread = threads[vcpu % kMaxThreads];
    if (!thread.sampler && rank->begun() && !is_child)
        thread.sampler = std::make_unique<Sampler>(*rank, rank->header().rank * kMaxThreads + vcpu);
    return thread.sampler.get();
}

void on_instruction(unsigned vcpu, void* data) {
    if (Sampler* sampler_of_vcpu = sampler(vcpu))
        sampler_of_vcpu->execute(*static_cast<const Instruction*>(data));
}

void on_access(unsigned vcpu, uint32_t info, uint64_t address, void*) {
    Thread& thread = threads[vcpu % kMaxThreads];
    const bool store = qemu_plugin_mem_is_store(info);
    if (store)
        thread.last_store = address;
    if (thread.sampler)
        thread.sampler->access(address, 1ull << qemu_plugin_mem_size_shift(info), store);
}

// The argument of a mark is stored just before it.
std::uint64_t value_of_mark(unsigned vcpu) {
    const std::uint64_t at = threads[vcpu % kMaxThreads].last_store;
    return *reinterpret_cast<const std::uint64_t*>(guest_base + at);
}

void on_mark(unsigned vcpu, void* data) {
    const Mark mark = static_cast<const Instruction*>(data)->mark;
    Sampler* const sampler_of_vcpu = sampler(vcpu);
    if (mark == Mark::mpi_traced) {
        try {
            const std::lock_guard hold(rank->lock);
            rank->begin(value_of_mark(vcpu));
        } catch (const std::exception& e) {
            std::fprintf(stderr, "anemone msgfree: %s\n", e.what());
            std::exit(1);
        }
    } else if (sampler_of_vcpu && mark == Mark::mpi_enters) {
        sampler_of_vcpu->enter();
    } else if (sampler_of_vcpu && mark == Mark::mpi_leaves) {
        sampler_of_vcpu->leave(value_of_mark(vcpu));
    } else if (sampler_of_vcpu && mark == Mark::mpi_ends) {
        sampler_of_vcpu->finish();
    }
}

void on_translation(qemu_plugin_id_t, struct qemu_plugin_tb* tb) {
    const std::size_t n = qemu_plugin_tb_n_insns(tb);
    const std::lock_guard hold(translating);
    blocks.push_back(std::make_unique<std::vector<Instruction>>());
    auto& block = *blocks.back();
    block.reserve(n);
    for (std::size_t i = 0; i < n; i++) {
        qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, i);
        const std::uint64_t pc = qemu_plugin_insn_vaddr(insn);
        block.push_back(decode(qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn), pc));
        Instruction* facts = &block.back();
        guest_base = reinterpret_cast<std::uint64_t>(qemu_plugin_insn_haddr(insn)) - pc;
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_instruction, QEMU_PLUGIN_CB_NO_REGS, facts);
        if (facts->mark >= Mark::mpi_traced)
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, QEMU_PLUGIN_CB_NO_REGS, facts);
        qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS,
                                         QEMU_PLUGIN_MEM_RW, nullptr);
    }
}

void in_child() {
    is_child = true;
    for (Thread& thread : threads)
        thread.sampler.reset();
}

void on_exit(qemu_plugin_id_t, void*) {
    for (Thread& thread : threads)
        if (thread.sampler)
            thread.sampler->finish();
}

std::string value_of(int argc, char** argv, const std::string& name) {
    for (int i = 0; i < argc; i++)
        if (std::string(argv[i]).compare(0, name.size() + 1, name + "=") == 0)
            return argv[i] + name.size() + 1;
    throw std::invalid_argument("the argument " + name + "= is missing");
}

// The launchers of Open MPI and MPICH set these variables.
std::uint64_t ranks_on_host() {
    for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"})
        if (const char* value = std::getenv(name); value && std::atoi(value) > 0)
            return static_cast<std::uint64_t>(std::atoi(value));
    return 1;
}

} // namespace

#define EXPORTED __attribute__((visibility("default")))

extern "C" {

EXPORTED int qemu_plugin_version = 1;

EXPORTED int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t*, int argc, char** argv) {
    try {
        std::ifstream machine(value_of(argc, argv, "core"));
        std::stringstream text;
        text << machine.rdbuf();
        rank = new Rank({text.str(), value_of(argc, argv, "folder"),
                         std::stoull(value_of(argc, argv, "period")), ranks_on_host()});
    } catch (const std::exception& e) {
        std::fprintf(stderr, "anemone msgfree: %s\n", e.what());
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_atexit_cb(id, on_exit, nullptr);
    pthread_atfork(nullptr, nullptr, in_child);
    return 0;
}

} // extern "C"
