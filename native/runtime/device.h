// The devices this process sees.
#pragma once

#include <cstdint>
#include <vector>

#include "acl/acl_base_rt.h"

namespace aclemu {

// 0 if `deviceId` is a visible device; 207004 when there is none at all, 107001 for another id, 507033 when a
// setting of the emulator is not valid, reported.
aclError CheckDevice(int64_t deviceId);

uint32_t VisibleDevices(); // number; throws std::invalid_argument for a setting that is not valid
const std::vector<int32_t> &VisibleIds(); // their numbers on the machine; throws likewise
bool HasPrimaryContext(int32_t device); // aclrtSetDevice is in force
uint64_t DeviceMemorySize(); // bytes, of each device; throws likewise

// A context that the program makes keeps its device in use, as aclrtSetDevice does.
void HoldDevice(int32_t device);
void DropDevice(int32_t device);

// Waits for all streams of `device`; the first fault or time-out is returned, after all were waited for.
aclError SynchronizeDevice(int32_t device, int64_t timeoutMs);

} // namespace aclemu
