#include "runtime/fault.h"

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "runtime/environment.h"

namespace aclemu {
namespace {

struct Faults {
    std::atomic<uint64_t> allocation{0}; // how many more until the one that fails, 0 for none
    std::atomic<aclError> synchronize{0};
    std::atomic<bool> anyOperator{false};
    std::mutex mutex;
    std::map<std::pair<std::string, int>, int32_t> operators;
};

Faults &Wanted()
{
    static auto *faults = new Faults();
    return *faults;
}

int64_t Number(const std::string &setting, const std::string &text)
{
    char *end = nullptr;
    const long long number = std::strtoll(text.c_str(), &end, 10);
    if (text.empty() || *end != '\0' || number <= 0 || number > INT32_MAX) {
        throw std::invalid_argument("ACLEMU_FAULTS has \"" + setting +
                                    "\"; after = there must be a whole number above 0");
    }
    return number;
}

void Set(const std::string &setting)
{
    const size_t equals = setting.find('=');
    const std::string name = setting.substr(0, equals);
    const int64_t number = Number(setting, equals == std::string::npos ? "" : setting.substr(equals + 1));
    const size_t dot = name.find('.');
    const std::string phase = dot == std::string::npos ? "" : name.substr(dot + 1);
    if (name == "allocation") {
        SetAllocationFault(static_cast<uint64_t>(number));
    } else if (name == "synchronize") {
        SetSynchronizeFault(static_cast<aclError>(number));
    } else if (phase == "1" || phase == "2") {
        SetOperatorFault(name.substr(0, dot), phase[0] - '0', static_cast<int32_t>(number));
    } else {
        throw std::invalid_argument("ACLEMU_FAULTS has \"" + setting +
                                    "\"; it must be allocation=n, synchronize=code or operator.phase=code");
    }
}

} // namespace

void ReadFaults()
{
    static const bool read = [] {
        const std::string list = EnvironmentText("ACLEMU_FAULTS");
        for (size_t start = 0; start < list.size();) {
            const size_t end = std::min(list.find(',', start), list.size());
            Set(list.substr(start, end - start));
            start = end + 1;
        }
        return true;
    }();
    (void)read;
}

bool TakeAllocationFault()
{
    std::atomic<uint64_t> &left = Wanted().allocation;
    uint64_t now = left.load(std::memory_order_relaxed);
    while (now != 0 && !left.compare_exchange_weak(now, now - 1)) {
    }
    return now == 1;
}

int32_t OperatorFault(const std::string &op, int phase)
{
    Faults &faults = Wanted();
    if (!faults.anyOperator.load(std::memory_order_relaxed)) {
        return 0;
    }
    const std::lock_guard<std::mutex> lock(faults.mutex);
    const auto found = faults.operators.find({op, phase});
    return found != faults.operators.end() ? found->second : 0;
}

aclError TakeSynchronizeFault()
{
    std::atomic<aclError> &wanted = Wanted().synchronize;
    return wanted.load(std::memory_order_relaxed) == 0 ? 0 : wanted.exchange(0);
}

void SetAllocationFault(uint64_t nth)
{
    Wanted().allocation = nth;
}

void SetOperatorFault(const std::string &op, int phase, int32_t code)
{
    Faults &faults = Wanted();
    const std::lock_guard<std::mutex> lock(faults.mutex);
    if (code == 0) {
        faults.operators.erase({op, phase});
    } else {
        faults.operators[{op, phase}] = code;
    }
    faults.anyOperator = !faults.operators.empty();
}

void SetSynchronizeFault(aclError code)
{
    Wanted().synchronize = code;
}

} // namespace aclemu
