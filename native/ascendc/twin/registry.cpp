#include "ascendc/twin/registry.h"

#include <cstring>

namespace ascendc {
namespace {

// Rank of a level on this processor, -1 if it lacks the instructions.
int LevelRank(const char *level)
{
    if (std::strcmp(level, "baseline") == 0) {
        return 0;
    }
#if defined(__x86_64__)
    __builtin_cpu_init();
#if __GNUC__ >= 12 || defined(__clang__)
    const bool v3 = __builtin_cpu_supports("x86-64-v3");
    const bool v4 = __builtin_cpu_supports("x86-64-v4");
#else
    const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c") && __builtin_cpu_supports("lzcnt") &&
                    __builtin_cpu_supports("movbe");
    const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
#endif
    if (std::strcmp(level, "x86_64_v3") == 0) {
        return v3 ? 1 : -1;
    }
    if (std::strcmp(level, "x86_64_v4") == 0) {
        return v4 ? 2 : -1;
    }
#endif
    return -1;
}

} // namespace

const KernelVariant *FindKernel(const char *op, const char *dtype, unsigned npuArch)
{
    const KernelVariant *best = nullptr;
    int bestRank = -1;
    for (const KernelVariant *row = kKernelVariants; row->op != nullptr; ++row) {
        const int rank = LevelRank(row->level);
        if (rank > bestRank && row->npuArch == npuArch && std::strcmp(row->op, op) == 0 && std::strcmp(row->dtype, dtype) == 0) {
            best = row;
            bestRank = rank;
        }
    }
    return best;
}

} // namespace ascendc
