// Notifies, counting notifies and values in memory: streams that wait for a state another stream sets.
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>

#include "acl/acl_rt.h"
#include "runtime/allocator.h"
#include "runtime/api.h"
#include "runtime/context.h"
#include "runtime/counters.h"
#include "runtime/place.h"

using aclemu::Api;
using aclemu::Fail;
using aclemu::FailNull;

namespace aclemu {
namespace {

// A number that tasks change and wait for; a plain notify is one that counts to 1.
struct Notify {
    explicit Notify(bool counts) : counting(counts), id(NextId()) {}

    static uint32_t NextId()
    {
        static std::atomic<uint32_t> next{0};
        return next.fetch_add(1, std::memory_order_relaxed);
    }

    void Change(const std::function<void(uint32_t *)> &change)
    {
        const std::lock_guard<std::mutex> lock(mutex);
        change(&value);
        changed.notify_all();
    }

    const bool counting;
    const uint32_t id;
    std::mutex mutex;
    std::condition_variable changed;
    uint32_t value = 0;
};

HandleTable<Notify> &Notifies()
{
    static auto *table = new HandleTable<Notify>();
    return *table;
}

// In delayed mode whoever waits makes the others run: any of them may be the one that sets the value.
void DemandAll()
{
    for (const auto &stream : Streams().Select([](const Stream &) { return true; })) {
        stream->queue->Demand(stream->queue->Last());
    }
}

// Looks again and again, as tasks that come later, on streams of any mode, may make it true.
template <typename Ready>
TaskResult Poll(const TaskQueue &queue, uint64_t timeoutMs, const char *what, Ready ready)
{
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::milliseconds(timeoutMs);
    while (!ready(std::chrono::milliseconds(1))) {
        if (queue.Dropped()) {
            return {};
        }
        if (timeoutMs != 0 && Clock::now() >= end) {
            return {ACL_ERROR_RT_EVENT_SYNC_TIMEOUT,
                    std::string(what) + " was not reached within " + std::to_string(timeoutMs) + " ms"};
        }
        DemandAll();
    }
    return {};
}

std::shared_ptr<Notify> Require(aclrtNotify handle, bool counting, aclError *status)
{
    if (handle == nullptr) {
        *status = FailNull("notify");
        return nullptr;
    }
    std::shared_ptr<Notify> found = Notifies().Find(handle);
    if (found == nullptr || found->counting != counting) {
        *status = Fail(ACL_ERROR_RT_PARAM_INVALID, "notify %p is not alive, or of the other kind", handle);
        return nullptr;
    }
    return found;
}

aclError Create(void **notify, uint64_t flag, bool counting)
{
    if (notify == nullptr) {
        return FailNull("notify");
    }
    if (flag > ACL_NOTIFY_DEVICE_USE_ONLY) {
        return Fail(ACL_ERROR_RT_PARAM_INVALID, "parameter flag is %llu; it must be 0 or 1",
                    static_cast<unsigned long long>(flag));
    }
    if (RequireContext() == nullptr) {
        return ACL_ERROR_RT_CONTEXT_NULL;
    }
    void *handle = NewHandle();
    Notifies().Insert(handle, std::make_shared<Notify>(counting));
    CountObject(Kind::NOTIFY, 1);
    *notify = handle;
    return ACL_SUCCESS;
}

aclError Destroy(void *notify, bool counting)
{
    aclError status = ACL_SUCCESS;
    if (Require(notify, counting, &status) != nullptr && Notifies().Remove(notify) != nullptr) {
        CountObject(Kind::NOTIFY, -1);
    }
    return status;
}

aclError GetId(void *notify, uint32_t *notifyId, bool counting)
{
    if (notifyId == nullptr) {
        return FailNull("notifyId");
    }
    aclError status = ACL_SUCCESS;
    const auto found = Require(notify, counting, &status);
    if (found != nullptr) {
        *notifyId = found->id;
    }
    return status;
}

aclError PushChange(void *notify, bool counting, aclrtStream handle, const char *name,
                    std::function<void(uint32_t *)> change)
{
    aclError status = ACL_SUCCESS;
    const auto found = Require(notify, counting, &status);
    const auto stream = found == nullptr ? nullptr : RequireStream(handle, &status);
    if (stream == nullptr) {
        return status;
    }
    return PushTo(*stream,
                  {name,
                   [found, change = std::move(change)] {
                       found->Change(change);
                       return TaskResult();
                   },
                   true},
                  nullptr);
}

// Waits until `reached` and then, in the same step, does `after`.
aclError PushWait(void *notify, bool counting, aclrtStream handle, uint64_t timeoutMs,
                  std::function<bool(uint32_t)> reached, std::function<void(uint32_t *)> after)
{
    aclError status = ACL_SUCCESS;
    const auto found = Require(notify, counting, &status);
    const auto stream = found == nullptr ? nullptr : RequireStream(handle, &status);
    if (stream == nullptr) {
        return status;
    }
    const auto wait = [=, queue = stream->queue.get()] {
        return Poll(*queue, timeoutMs, "the notify", [&](std::chrono::milliseconds slice) {
            std::unique_lock<std::mutex> lock(found->mutex);
            if (!found->changed.wait_for(lock, slice, [&] { return reached(found->value); })) {
                return false;
            }
            after(&found->value);
            return true;
        });
    };
    return PushTo(*stream, {"notify wait", wait}, nullptr);
}

bool Compare(uint64_t found, uint64_t value, uint32_t flag)
{
    switch (flag) {
        case ACL_STREAM_WAIT_VALUE_GEQ:
            return static_cast<int64_t>(found - value) >= 0; // cyclic
        case ACL_STREAM_WAIT_VALUE_EQ:
            return found == value;
        case ACL_STREAM_WAIT_VALUE_AND:
            return (found & value) != 0;
        default:
            return ~(found | value) != 0;
    }
}

aclError CheckCell(const void *devAddr)
{
    if (devAddr == nullptr) {
        return FailNull("devAddr");
    }
    if (reinterpret_cast<uintptr_t>(devAddr) % sizeof(uint64_t) != 0) {
        return Fail(ACL_ERROR_RT_ADDR_UNALIGNED, "devAddr %p is not aligned to 8 bytes", devAddr);
    }
    Place place = Place::HOST;
    const aclError status = Locate("devAddr", devAddr, sizeof(uint64_t), &place);
    if (status == ACL_SUCCESS && place != Place::DEVICE) {
        return Fail(ACL_ERROR_RT_PARAM_INVALID, "devAddr %p is not device memory", devAddr);
    }
    return status;
}

constexpr const char *kGone = "the memory of the value was freed";

} // namespace
} // namespace aclemu

aclError aclrtCreateNotify(aclrtNotify *notify, uint64_t flag)
{
    return Api("aclrtCreateNotify", [=] { return aclemu::Create(notify, flag, false); });
}

aclError aclrtDestroyNotify(aclrtNotify notify)
{
    return Api("aclrtDestroyNotify", [=] { return aclemu::Destroy(notify, false); });
}

aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t *notifyId)
{
    return Api("aclrtGetNotifyId", [=] { return aclemu::GetId(notify, notifyId, false); });
}

aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream)
{
    return Api("aclrtRecordNotify", [=] {
        return aclemu::PushChange(notify, false, stream, "notify record", [](uint32_t *value) { *value = 1; });
    });
}

aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream, uint32_t timeout)
{
    return Api("aclrtWaitAndResetNotify", [=] {
        return aclemu::PushWait(
            notify, false, stream, uint64_t{timeout} * 1000, [](uint32_t value) { return value != 0; },
            [](uint32_t *value) { *value = 0; });
    });
}

aclError aclrtNotifyBatchReset(aclrtNotify *notifies, size_t num)
{
    return Api("aclrtNotifyBatchReset", [=]() -> aclError {
        if (notifies == nullptr || num == 0) {
            return Fail(ACL_ERROR_INVALID_PARAM, "parameters notifies and num are %p and %zu; neither may be 0",
                        static_cast<void *>(notifies), num);
        }
        for (size_t i = 0; i < num; ++i) {
            aclError status = ACL_SUCCESS;
            const auto found = aclemu::Require(notifies[i], false, &status);
            if (found == nullptr) {
                return status;
            }
            found->Change([](uint32_t *value) { *value = 0; });
        }
        return ACL_SUCCESS;
    });
}

aclError aclrtCntNotifyCreate(aclrtCntNotify *cntNotify, uint64_t flag)
{
    return Api("aclrtCntNotifyCreate", [=] { return aclemu::Create(cntNotify, flag, true); });
}

aclError aclrtCntNotifyDestroy(aclrtCntNotify cntNotify)
{
    return Api("aclrtCntNotifyDestroy", [=] { return aclemu::Destroy(cntNotify, true); });
}

aclError aclrtCntNotifyGetId(aclrtCntNotify cntNotify, uint32_t *notifyId)
{
    return Api("aclrtCntNotifyGetId", [=] { return aclemu::GetId(cntNotify, notifyId, true); });
}

aclError aclrtCntNotifyReset(aclrtCntNotify cntNotify, aclrtStream stream)
{
    return Api("aclrtCntNotifyReset", [=] {
        return aclemu::PushChange(cntNotify, true, stream, "notify reset", [](uint32_t *value) { *value = 0; });
    });
}

aclError aclrtCntNotifyRecord(aclrtCntNotify cntNotify, aclrtStream stream, aclrtCntNotifyRecordInfo *info)
{
    return Api("aclrtCntNotifyRecord", [=]() -> aclError {
        if (info == nullptr) {
            return FailNull("info");
        }
        const uint32_t by = info->value;
        std::function<void(uint32_t *)> change;
        switch (info->mode) {
            case ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE:
                change = [by](uint32_t *value) { *value = by; };
                break;
            case ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE:
                change = [by](uint32_t *value) { *value += by; };
                break;
            case ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE:
                change = [by](uint32_t *value) { *value |= by; };
                break;
            case ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE:
                change = [by](uint32_t *value) { *value &= by; };
                break;
            default:
                return Fail(ACL_ERROR_RT_PARAM_INVALID, "info->mode is %d, which is no recording mode", info->mode);
        }
        return aclemu::PushChange(cntNotify, true, stream, "notify record", std::move(change));
    });
}

aclError aclrtCntNotifyWaitWithTimeout(aclrtCntNotify cntNotify, aclrtStream stream, aclrtCntNotifyWaitInfo *info)
{
    return Api("aclrtCntNotifyWaitWithTimeout", [=]() -> aclError {
        if (info == nullptr) {
            return FailNull("info");
        }
        const uint32_t to = info->value;
        std::function<bool(uint32_t)> reached;
        switch (info->mode) {
            case ACL_RT_CNT_NOTIFY_WAIT_LESS_MODE:
                reached = [to](uint32_t value) { return value < to; };
                break;
            case ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE:
                reached = [to](uint32_t value) { return value == to; };
                break;
            case ACL_RT_CNT_NOTIFY_WAIT_BIGGER_MODE:
                reached = [to](uint32_t value) { return value > to; };
                break;
            case ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE:
                reached = [to](uint32_t value) { return value >= to; };
                break;
            default:
                return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "info->mode is %d, which the emulator does not offer",
                            info->mode);
        }
        const bool clear = info->isClear != 0;
        return aclemu::PushWait(cntNotify, true, stream, uint64_t{info->timeout} * 1000, std::move(reached),
                                [clear](uint32_t *value) { *value = clear ? 0 : *value; });
    });
}

aclError aclrtValueWrite(void *devAddr, uint64_t value, uint32_t flag, aclrtStream stream)
{
    return Api("aclrtValueWrite", [=]() -> aclError {
        if (flag != 0) {
            return Fail(ACL_ERROR_RT_PARAM_INVALID, "parameter flag is %u; it must be 0", flag);
        }
        aclError status = aclemu::CheckCell(devAddr);
        const auto found = status != ACL_SUCCESS ? nullptr : aclemu::RequireStream(stream, &status);
        if (found == nullptr) {
            return status;
        }
        const auto write = [=]() -> aclemu::TaskResult {
            aclemu::Allocation holder;
            if (!aclemu::FindDeviceAllocation(devAddr, &holder)) {
                return {ACL_ERROR_RT_AICORE_EXCEPTION, aclemu::kGone};
            }
            __atomic_store_n(static_cast<uint64_t *>(devAddr), value, __ATOMIC_RELEASE);
            return {};
        };
        return aclemu::PushTo(*found, {"value write", write}, nullptr);
    });
}

aclError aclrtValueWait(void *devAddr, uint64_t value, uint32_t flag, aclrtStream stream)
{
    return Api("aclrtValueWait", [=]() -> aclError {
        if (flag > ACL_STREAM_WAIT_VALUE_NOR) {
            return Fail(ACL_ERROR_RT_PARAM_INVALID, "parameter flag is %u; it must be from 0 to %u", flag,
                        ACL_STREAM_WAIT_VALUE_NOR);
        }
        aclError status = aclemu::CheckCell(devAddr);
        const auto found = status != ACL_SUCCESS ? nullptr : aclemu::RequireStream(stream, &status);
        if (found == nullptr) {
            return status;
        }
        const auto wait = [=, queue = found->queue.get()]() -> aclemu::TaskResult {
            bool gone = false;
            aclemu::TaskResult result =
                aclemu::Poll(*queue, 0, "the value", [&](std::chrono::milliseconds) {
                    aclemu::Allocation holder;
                    gone = !aclemu::FindDeviceAllocation(devAddr, &holder);
                    if (gone || aclemu::Compare(__atomic_load_n(static_cast<uint64_t *>(devAddr), __ATOMIC_ACQUIRE),
                                                value, flag)) {
                        return true;
                    }
                    const timespec pause = {0, 50000};
                    nanosleep(&pause, nullptr);
                    return false;
                });
            return gone ? aclemu::TaskResult{ACL_ERROR_RT_AICORE_EXCEPTION, aclemu::kGone} : result;
        };
        return aclemu::PushTo(*found, {"value wait", wait}, nullptr);
    });
}
