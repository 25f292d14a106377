// Executors behind the handles of aclnn/acl_meta.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "nnopbase/executor.h"
#include "runtime/counters.h"
#include "runtime/handle_table.h"

namespace nnop {

struct Executor {
    explicit Executor(Plan made) : plan(std::move(made)) { aclemu::CountObject(aclemu::Kind::EXECUTOR, 1); }
    ~Executor() { aclemu::CountObject(aclemu::Kind::EXECUTOR, -1); }
    Executor(const Executor &) = delete;
    Executor &operator=(const Executor &) = delete;

    const Plan plan;
    std::vector<uint64_t> serials; // of plan.tensors when they were planned
    std::atomic<bool> repeatable{false};
};

aclemu::HandleTable<Executor> &Executors();

std::string Text(const void *address);

} // namespace nnop
