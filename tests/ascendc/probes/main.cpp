// The one C function that the tests call.
#include <cstdio>
#include <cstring>

#include "ascendc/twin/launch.h"
#include "probe.h"

namespace {

ProbeBody Find(const char *name)
{
    for (const Probe *table : {kVectorProbes, kReduceProbes, kCopyProbes, kCubeProbes, kCoreProbes, kCompareProbes}) {
        for (const Probe *row = table; row->name != nullptr; ++row) {
            if (std::strcmp(row->name, name) == 0) {
                return row->body;
            }
        }
    }
    return nullptr;
}

} // namespace

// Runs a probe; returns the ascendc::Fault and its message, or -1 if there is no such probe.
extern "C" int probe_run(const char *name, int taskType, unsigned blockDim, unsigned threads, unsigned npuArch, uint64_t tilingKey,
                         const ProbeArgs *args, char *message, size_t size)
{
    const ProbeBody body = Find(name);
    if (body == nullptr) {
        return -1;
    }
    ascendc::LaunchConfig config;
    config.kernel = "probe";
    config.taskType = static_cast<ascendc::TaskType>(taskType);
    config.blockDim = blockDim;
    config.threads = threads;
    config.npuArch = npuArch;
    config.tilingKey = tilingKey;
    config.memory = {196608, 8192, 524288, 65536, 65536, 131072, 1024};
    const ascendc::LaunchResult result = ascendc::Launch(config, [body, args] { body(*args); });
    std::snprintf(message, size, "%s", result.message.c_str());
    return static_cast<int>(result.fault);
}
