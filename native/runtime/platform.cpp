#include "runtime/platform.h"

#include <sched.h>

#include <cstring>
#include <stdexcept>
#include <string>

#include "runtime/environment.h"

namespace aclemu {
namespace {

constexpr uint64_t KiB = 1024;
constexpr uint64_t MiB = 1024 * KiB;

constexpr Platform Dav2201(const char *soc, uint32_t aicCores)
{
    return {soc, 2201, aicCores, 2 * aicCores, 192 * KiB, 8 * KiB, 512 * KiB, 64 * KiB, 64 * KiB, 128 * KiB,
            1 * KiB, 16 * MiB, 192 * MiB};
}

// 248 KiB of UB are usable; that the chip has 256 KiB and keeps the last 8 is assumed from the 2201.
constexpr Platform Dav3510(const char *soc, uint32_t aicCores)
{
    return {soc, 3510, aicCores, 2 * aicCores, 256 * KiB, 8 * KiB, 512 * KiB, 64 * KiB, 64 * KiB, 256 * KiB,
            4 * KiB, 16 * MiB, 128 * MiB};
}

constexpr Platform kPlatforms[] = {
    Dav2201("Ascend910B1", 24),     Dav2201("Ascend910B2", 24),     Dav2201("Ascend910B2C", 24),
    Dav2201("Ascend910B3", 20),     Dav2201("Ascend910B4", 20),     Dav2201("Ascend910_9362", 20),
    Dav2201("Ascend910_9372", 20),  Dav2201("Ascend910_9381", 24),  Dav2201("Ascend910_9382", 24),
    Dav2201("Ascend910_9391", 24),  Dav2201("Ascend910_9392", 24),  Dav3510("Ascend950PR_9579", 28),
    Dav3510("Ascend950PR_958b", 32),
};

constexpr unsigned kMaxCores = 256;

std::string KnownNames()
{
    std::string names;
    for (const Platform &row : kPlatforms) {
        names += names.empty() ? "" : ", ";
        names += row.soc;
    }
    return names;
}

// "20" means 20 cube cores with their 40 vector cores, "4:7" names both.
void OverrideCores(Platform *platform, const std::string &value)
{
    unsigned counts[2] = {0, 0};
    size_t used = 0;
    size_t at = 0;
    bool valid = true;
    while (valid) {
        const size_t start = at;
        while (at < value.size() && value[at] >= '0' && value[at] <= '9' && at - start < 4) {
            counts[used] = counts[used] * 10 + static_cast<unsigned>(value[at++] - '0');
        }
        valid = at > start && counts[used] >= 1 && counts[used] <= kMaxCores;
        ++used;
        if (at == value.size()) {
            break;
        }
        valid = valid && value[at++] == ':' && used < 2;
    }
    if (!valid) {
        throw std::invalid_argument("ACLEMU_AICORES is \"" + value +
                                    "\"; it must be a number of cube cores such as 20, or cube:vector such as "
                                    "4:7, each from 1 to " +
                                    std::to_string(kMaxCores));
    }
    platform->aicCores = counts[0];
    platform->aivCores = used == 2 ? counts[1] : 2 * counts[0];
}

Platform ChoosePlatform()
{
    const std::string soc = EnvironmentText("ACLEMU_SOC");
    const Platform *row = FindPlatform(soc.empty() ? "Ascend910B3" : soc.c_str());
    if (row == nullptr) {
        throw std::invalid_argument("ACLEMU_SOC is \"" + soc + "\"; it must be one of " + KnownNames());
    }
    Platform platform = *row;
    const std::string cores = EnvironmentText("ACLEMU_AICORES");
    if (!cores.empty()) {
        OverrideCores(&platform, cores);
    }
    return platform;
}

int64_t UsableCpus()
{
    cpu_set_t set;
    CPU_ZERO(&set);
    // Fails on machines with more CPUs than the set holds; one thread is right everywhere.
    return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

} // namespace

const Platform *FindPlatform(const char *soc)
{
    for (const Platform &row : kPlatforms) {
        if (std::strcmp(row.soc, soc) == 0) {
            return &row;
        }
    }
    return nullptr;
}

const Platform &CurrentPlatform()
{
    static const Platform platform = ChoosePlatform();
    return platform;
}

uint32_t WorkerThreads()
{
    static const uint32_t threads =
        static_cast<uint32_t>(EnvironmentInteger("ACLEMU_THREADS", UsableCpus(), 1, 1024));
    return threads;
}

} // namespace aclemu
