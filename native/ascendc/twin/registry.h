// The kernels compiled into this library, one row per operator, dtype, architecture and SIMD level.
#pragma once

namespace ascendc {

struct KernelVariant {
    const char *op;
    const char *dtype;
    unsigned npuArch;  // 2201 or 3510
    const char *level; // baseline, x86_64_v3, ...
    void (*entry)();   // to be cast to the kernel's signature
};

extern const KernelVariant kKernelVariants[]; // ends with a row of nulls; made by CMake

// The variant for the best SIMD level this processor has, or nullptr if the operator was not compiled for `dtype`
// and `npuArch`.
const KernelVariant *FindKernel(const char *op, const char *dtype, unsigned npuArch);

} // namespace ascendc
