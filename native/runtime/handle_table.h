// Opaque handles and the objects behind them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "runtime/export.h"

namespace aclemu {

// A value that no object of any kind had before, so that a stale handle or one of another kind is never
// mistaken for a live one. Above 4 GiB, as addresses are: a program that keeps handles in 32 bits fails here
// as on the device.
ACLEMU_API void *NewHandle();

template <typename T>
class HandleTable {
public:
    void Insert(const void *handle, std::shared_ptr<T> object)
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        objects_.emplace(handle, std::move(object));
    }

    // nullptr if the handle is not alive; as for Remove.
    std::shared_ptr<T> Find(const void *handle)
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto found = objects_.find(handle);
        return found != objects_.end() ? found->second : nullptr;
    }

    std::shared_ptr<T> Remove(const void *handle)
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto found = objects_.find(handle);
        if (found == objects_.end()) {
            return nullptr;
        }
        std::shared_ptr<T> object = std::move(found->second);
        objects_.erase(found);
        return object;
    }

    template <typename Predicate>
    std::vector<std::shared_ptr<T>> Select(Predicate predicate)
    {
        std::vector<std::shared_ptr<T>> selected;
        const std::lock_guard<std::mutex> lock(mutex_);
        for (const auto &entry : objects_) {
            if (predicate(*entry.second)) {
                selected.push_back(entry.second);
            }
        }
        return selected;
    }

    // For fork handlers.
    void Lock() { mutex_.lock(); }
    void Unlock() { mutex_.unlock(); }

private:
    std::mutex mutex_;
    std::unordered_map<const void *, std::shared_ptr<T>> objects_;
};

} // namespace aclemu
