#include "nnopbase/registry.h"

#include <pthread.h>

#include <cstdio>
#include <mutex>
#include <string>
#include <unordered_map>

#include "nnopbase/tensor.h"
#include "runtime/counters.h"

namespace nnop {
namespace {

struct Entry {
    Type type;
    uint64_t serial;
};

struct Registry {
    std::mutex mutex;
    std::unordered_map<const void *, Entry> entries;
    uint64_t lastSerial = 0;

    Registry();
};

// Never destroyed: objects may be released while static objects are.
Registry &Objects()
{
    static auto *registry = new Registry();
    return *registry;
}

std::string DescribeTensors()
{
    constexpr size_t most = 20; // listed one by one
    std::string text;
    size_t count = 0;
    Registry &registry = Objects();
    const std::lock_guard<std::mutex> lock(registry.mutex);
    for (const auto &entry : registry.entries) {
        if (entry.second.type != Type::TENSOR) {
            continue;
        }
        if (++count <= most) {
            const auto *tensor = static_cast<const aclTensor *>(entry.first);
            char address[32];
            std::snprintf(address, sizeof(address), "%p", tensor->address);
            text += "  " + ToString(tensor->dataType) + " " + ToString(tensor->viewShape) + " at " + address + "\n";
        }
    }
    return count <= most ? text : text + "  and " + std::to_string(count - most) + " more\n";
}

// A fork may still release the objects it inherited, so the lock must not be left held by a thread it does
// not have.
Registry::Registry()
{
    aclemu::DescribeLive(aclemu::Kind::TENSOR, DescribeTensors);
    pthread_atfork([] { Objects().mutex.lock(); }, [] { Objects().mutex.unlock(); },
                   [] { Objects().mutex.unlock(); });
}

aclemu::Kind KindOf(Type type)
{
    switch (type) {
        case Type::TENSOR:
            return aclemu::Kind::TENSOR;
        case Type::SCALAR:
            return aclemu::Kind::SCALAR;
        case Type::TENSOR_LIST:
        case Type::SCALAR_LIST:
            return aclemu::Kind::LIST;
        default:
            return aclemu::Kind::ARRAY;
    }
}

} // namespace

void Register(const void *object, Type type)
{
    Registry &registry = Objects();
    {
        const std::lock_guard<std::mutex> lock(registry.mutex);
        registry.entries[object] = {type, ++registry.lastSerial};
    }
    aclemu::CountObject(KindOf(type), 1);
}

bool Unregister(const void *object, Type type)
{
    Registry &registry = Objects();
    {
        const std::lock_guard<std::mutex> lock(registry.mutex);
        const auto found = registry.entries.find(object);
        if (found == registry.entries.end() || found->second.type != type) {
            return false;
        }
        registry.entries.erase(found);
    }
    aclemu::CountObject(KindOf(type), -1);
    return true;
}

uint64_t SerialOf(const void *object, Type type)
{
    Registry &registry = Objects();
    const std::lock_guard<std::mutex> lock(registry.mutex);
    const auto found = registry.entries.find(object);
    return found != registry.entries.end() && found->second.type == type ? found->second.serial : 0;
}

} // namespace nnop
