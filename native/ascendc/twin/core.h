// State of one emulated core: what the instruction headers and the scheduler share.
//
// Kernels are compiled once per SIMD level and inline the instruction headers, so nothing here may be an inline function or a
// non-trivial type: the linker would merge the copies of different levels.
#pragma once

#include <cstdint>

namespace ascendc {

enum class Memory : uint8_t { UB, L1, L0A, L0B, L0C, BIAS, FIXPIPE, COUNT };

constexpr uint32_t kMemories = static_cast<uint32_t>(Memory::COUNT);
constexpr uint32_t kEventIds = 8;
constexpr uint32_t kHardEvents = 64;   // at least HardEvent::MAX
constexpr uint32_t kPositions = 32;    // at least TPosition::MAX
constexpr uint32_t kBuffersPerPipe = 64;

struct Core {
    // Identity
    const char *kernel;
    uint64_t tilingKey;
    uint32_t npuArch;
    uint32_t aic;       // 1 on a cube core
    uint32_t block;     // which block of the launch
    uint32_t subBlock;  // which AIV of the block
    uint32_t blockIdx;  // what GetBlockIdx returns
    uint32_t blockNum;
    uint32_t ratio;     // AIV per AIC in MIX kernels, 1 otherwise
    uint32_t mix;       // 1 if the block has both kinds of cores

    // Memories; every base is 4 KiB aligned, so the alignment of a pointer is that of its address on the chip
    uint8_t *memory[kMemories];
    uint32_t memorySize[kMemories];
    uint32_t ubUsable;
    float *scratch;          // room for a Mmad's repacked operands
    uint32_t scratchFloats;

    // Vector mask register
    uint64_t maskLow, maskHigh;
    uint32_t counterMode;

    // Other registers
    uint32_t hf32;           // SetHF32Mode
    uint32_t hf32Trans;
    uint32_t atomicType, atomicOp;
    uint16_t ndNum, srcNdStride, dstNdStride, ndSet;
    uint64_t padValue;
    float deqScale;
    uint32_t accumulator;    // bits of the last ReduceSum result
    uint32_t reduceValue, reduceIndex;
    uint64_t loadPadValue;

    // TPipe
    void *pipe;
    uint8_t eventTaken[kHardEvents];            // bit i: event id i is allocated
    uint8_t eventSet[kHardEvents][kEventIds];   // flags set and not yet waited for
    uint8_t liveTensors[kPositions];

    uint8_t *sysWorkspace;

    // Scheduler
    void *fiber;
    uint32_t unwinding;      // a fault is on its way out: blocking calls return at once
};

#if defined(__GNUC__)
#define ASCENDC_TLS __thread __attribute__((tls_model("initial-exec")))
#define ASCENDC_COLD __attribute__((cold, noinline))
#endif

// The core that this thread runs now. A fiber stays on its thread, so compilers may cache the address.
extern ASCENDC_TLS Core *t_core;

// Stops the core with a message; the scheduler adds which kernel and core.
[[noreturn]] ASCENDC_COLD void Fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
// The same for what the chip would answer with a time-out.
[[noreturn]] ASCENDC_COLD void FailTimeout(const char *format, ...) __attribute__((format(printf, 1, 2)));

// What an instruction knows of one of its operands, for the message.
struct OperandFacts {
    const char *instruction;
    const char *operand;
    const uint8_t *address;
    uint64_t have, need;   // bytes
    Memory memory, expected;
    uint32_t alignment;
};
[[noreturn]] ASCENDC_COLD void FailOperand(const OperandFacts &facts);
[[noreturn]] ASCENDC_COLD void FailGlobal(const char *instruction, const char *operand, const void *address, uint64_t begin,
                                          uint64_t end, uint64_t size);
[[noreturn]] ASCENDC_COLD void FailWrongCore(const char *instruction);
[[noreturn]] ASCENDC_COLD void FailOverlap(const char *instruction, const char *operand, int64_t distance, uint64_t bytes);

// One InitBuffer, kept by TPipe for the map it prints when memory runs out.
struct BufferRecord {
    Memory memory;
    uint8_t position;
    uint8_t number;     // buffers of the queue, 0 for a TBuf
    uint32_t length;    // bytes of one
    uint32_t address;   // offset in its memory
};
[[noreturn]] ASCENDC_COLD void FailMemoryFull(const BufferRecord &wanted, uint32_t limit, const BufferRecord *records,
                                              uint32_t count);
const char *PositionName(uint32_t position);
const char *MemoryName(Memory memory);

// Cross-core flags; mode 0: all cores of a kind, 1: the AIVs of a block, 2: AIC and its AIVs.
void SetCrossCoreFlag(uint32_t mode, uint32_t flag);
void WaitCrossCoreFlag(uint32_t mode, uint32_t flag);

// Held while a copy adds to global memory, so that adds of several threads do not lose each other.
void LockAtomics();
void UnlockAtomics();

} // namespace ascendc
