#include "runtime/context.h"

#include <atomic>
#include <stdexcept>

#include "runtime/api.h"
#include "runtime/check.h"
#include "runtime/counters.h"
#include "runtime/environment.h"
#include "runtime/fault.h"
#include "runtime/state_callback.h"

namespace aclemu {
namespace {

// A handle, not an owner: it stays good for calls that static destructors make when thread_local objects are
// gone.
thread_local void *t_context = nullptr;

int32_t NextStreamId()
{
    static std::atomic<int32_t> next{0};
    return next.fetch_add(1, std::memory_order_relaxed);
}

} // namespace

namespace {

std::atomic<bool> &Delayed()
{
    static std::atomic<bool> delayed{EnvironmentChoice("ACLEMU_STREAM", {"async", "delayed"}) == 1};
    return delayed;
}

} // namespace

bool DelayedStreams()
{
    return Delayed().load(std::memory_order_relaxed);
}

void SetDelayedStreams(const std::string &mode)
{
    if (mode != "async" && mode != "delayed") {
        throw std::invalid_argument("the stream mode is \"" + mode + "\"; it must be async or delayed");
    }
    Delayed() = mode == "delayed";
}

Stream::Stream(std::shared_ptr<Context> in, uint32_t withPriority, uint32_t withFlags)
    : context(std::move(in)), priority(withPriority), flags(withFlags), id(NextStreamId()),
      queue(std::make_shared<TaskQueue>(DelayedStreams()))
{
}

// Tables live for ever: workers and late calls may use them while static objects are destroyed.
HandleTable<Context> &Contexts()
{
    static auto *table = new HandleTable<Context>();
    return *table;
}

HandleTable<Stream> &Streams()
{
    static auto *table = new HandleTable<Stream>();
    return *table;
}

std::shared_ptr<Context> CurrentContext()
{
    return t_context != nullptr ? Contexts().Find(t_context) : nullptr;
}

void SetCurrentContext(const Context &context)
{
    t_context = context.handle;
}

std::shared_ptr<Context> RequireContext()
{
    std::shared_ptr<Context> context = CurrentContext();
    if (context == nullptr) {
        Fail(ACL_ERROR_RT_CONTEXT_NULL, "this thread has no current device or context");
    }
    return context;
}

std::shared_ptr<Stream> RequireStream(aclrtStream handle, aclError *status)
{
    const std::shared_ptr<Context> context = RequireContext();
    if (context == nullptr) {
        *status = ACL_ERROR_RT_CONTEXT_NULL;
        return nullptr;
    }
    if (handle == nullptr) {
        handle = context->defaultStream;
    }
    std::shared_ptr<Stream> stream = Streams().Find(handle);
    if (stream == nullptr) {
        *status = Fail(ACL_ERROR_RT_STREAM_CONTEXT, "stream %p is not alive", handle);
    } else if (stream->context != context) {
        *status = Fail(ACL_ERROR_RT_STREAM_CONTEXT,
                       "stream %p belongs to context %p (device %d); current is %p (device %d)", handle,
                       stream->context->handle, stream->context->device, context->handle, context->device);
        stream = nullptr;
    }
    return stream;
}

std::shared_ptr<Context> NewContext(int32_t device)
{
    auto context = std::make_shared<Context>(device);
    const auto stream = NewStream(context, 0, 0);
    stream->isDefault = true;
    context->defaultStream = stream->handle;
    context->handle = NewHandle();
    return context;
}

void EndContext(const std::shared_ptr<Context> &context)
{
    for (const auto &stream :
         Streams().Select([&context](const Stream &s) { return s.context == context; })) {
        if (Streams().Remove(stream->handle) != nullptr && !stream->isDefault) {
            CountObject(Kind::STREAM, -1);
        }
        EndStream(*stream, false);
    }
}

std::shared_ptr<Stream> NewStream(const std::shared_ptr<Context> &context, uint32_t priority, uint32_t flags)
{
    auto stream = std::make_shared<Stream>(context, priority, flags);
    stream->handle = NewHandle();
    stream->queue->OnFault([id = stream->id, device = context->device](uint64_t task, aclError code) {
        TellException(static_cast<uint32_t>(task), static_cast<uint32_t>(id), static_cast<uint32_t>(device), code);
    });
    Streams().Insert(stream->handle, stream);
    return stream;
}

void EndStream(const Stream &stream, bool drop)
{
    stream.queue->Close(drop);
    stream.queue->Wait(stream.queue->Last(), -1);
}

aclError WaitFor(const Stream &stream, uint64_t number, int64_t timeoutMs)
{
    if (!stream.queue->Wait(number, timeoutMs)) {
        return Fail(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "stream %d was not done after %lld ms", stream.id,
                    static_cast<long long>(timeoutMs));
    }
    const aclError wanted = TakeSynchronizeFault();
    if (wanted != ACL_SUCCESS) {
        stream.queue->Fault({wanted, "the fault that aclemuFailSynchronize asked for"});
    }
    const TaskResult fault = stream.queue->FirstFault();
    if (fault.code != ACL_SUCCESS) {
        return Fail(fault.code, "on stream %d of device %d, %s", stream.id, stream.context->device,
                    fault.message.c_str());
    }
    const std::string damage = FindDamage(nullptr);
    if (!damage.empty()) {
        return Fail(ACL_ERROR_RT_AICORE_EXCEPTION, "something %s", damage.c_str());
    }
    return ACL_SUCCESS;
}

} // namespace aclemu
