// Device and host memory, and copies between them.
#include <sys/mman.h>

#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "aclemu.h"
#include "check.h"
#include "runtime/memory.h"

namespace {

constexpr aclrtMemMallocPolicy kPolicy = ACL_MEM_MALLOC_HUGE_FIRST;
constexpr size_t MiB = size_t{1} << 20;
constexpr size_t GiB = size_t{1} << 30;

size_t FreeBytes()
{
    size_t free = 0;
    size_t total = 0;
    CHECK_OK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
    return free;
}

long ResidentPages()
{
    long size = 0;
    long resident = 0;
    std::FILE *file = std::fopen("/proc/self/statm", "r");
    CHECK(file != nullptr && std::fscanf(file, "%ld %ld", &size, &resident) == 2);
    std::fclose(file);
    return resident;
}

void Allocation()
{
    void *address = nullptr;
    CHECK_REFUSED(aclrtMalloc(nullptr, 8, kPolicy), ACL_ERROR_INVALID_PARAM, "devPtr");
    CHECK_REFUSED(aclrtMalloc(&address, 0, kPolicy), ACL_ERROR_INVALID_PARAM, "size is 0");
    CHECK_REFUSED(aclrtMalloc(&address, SIZE_MAX, kPolicy), ACL_ERROR_INVALID_PARAM, "size");
    CHECK_REFUSED(aclrtMalloc(&address, SIZE_MAX / 2, kPolicy), ACL_ERROR_RT_MEMORY_ALLOCATION,
                  "bytes are free");
    CHECK_REFUSED(aclrtMallocForTaskScheduler(&address, 0, kPolicy, nullptr), ACL_ERROR_INVALID_PARAM,
                  "aclrtMallocForTaskScheduler: parameter size is 0");
    CHECK_REFUSED(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM, "devPtr");
    CHECK(address == nullptr);
    const size_t before = FreeBytes();
    for (const size_t size : {size_t{1}, size_t{31}, size_t{32}, size_t{33}, size_t{4096}, 3 * MiB + 5}) {
        CHECK_OK(aclrtMalloc(&address, size, kPolicy));
        CHECK(reinterpret_cast<uintptr_t>(address) % 512 == 0);
        CHECK(before - FreeBytes() == (size + 31) / 32 * 32 + 32);
        aclemu::Allocation found;
        CHECK(aclemu::FindAllocation(static_cast<char *>(address) + size - 1, &found));
        CHECK(found.base == address && found.size == size && found.device == 0);
        CHECK(!aclemu::FindAllocation(static_cast<char *>(address) + size, &found));
        if (size > 1) {
            CHECK_REFUSED(aclrtFree(static_cast<char *>(address) + 1), ACL_ERROR_RT_PARAM_INVALID, "inside");
        }
        aclrtPtrAttributes attributes = {};
        CHECK_OK(aclrtPointerGetAttributes(address, &attributes));
        CHECK(attributes.location.type == ACL_MEM_LOCATION_TYPE_DEVICE && attributes.location.id == 0);
        CHECK_OK(aclrtFree(address));
        CHECK_REFUSED(aclrtFree(address), ACL_ERROR_RT_PARAM_INVALID, "freed already");
        CHECK(FreeBytes() == before && !aclemu::FindAllocation(address, &found));
    }
    CHECK_OK(aclrtMallocAlign32(&address, 33, kPolicy));
    CHECK(before - FreeBytes() == 64);
    CHECK_OK(aclrtFreeWithDevSync(address));
    int local = 0;
    CHECK_REFUSED(aclrtFree(&local), ACL_ERROR_RT_PARAM_INVALID, "not device memory");
    CHECK_REFUSED(aclrtFreeHost(&local), ACL_ERROR_RT_PARAM_INVALID, "hostPtr");
    CHECK_REFUSED(aclrtFreeHost(nullptr), ACL_ERROR_INVALID_PARAM, "hostPtr");
    CHECK_OK(aclrtMallocHost(&address, 100));
    CHECK(aclemuLiveObjects("host_memory") == 1);
    CHECK_OK(aclrtFreeHost(address));
    CHECK_REFUSED(aclrtFreeHost(address), ACL_ERROR_RT_PARAM_INVALID, "freed already");
}

// Many live blocks of many sizes never overlap, and everything comes back.
void Churn()
{
    struct Block {
        unsigned char *address;
        size_t size;
        unsigned char mark;
    };
    std::vector<Block> blocks;
    uint64_t state = 88172645463325252ULL;
    const auto next = [&state] {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state;
    };
    const size_t before = FreeBytes();
    for (int step = 0; step < 20000; ++step) {
        if (blocks.size() < 50 || (next() % 2 == 0 && blocks.size() < 300)) {
            const size_t size = 1 + next() % (size_t{1} << (4 + next() % 14));
            void *address = nullptr;
            CHECK_OK(aclrtMalloc(&address, size, kPolicy));
            const auto mark = static_cast<unsigned char>(next());
            std::memset(address, mark, size);
            blocks.push_back({static_cast<unsigned char *>(address), size, mark});
        } else {
            const size_t at = next() % blocks.size();
            const Block block = blocks[at];
            for (size_t i = 0; i < block.size; i += 97) {
                CHECK(block.address[i] == block.mark);
            }
            CHECK(block.address[block.size - 1] == block.mark);
            CHECK_OK(aclrtFree(block.address));
            blocks[at] = blocks.back();
            blocks.pop_back();
        }
    }
    for (const Block &block : blocks) {
        CHECK_OK(aclrtFree(block.address));
    }
    CHECK(FreeBytes() == before && aclemuLiveObjects("device_memory") == 0);
}

void Capacity() // with ACLEMU_MEMORY=1G
{
    CHECK(FreeBytes() == GiB);
    void *first = nullptr;
    void *second = nullptr;
    CHECK_OK(aclrtMalloc(&first, GiB - MiB, kPolicy));
    CHECK_REFUSED(aclrtMalloc(&second, 2 * MiB, kPolicy), ACL_ERROR_RT_MEMORY_ALLOCATION,
                  "no room for 2097152 bytes");
    CHECK(second == nullptr);
    CHECK_OK(aclrtMalloc(&second, MiB - 64, kPolicy));
    CHECK_OK(aclrtFree(first));
    CHECK_OK(aclrtFree(second));
    CHECK_CODE(aclrtMalloc(&first, GiB + 1, kPolicy), ACL_ERROR_RT_MEMORY_ALLOCATION);
}

void LargeIsCheap()
{
    const long before = ResidentPages();
    void *large = nullptr;
    CHECK_OK(aclrtMalloc(&large, 60 * GiB, kPolicy));
    CHECK_OK(aclrtMemset(static_cast<char *>(large) + 59 * GiB, MiB, 1, MiB));
    CHECK((ResidentPages() - before) * 4096 < static_cast<long>(64 * MiB));
    CHECK_OK(aclrtFree(large));
    // What is freed again and again is kept, within a limit.
    for (int i = 0; i < 200; ++i) {
        CHECK_OK(aclrtMalloc(&large, 512 * MiB, kPolicy));
        CHECK_OK(aclrtMemset(large, MiB, i, MiB));
        CHECK_OK(aclrtFree(large));
        CHECK_OK(aclrtMalloc(&large, MiB + i * 4096, kPolicy));
        CHECK_OK(aclrtMemset(large, MiB, i, MiB));
        CHECK_OK(aclrtFree(large));
    }
    CHECK((ResidentPages() - before) * 4096 < static_cast<long>(600 * MiB));
}

// A count of 0 is refused, after everything else that can be wrong.
void NothingToDo(void *a, void *b)
{
    const aclrtStream dead = reinterpret_cast<aclrtStream>(0x10);
    constexpr aclrtMemcpyKind kind = ACL_MEMCPY_DEFAULT;
    CHECK_REFUSED(aclrtMemcpy(nullptr, 0, nullptr, 0, kind), ACL_ERROR_INVALID_PARAM, "dst");
    CHECK_REFUSED(aclrtMemcpy(a, 0, b, 0, static_cast<aclrtMemcpyKind>(9)), ACL_ERROR_INVALID_PARAM, "kind is 9");
    CHECK_REFUSED(aclrtMemcpy(a, 4, b, 0, kind), ACL_ERROR_INVALID_PARAM, "nothing to copy");
    CHECK_REFUSED(aclrtMemcpyAsync(a, 0, nullptr, 0, kind, nullptr), ACL_ERROR_INVALID_PARAM, "src");
    CHECK_REFUSED(aclrtMemcpyAsync(a, 0, b, 0, kind, dead), ACL_ERROR_RT_STREAM_CONTEXT, "not alive");
    CHECK_REFUSED(aclrtMemcpyAsync(a, 0, b, 0, kind, nullptr), ACL_ERROR_INVALID_PARAM, "nothing to copy");
    CHECK_REFUSED(aclrtMemcpy2d(nullptr, 4, b, 4, 4, 0, kind), ACL_ERROR_INVALID_PARAM, "dst");
    CHECK_REFUSED(aclrtMemcpy2d(a, 4, b, 4, 4, 0, kind), ACL_ERROR_INVALID_PARAM, "0 rows of 4 bytes");
    CHECK_REFUSED(aclrtMemcpy2dAsync(a, 4, b, 4, 0, 2, kind, nullptr), ACL_ERROR_INVALID_PARAM, "2 rows of 0 bytes");
    CHECK_REFUSED(aclrtMemset(nullptr, 0, 0, 0), ACL_ERROR_INVALID_PARAM, "devPtr");
    CHECK_REFUSED(aclrtMemset(a, 4, 0, 0), ACL_ERROR_INVALID_PARAM, "is 0");
    CHECK_REFUSED(aclrtMemsetAsync(nullptr, 0, 0, 0, nullptr), ACL_ERROR_INVALID_PARAM, "devPtr");
    CHECK_REFUSED(aclrtMemsetAsync(a, 4, 0, 0, dead), ACL_ERROR_RT_STREAM_CONTEXT, "not alive");
    CHECK_REFUSED(aclrtMemsetAsync(a, 4, 0, 0, nullptr), ACL_ERROR_INVALID_PARAM, "is 0");
    CHECK_REFUSED(aclrtMemsetD32(a, 4, 0, 0), ACL_ERROR_INVALID_PARAM, "is 0");
    CHECK_REFUSED(aclrtMemsetD32Async(a, 4, 0, 0, nullptr), ACL_ERROR_INVALID_PARAM, "is 0");
    std::thread([&] { // has no context
        CHECK_REFUSED(aclrtMemcpy(a, 4, b, 0, kind), ACL_ERROR_RT_CONTEXT_NULL, "in THIS thread");
        CHECK_REFUSED(aclrtMemset(a, 4, 0, 0), ACL_ERROR_RT_CONTEXT_NULL, "in THIS thread");
    }).join();
}

// Host addresses that nothing is at, or that may not be written.
void WrongHostMemory(void *a)
{
    constexpr size_t page = 4096;
    void *low = reinterpret_cast<void *>(0x1000);
    constexpr aclrtMemcpyKind in = ACL_MEMCPY_HOST_TO_DEVICE;
    constexpr aclrtMemcpyKind out = ACL_MEMCPY_DEVICE_TO_HOST;
    CHECK_REFUSED(aclrtMemcpy(a, 8, low, 8, in), ACL_ERROR_RT_PARAM_INVALID, "src 0x1000 are not memory");
    CHECK_REFUSED(aclrtMemcpy(low, 8, a, 8, out), ACL_ERROR_RT_PARAM_INVALID, "dst 0x1000 are not memory");
    CHECK_REFUSED(aclrtMemcpyAsync(a, 8, low, 8, in, nullptr), ACL_ERROR_RT_PARAM_INVALID, "src 0x1000");
    CHECK_REFUSED(aclrtMemcpy(a, 8, reinterpret_cast<void *>(UINTPTR_MAX - 3), 8, in), ACL_ERROR_RT_PARAM_INVALID, "src");
    void *devPtr = nullptr;
    CHECK_REFUSED(aclrtHostRegister(low, page, ACL_HOST_REGISTER_MAPPED, &devPtr), ACL_ERROR_RT_PARAM_INVALID,
                  "ptr 0x1000 are not memory");
    auto *pages = static_cast<char *>(mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    CHECK(pages != MAP_FAILED && munmap(pages + 2 * page, page) == 0 && mprotect(pages + page, page, PROT_READ) == 0);
    CHECK_OK(aclrtMemcpy(a, 8, pages + page, 8, in));
    CHECK_REFUSED(aclrtMemcpy(pages + page - 4, 8, a, 8, out), ACL_ERROR_RT_PARAM_INVALID, "can write");
    CHECK_REFUSED(aclrtMemcpy(a, 8, pages + 2 * page - 4, 8, in), ACL_ERROR_RT_PARAM_INVALID, "can read");
    CHECK_REFUSED(aclrtHostRegisterV2(pages, 3 * page, ACL_HOST_REG_MAPPED), ACL_ERROR_RT_PARAM_INVALID, "not memory");

    // Memory that goes right after it was unregistered: what is queued must be through with it.
    CHECK_OK(aclrtHostRegister(pages, page, ACL_HOST_REGISTER_MAPPED, &devPtr));
    pages[0] = 77;
    CHECK_OK(aclrtLaunchHostFunc(
        nullptr, [](void *) { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }, nullptr));
    CHECK_OK(aclrtMemcpyAsync(a, 8, pages, 8, in, nullptr));
    CHECK_OK(aclrtHostUnregister(pages));
    CHECK(munmap(pages, 2 * page) == 0);
    CHECK_OK(aclrtSynchronizeStream(nullptr));
    char first = 0;
    CHECK_OK(aclrtMemcpy(&first, 1, a, 1, out));
    CHECK(first == 77);
    CHECK_REFUSED(aclrtHostUnregister(pages), ACL_ERROR_RT_PARAM_INVALID, "not the start of registered memory");
}

void Copies()
{
    constexpr size_t count = 1000;
    std::vector<unsigned char> in(count);
    std::vector<unsigned char> out(count);
    for (size_t i = 0; i < count; ++i) {
        in[i] = static_cast<unsigned char>(i * 7);
    }
    void *a = nullptr;
    void *b = nullptr;
    void *pinned = nullptr;
    CHECK_OK(aclrtMalloc(&a, count, kPolicy));
    CHECK_OK(aclrtMalloc(&b, count, kPolicy));
    CHECK_OK(aclrtMallocHost(&pinned, count));
    NothingToDo(a, b);
    WrongHostMemory(a);
    CHECK_OK(aclrtMemcpy(a, count, in.data(), count, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK_OK(aclrtMemcpy(b, count, a, count, ACL_MEMCPY_DEVICE_TO_DEVICE));
    CHECK_OK(aclrtMemcpy(out.data(), count, b, count, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(in == out);
    CHECK_OK(aclrtMemcpy(a, 10, a, 10, ACL_MEMCPY_DEFAULT));
    CHECK_REFUSED(aclrtMemcpy(nullptr, 4, a, 4, ACL_MEMCPY_DEFAULT), ACL_ERROR_INVALID_PARAM, "dst");
    CHECK_REFUSED(aclrtMemcpy(a, 4, nullptr, 4, ACL_MEMCPY_DEFAULT), ACL_ERROR_INVALID_PARAM, "src");
    CHECK_REFUSED(aclrtMemcpy(a, 3, b, 4, ACL_MEMCPY_DEFAULT), ACL_ERROR_RT_PARAM_INVALID, "destMax");
    CHECK_REFUSED(aclrtMemcpy(a, count + 1, out.data(), count + 1, ACL_MEMCPY_DEFAULT),
                  ACL_ERROR_RT_PARAM_INVALID, "dst");
    CHECK_REFUSED(aclrtMemcpy(out.data(), 2 * count, a, count + 1, ACL_MEMCPY_DEFAULT),
                  ACL_ERROR_RT_PARAM_INVALID, "src");
    CHECK_REFUSED(aclrtMemcpy(pinned, 2 * count, a, count + 1, ACL_MEMCPY_DEFAULT),
                  ACL_ERROR_RT_PARAM_INVALID, "dst");
    CHECK_REFUSED(aclrtMemcpy(a, 4, b, 4, static_cast<aclrtMemcpyKind>(9)), ACL_ERROR_INVALID_PARAM,
                  "kind is 9");
    CHECK_OK(aclrtMemcpy(a, 4, b, 4, ACL_MEMCPY_HOST_TO_HOST)); // the addresses decide
    CHECK_REFUSED(aclrtMemcpyAsync(a, 4, b, 4, ACL_MEMCPY_HOST_TO_DEVICE, nullptr),
                  ACL_ERROR_RT_PARAM_INVALID, "kind is 1");
    CHECK_OK(aclrtMemcpyAsync(pinned, count, a, count, ACL_MEMCPY_DEVICE_TO_HOST, nullptr));
    CHECK_OK(aclrtMemsetAsync(a, count, 0, count, nullptr));
    CHECK_OK(aclrtSynchronizeStream(nullptr));
    CHECK(std::memcmp(pinned, in.data(), count) == 0); // the copy came before the memset
    {
        std::vector<unsigned char> passing(count, 9); // pageable memory may go when the call returns
        CHECK_OK(aclrtMemcpyAsync(a, count, passing.data(), count, ACL_MEMCPY_HOST_TO_DEVICE, nullptr));
    }
    CHECK_OK(aclrtMemcpy(out.data(), count, a, count, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(out[0] == 9 && out[count - 1] == 9);
    CHECK_OK(aclrtMemset(a, count, 0x1FF, 10)); // the low byte
    CHECK_OK(aclrtMemcpy(out.data(), count, a, count, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(out[9] == 0xFF && out[10] == 9);
    CHECK_REFUSED(aclrtMemset(a, 4, 0, 5), ACL_ERROR_RT_PARAM_INVALID, "maxCount");
    CHECK_REFUSED(aclrtMemset(a, 2 * count, 0, 2 * count), ACL_ERROR_RT_PARAM_INVALID,
                  "beyond its allocation");
    CHECK_REFUSED(aclrtMemset(out.data(), 4, 0, 4), ACL_ERROR_RT_PARAM_INVALID, "not allocated by");
    CHECK_REFUSED(aclrtMemset(nullptr, 4, 0, 4), ACL_ERROR_INVALID_PARAM, "devPtr");

    // Rows of 3 out of rows of 10 into rows of 5.
    CHECK_OK(aclrtMemcpy(a, count, in.data(), count, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK_OK(aclrtMemcpy2d(out.data(), 5, a, 10, 3, 100, ACL_MEMCPY_DEVICE_TO_HOST));
    for (size_t row = 0; row < 100; ++row) {
        CHECK(std::memcmp(&out[row * 5], &in[row * 10], 3) == 0);
    }
    CHECK_REFUSED(aclrtMemcpy2d(out.data(), 2, a, 10, 3, 2, ACL_MEMCPY_DEFAULT), ACL_ERROR_INVALID_PARAM,
                  "width");
    CHECK_REFUSED(aclrtMemcpy2d(out.data(), 10, a, 10, 3, 101, ACL_MEMCPY_DEFAULT),
                  ACL_ERROR_RT_PARAM_INVALID, "src");
    CHECK_OK(aclrtFree(b));
    CHECK_REFUSED(aclrtMemcpy(out.data(), 4, b, 4, ACL_MEMCPY_DEFAULT), ACL_ERROR_RT_PARAM_INVALID,
                  "not allocated");
    CHECK_REFUSED(aclrtMemcpyAsync(b, 4, a, 4, ACL_MEMCPY_DEFAULT, nullptr), ACL_ERROR_RT_PARAM_INVALID,
                  "not allocated");
    CHECK_OK(aclrtFree(a));
    CHECK_OK(aclrtFreeHost(pinned));
}

} // namespace

int main(int argc, char **argv)
{
    const std::string scenario = argc > 1 ? argv[1] : "";
    CHECK_OK(aclrtSetDevice(0));
    if (scenario == "allocation") {
        Allocation();
    } else if (scenario == "churn") {
        Churn();
    } else if (scenario == "capacity") {
        Capacity();
    } else if (scenario == "large") {
        LargeIsCheap();
    } else if (scenario == "copies") {
        Copies();
    } else {
        return 2;
    }
    CHECK_OK(aclrtResetDevice(0));
    return 0;
}
