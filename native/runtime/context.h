// Devices, contexts and streams as objects, and which are current in this thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "acl/acl_rt.h"
#include "runtime/handle_table.h"
#include "runtime/task_queue.h"

namespace aclemu {

struct Stream;

struct Context {
    explicit Context(int32_t onDevice) : device(onDevice) {}

    const int32_t device;
    void *handle = nullptr;
    void *defaultStream = nullptr;
    bool isDefault = false; // made by aclrtSetDevice
    std::mutex mutex; // guards parameters
    std::map<aclSysParamOpt, int64_t> parameters;
};

struct Stream {
    Stream(std::shared_ptr<Context> in, uint32_t withPriority, uint32_t withFlags);

    const std::shared_ptr<Context> context;
    std::atomic<uint32_t> priority;
    std::atomic<uint32_t> tag{0}; // the program's own
    const uint32_t flags;
    const int32_t id; // unique in the process
    const std::shared_ptr<TaskQueue> queue;
    void *handle = nullptr;
    bool isDefault = false;
};

// Whether streams made now run only what something waits for. Throws std::invalid_argument when ACLEMU_STREAM is
// not valid.
bool DelayedStreams();
void SetDelayedStreams(const std::string &mode); // "async" or "delayed"; throws likewise

HandleTable<Context> &Contexts();
HandleTable<Stream> &Streams();

// The context of this thread; nullptr, with 107002 reported, if there is none.
std::shared_ptr<Context> RequireContext();
// The same without a report.
std::shared_ptr<Context> CurrentContext();
void SetCurrentContext(const Context &context);

// The stream behind `handle` (nullptr: the default stream of the current context), if it belongs to the
// current context. Otherwise nullptr, and `status` is 107002 or 107003, reported.
std::shared_ptr<Stream> RequireStream(aclrtStream handle, aclError *status);

// Not yet in Contexts().
std::shared_ptr<Context> NewContext(int32_t device);
// Waits for the context's streams and retires them; threads in which it is current have none afterwards. The
// caller has taken it out of Contexts().
void EndContext(const std::shared_ptr<Context> &context);

std::shared_ptr<Stream> NewStream(const std::shared_ptr<Context> &context, uint32_t priority, uint32_t flags);
// Waits for the stream's tasks, or with `drop` for those that have started. The caller has taken it out of
// Streams().
void EndStream(const Stream &stream, bool drop);

// Appends a task; `number`, if not NULL, is what WaitFor takes. 0, 207008 or 107003, reported.
aclError PushTo(const Stream &stream, TaskQueue::Task task, uint64_t *number);

// Waits for `number` on the stream. 0, the stream's fault, or 507046 after `timeoutMs` (negative: never),
// reported.
aclError WaitFor(const Stream &stream, uint64_t number, int64_t timeoutMs);

} // namespace aclemu
