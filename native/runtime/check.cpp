#include "runtime/check.h"

#include <atomic>
#include <stdexcept>

#include "runtime/allocator.h"
#include "runtime/api.h"
#include "runtime/context.h"
#include "runtime/environment.h"
#include "runtime/host_memory.h"

namespace aclemu {
namespace {

unsigned Parse(const std::string &list)
{
    unsigned checks = 0;
    for (size_t start = 0; start < list.size();) {
        const size_t end = std::min(list.find(',', start), list.size());
        const std::string name = list.substr(start, end - start);
        if (name == "memory") {
            checks |= CHECK_MEMORY;
        } else if (name == "sync") {
            checks |= CHECK_SYNC;
        } else if (name == "leaks") {
            checks |= CHECK_LEAKS;
        } else {
            throw std::invalid_argument("ACLEMU_CHECK has \"" + name +
                                        "\"; it must be a list of memory, sync and leaks");
        }
        start = end + 1;
    }
    return checks;
}

std::atomic<unsigned> &Current()
{
    static std::atomic<unsigned> checks{Parse(EnvironmentText("ACLEMU_CHECK"))};
    return checks;
}

} // namespace

unsigned Checks()
{
    return Current().load(std::memory_order_relaxed);
}

void SetChecks(const std::string &list)
{
    const unsigned checks = Parse(list);
    Current().store(checks, std::memory_order_relaxed);
}

aclError CheckUnused(const char *parameter, const void *address, size_t size, bool written)
{
    if ((Checks() & CHECK_SYNC) == 0) {
        return ACL_SUCCESS;
    }
    for (const auto &stream : Streams().Select([](const Stream &) { return true; })) {
        std::string task;
        std::string name;
        if (stream->queue->InUse(address, size, written, &task, &name)) {
            return Fail(ACL_ERROR_RT_PARAM_INVALID,
                        "%s %p is %s of %s, which is not finished on stream %d; synchronise before the host "
                        "uses or frees it",
                        parameter, address, name.c_str(), task.c_str(), stream->id);
        }
    }
    return ACL_SUCCESS;
}

aclError WaitUnused(const char *parameter, const void *address, size_t size)
{
    const aclError status = CheckUnused(parameter, address, size, true);
    if (status != ACL_SUCCESS) {
        return status;
    }
    for (const auto &stream : Streams().Select([](const Stream &) { return true; })) {
        std::string task;
        std::string name;
        while (stream->queue->InUse(address, size, true, &task, &name)) {
            if (stream->queue->IsWorker()) {
                return Fail(ACL_ERROR_RT_PARAM_INVALID,
                            "%s %p is %s of %s, which waits on stream %d for the function that makes this call",
                            parameter, address, name.c_str(), task.c_str(), stream->id);
            }
            stream->queue->Wait(stream->queue->Last(), -1);
        }
    }
    return ACL_SUCCESS;
}

bool UsesMatter()
{
    return Checks() != 0 || AnyRegistered();
}

std::string FindDamage(const Uses *uses)
{
    if ((Checks() & CHECK_MEMORY) == 0) {
        return "";
    }
    Damage damage;
    if (!InspectDeviceMemory(&damage)) {
        return "";
    }
    char address[32];
    std::snprintf(address, sizeof(address), "%p", damage.base);
    std::string what = "the allocation";
    for (const Use &use : uses != nullptr ? *uses : Uses()) {
        const auto *at = static_cast<const char *>(use.address);
        const auto *base = static_cast<const char *>(damage.base);
        if (at >= base && at < base + damage.size) {
            what = use.name + " in the allocation";
            break;
        }
    }
    const std::string bytes = std::to_string(damage.bytes) + (damage.bytes == 1 ? " byte" : " bytes");
    std::string where;
    switch (damage.place) {
        case Damage::BEFORE:
            where = "before the start of ";
            break;
        case Damage::BEHIND:
            where = "behind the end of ";
            break;
        case Damage::FREED:
            where = "in freed memory, ";
            break;
    }
    return "wrote " + bytes + " " + where + what + " at " + address + " of " + std::to_string(damage.size) +
           " bytes on device " + std::to_string(damage.device) + ", the first at offset " +
           std::to_string(damage.offset);
}

} // namespace aclemu
