// Dense copies of random strided views against the definition and back, and views that leave their memory.
#include <cstdint>
#include <random>
#include <vector>

#include "check.h"
#include "nnopbase/contiguous.h"

namespace {

aclTensor *Create(const std::vector<int64_t> &shape, const std::vector<int64_t> &strides, int64_t offset,
                  aclDataType type, int64_t elements, void *data)
{
    return aclCreateTensor(shape.data(), shape.size(), type, strides.data(), offset, ACL_FORMAT_ND, &elements,
                           1, data);
}

int RunCopy(const aclTensor *tensor, void *workspace, uint64_t bytes, uint64_t at, bool back = false)
{
    nnop::Plan plan;
    plan.opName = "aclnnDense";
    plan.workspaceSize = bytes;
    plan.tensors = {tensor};
    plan.inputs = back ? 0 : 1;
    plan.launches.push_back(back ? nnop::CopyBack(tensor, at) : nnop::MakeContiguous(tensor, at));
    uint64_t size = 0;
    aclOpExecutor *executor = nullptr;
    aclrtStream stream = nullptr;
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(nnop::Publish(std::move(plan), &size, &executor));
    CHECK_OK(nnop::Run("aclnnDense", workspace, bytes, executor, stream));
    const int code = aclrtSynchronizeStream(stream);
    CHECK_OK(aclrtDestroyStream(stream));
    return code;
}

void Random(std::mt19937 &random)
{
    constexpr aclDataType types[] = {ACL_INT8, ACL_BF16, ACL_FLOAT, ACL_INT64, ACL_COMPLEX128};
    const aclDataType type = types[random() % 5];
    const auto bytes = static_cast<int64_t>(nnop::TypeSize(type));
    const size_t rank = random() % 7;
    std::vector<int64_t> shape(rank);
    std::vector<int64_t> strides(rank);
    int64_t lowest = 0;
    int64_t highest = 0;
    int64_t dense = 1;
    for (size_t i = rank; i-- > 0;) {
        shape[i] = static_cast<int64_t>(1 + random() % 5);
        const auto choice = random() % 4;
        strides[i] = choice == 0   ? 0
                     : choice == 1 ? -static_cast<int64_t>(random() % 9)
                                   : dense * (choice == 2 ? 1 : 2);
        dense *= shape[i];
        const int64_t span = (shape[i] - 1) * strides[i];
        (span < 0 ? lowest : highest) += span;
    }
    const int64_t offset = -lowest;
    const int64_t elements = offset + highest + 1;
    void *device = nullptr;
    void *workspace = nullptr;
    const auto size = static_cast<size_t>(elements * bytes);
    CHECK_OK(aclrtMalloc(&device, size, ACL_MEM_MALLOC_HUGE_FIRST));
    for (size_t i = 0; i < size; ++i) {
        static_cast<unsigned char *>(device)[i] = static_cast<unsigned char>(random());
    }
    aclTensor *tensor = Create(shape, strides, offset, type, elements, device);
    const uint64_t count = static_cast<uint64_t>(tensor->Size());
    CHECK(nnop::DenseBytes(*tensor) == count * static_cast<uint64_t>(bytes));
    CHECK_OK(aclrtMalloc(&workspace, nnop::DenseBytes(*tensor) + 64, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(RunCopy(tensor, workspace, nnop::DenseBytes(*tensor) + 64, 64));
    const auto at = [&](uint64_t flat) { // of an element of the view, in the storage
        int64_t from = offset;
        for (size_t i = rank; i-- > 0;) {
            from += static_cast<int64_t>(flat % static_cast<uint64_t>(shape[i])) * strides[i];
            flat /= static_cast<uint64_t>(shape[i]);
        }
        return static_cast<size_t>(from * bytes);
    };
    const auto step = static_cast<size_t>(bytes);
    unsigned char *packed = static_cast<unsigned char *>(workspace) + 64;
    for (uint64_t flat = 0; flat < count; ++flat) {
        CHECK(std::memcmp(packed + flat * step, static_cast<unsigned char *>(device) + at(flat), step) == 0);
    }

    // And back, with other values; what the view does not reach stays.
    std::vector<unsigned char> wanted(static_cast<unsigned char *>(device), static_cast<unsigned char *>(device) + size);
    for (size_t i = 0; i < count * step; ++i) {
        packed[i] = static_cast<unsigned char>(random());
    }
    for (uint64_t flat = 0; flat < count; ++flat) {
        std::memcpy(wanted.data() + at(flat), packed + flat * step, step);
    }
    CHECK_OK(RunCopy(tensor, workspace, nnop::DenseBytes(*tensor) + 64, 64, true));
    CHECK(std::memcmp(wanted.data(), device, size) == 0);
    CHECK_OK(aclDestroyTensor(tensor));
    CHECK_OK(aclrtFree(device));
    CHECK_OK(aclrtFree(workspace));
}

void Outside()
{
    void *device = nullptr;
    void *workspace = nullptr;
    CHECK_OK(aclrtMalloc(&device, 40, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMalloc(&workspace, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    const auto code = [&](std::vector<int64_t> shape, std::vector<int64_t> strides, int64_t offset,
                          void *data) {
        aclTensor *tensor = Create(shape, strides, offset, ACL_FLOAT, 10, data);
        (void)RecentText();
        const int result = RunCopy(tensor, workspace, 4096, 0);
        CHECK((result == 0) == RecentText().empty());
        CHECK(RunCopy(tensor, workspace, 4096, 0, true) == result);
        CHECK_OK(aclDestroyTensor(tensor));
        return result;
    };
    constexpr int fault = ACL_ERROR_RT_VECTOR_CORE_EXCEPTION;
    CHECK(code({5}, {2}, 1, device) == 0);
    CHECK(code({5}, {2}, 2, device) == fault);
    CHECK(code({6}, {2}, 0, device) == fault);
    CHECK(code({5}, {-2}, 8, device) == 0);
    CHECK(code({5}, {-2}, 7, device) == fault);
    CHECK(code({2, 2}, {INT64_MAX, INT64_MAX}, 0, device) == fault);
    CHECK(code({2, 2}, {INT64_MIN, 1}, 0, device) == fault);
    CHECK(code({INT64_MAX, INT64_MAX}, {INT64_MAX, 3}, 0, device) == fault);
    CHECK(code({4}, {2}, INT64_MAX, device) == fault);
    CHECK(code({4}, {2}, 0, nullptr) == fault);
    CHECK(code({4}, {2}, 0, workspace) == 0);
    CHECK(code({4, 0}, {2, 9}, 0, nullptr) == 0); // nothing to copy
    CHECK_OK(aclrtFree(device));
    CHECK(code({2}, {2}, 0, device) == fault);
    CHECK_OK(aclrtFree(workspace));
}

} // namespace

int main()
{
    CHECK_OK(aclrtSetDevice(0));
    std::mt19937 random(7);
    for (int i = 0; i < 500; ++i) {
        Random(random);
    }
    Outside();
    CHECK_OK(aclrtResetDevice(0));
    return 0;
}
