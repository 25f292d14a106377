// A value per thread that stays usable while the process ends.
#pragma once

namespace aclemu {

// A plain thread_local object is gone when static destructors or late callbacks of its thread run; this one
// is made anew for them (and then never freed).
template <typename T>
T &ThreadValue()
{
    struct Owner {
        T **slot;
        ~Owner()
        {
            T *value = *slot;
            *slot = nullptr;
            delete value;
        }
    };
    static thread_local T *value = nullptr;
    static thread_local bool owned = false;
    if (value == nullptr) {
        value = new T();
        if (!owned) {
            owned = true;
            static thread_local Owner owner{&value};
            (void)owner;
        }
    }
    return *value;
}

} // namespace aclemu
