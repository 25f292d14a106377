#include "ascendc/twin/fault.h"

#include <cstdarg>
#include <cstdio>

#include "ascendc/twin/core.h"

namespace ascendc {
namespace {

std::string FormatList(const char *format, va_list list)
{
    char text[1024];
    const int length = std::vsnprintf(text, sizeof(text), format, list);
    return length < 0 ? std::string(format) : std::string(text);
}

[[noreturn]] void Raise(bool timeout, std::string text)
{
    if (t_core != nullptr) {
        t_core->unwinding = 1;
    }
    throw KernelFault{timeout, std::move(text)};
}

} // namespace

std::string Format(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    std::string text = FormatList(format, list);
    va_end(list);
    return text;
}

void Fail(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    std::string text = FormatList(format, list);
    va_end(list);
    Raise(false, std::move(text));
}

void FailTimeout(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    std::string text = FormatList(format, list);
    va_end(list);
    Raise(true, std::move(text));
}

const char *MemoryName(Memory memory)
{
    switch (memory) {
        case Memory::UB: return "UB";
        case Memory::L1: return "L1";
        case Memory::L0A: return "L0A";
        case Memory::L0B: return "L0B";
        case Memory::L0C: return "L0C";
        case Memory::BIAS: return "the bias table";
        case Memory::FIXPIPE: return "the fixpipe buffer";
        default: return "no memory of a core";
    }
}

const char *PositionName(uint32_t position)
{
    static const char *const names[] = {"GM", "A1", "A2", "B1", "B2", "C1", "C2", "CO1", "CO2", "VECIN", "VECOUT", "VECCALC",
                                        "SPM", "TSCM", "C2PIPE2GM", "C2PIPE2LOCAL"};
    return position < sizeof(names) / sizeof(names[0]) ? names[position] : "?";
}

void FailOperand(const OperandFacts &facts)
{
    if (facts.address == nullptr) {
        Fail("%s: %s is a tensor without memory: take it from a queue or a TBuf first", facts.instruction, facts.operand);
    }
    if (facts.memory != facts.expected) {
        Fail("%s: %s is in %s, but must be in %s", facts.instruction, facts.operand, MemoryName(facts.memory),
             MemoryName(facts.expected));
    }
    const auto memory = static_cast<uint32_t>(facts.memory);
    const uint64_t address = static_cast<uint64_t>(facts.address - t_core->memory[memory]);
    if (facts.alignment > 1 && address % facts.alignment != 0) {
        Fail("%s: %s starts at %s address %llu (0x%llx), which is not a multiple of %u bytes", facts.instruction, facts.operand,
             MemoryName(facts.memory), static_cast<unsigned long long>(address), static_cast<unsigned long long>(address),
             facts.alignment);
    }
    Fail("%s: %s needs %llu bytes, but its tensor has only %llu (%s address %llu)", facts.instruction, facts.operand,
         static_cast<unsigned long long>(facts.need), static_cast<unsigned long long>(facts.have), MemoryName(facts.memory),
         static_cast<unsigned long long>(address));
}

void FailGlobal(const char *instruction, const char *operand, const void *address, uint64_t begin, uint64_t end, uint64_t size)
{
    if (address == nullptr) {
        Fail("%s: %s is a global tensor without an address: call SetGlobalBuffer with one that is not null first", instruction,
             operand);
    }
    Fail("%s: %s covers bytes [%lld, %lld) of its global buffer, which has %llu", instruction, operand,
         static_cast<long long>(begin), static_cast<long long>(end), static_cast<unsigned long long>(size));
}

void FailWrongCore(const char *instruction)
{
    if (t_core->aic != 0) {
        Fail("%s: a vector instruction on a cube core; guard it with ASCEND_IS_AIV", instruction);
    }
    Fail("%s: a cube instruction on a vector core; guard it with ASCEND_IS_AIC", instruction);
}

void FailOverlap(const char *instruction, const char *operand, int64_t distance, uint64_t bytes)
{
    Fail("%s: dst starts %lld bytes into %s, which covers %llu bytes: operands must be the same or must not overlap", instruction,
         static_cast<long long>(distance), operand, static_cast<unsigned long long>(bytes));
}

void FailMemoryFull(const BufferRecord &wanted, uint32_t limit, const BufferRecord *records, uint32_t count)
{
    const uint32_t number = wanted.number == 0 ? 1 : wanted.number;
    std::string text = Format("InitBuffer: %s for %s needs %u x %u bytes at %s address %u, but %s has %u bytes. Held so far:",
                              wanted.number == 0 ? "TBuf" : "queue", PositionName(wanted.position), number, wanted.length,
                              MemoryName(wanted.memory), wanted.address, MemoryName(wanted.memory), limit);
    bool any = false;
    for (uint32_t i = 0; i < count; ++i) {
        if (records[i].memory != wanted.memory) {
            continue;
        }
        const uint32_t parts = records[i].number == 0 ? 1 : records[i].number;
        text += Format("\n  [%7u, %7u) %-7s %s %u x %u", records[i].address, records[i].address + parts * records[i].length,
                       PositionName(records[i].position), records[i].number == 0 ? "TBuf " : "queue", parts, records[i].length);
        any = true;
    }
    if (!any) {
        text += " nothing";
    }
    Raise(false, std::move(text));
}

} // namespace ascendc
