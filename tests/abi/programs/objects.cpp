// Tensors, scalars, arrays, lists and executors through the C interface.
#include <cmath>
#include <cstdint>
#include <vector>

#include "aclemu.h"
#include "aclnn/aclnn_base.h"
#include "aclnn/opdev/op_errno.h"
#include "check.h"
#include "nnopbase/executor.h"
#include "nnopbase/objects.h"
#include "nnopbase/tensor.h"

namespace {

using Shape = std::vector<int64_t>;

aclTensor *Create(const Shape &shape, aclDataType type = ACL_FLOAT, void *data = nullptr)
{
    return aclCreateTensor(shape.data(), shape.size(), type, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                           shape.size(), data);
}

Shape Read(aclnnStatus (*get)(const aclTensor *, int64_t **, uint64_t *), const aclTensor *tensor)
{
    int64_t *values = nullptr;
    uint64_t count = 99;
    CHECK_OK(get(tensor, &values, &count));
    CHECK(values != nullptr);
    Shape shape(values, values + count);
    delete[] values;
    return shape;
}

void Tensors()
{
    const int64_t shape[] = {2, 3, 4};
    const int64_t strides[] = {1, -2, 0};
    const int64_t storage[] = {100};
    int buffer[4];
    CHECK(aclCreateTensor(nullptr, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, storage, 1, nullptr) == nullptr);
    CHECK(aclCreateTensor(shape, 3, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 1, nullptr) == nullptr);
    CHECK(RecentText().empty());
    CHECK(aclCreateTensor(shape, 1U << 30, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, storage, 1, nullptr) ==
          nullptr);
    CHECK(RecentText().find("dimensions") != std::string::npos);

    aclTensor *scalar = aclCreateTensor(nullptr, 0, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, buffer);
    CHECK(scalar != nullptr && scalar->Size() == 1 && !scalar->IsEmpty() && scalar->IsContiguous());
    CHECK(Read(aclGetViewShape, scalar).empty() && Read(aclGetViewStrides, scalar).empty());
    CHECK_OK(aclDestroyTensor(scalar));

    aclTensor *tensor = aclCreateTensor(shape, 3, ACL_BF16, nullptr, 5, ACL_FORMAT_NCHW, storage, 1, buffer);
    CHECK((Read(aclGetViewShape, tensor) == Shape{2, 3, 4}) &&
          (Read(aclGetViewStrides, tensor) == Shape{12, 4, 1}));
    CHECK(Read(aclGetStorageShape, tensor) == Shape{100});
    CHECK(tensor->Data() == reinterpret_cast<uint8_t *>(buffer) + 10 && tensor->IsContiguous());
    int64_t offset = 0;
    aclFormat format = ACL_FORMAT_ND;
    aclDataType type = ACL_FLOAT;
    void *address = nullptr;
    CHECK_OK(aclGetViewOffset(tensor, &offset));
    CHECK_OK(aclGetFormat(tensor, &format));
    CHECK_OK(aclGetDataType(tensor, &type));
    CHECK_OK(aclGetRawTensorAddr(tensor, &address));
    CHECK(offset == 5 && format == ACL_FORMAT_NCHW && type == ACL_BF16 && address == buffer);
    CHECK_OK(aclSetRawTensorAddr(tensor, buffer + 1));
    CHECK_OK(aclGetRawTensorAddr(tensor, &address));
    CHECK(address == buffer + 1);

    CHECK_OK(aclInitTensor(tensor, nullptr, 0, ACL_INT8, nullptr, 1, ACL_FORMAT_ND, nullptr, 0, nullptr));
    CHECK((Read(aclGetViewShape, tensor) == Shape{2, 3, 4}) &&
          tensor->Data() == reinterpret_cast<uint8_t *>(buffer + 1) + 1);
    CHECK_OK(aclInitTensor(tensor, shape, 3, ACL_INT8, strides, 1, ACL_FORMAT_ND, storage, 1, buffer));
    CHECK((Read(aclGetViewStrides, tensor) == Shape{1, -2, 0}) && !tensor->IsContiguous());
    CHECK_OK(aclInitTensor(tensor, shape, 3, static_cast<aclDataType>(5), nullptr, 0,
                           static_cast<aclFormat>(77), storage, 1, buffer));
    CHECK_OK(aclGetFormat(tensor, &format));
    CHECK_OK(aclGetDataType(tensor, &type));
    CHECK(format == ACL_FORMAT_UNDEFINED && type == ACL_DT_UNDEFINED);

    int64_t *values = nullptr;
    uint64_t count = 0;
    CHECK_REFUSED(aclGetViewShape(nullptr, &values, &count), ACLNN_ERR_PARAM_NULLPTR, "tensor");
    CHECK_REFUSED(aclGetViewShape(tensor, nullptr, &count), ACLNN_ERR_PARAM_NULLPTR, "viewDims");
    CHECK_REFUSED(aclGetViewShape(tensor, &values, nullptr), ACLNN_ERR_PARAM_NULLPTR, "viewDimsNum");
    CHECK_REFUSED(aclGetDataType(tensor, nullptr), ACLNN_ERR_PARAM_NULLPTR, "dataType");
    CHECK_REFUSED(aclSetRawTensorAddr(tensor, nullptr), ACLNN_ERR_PARAM_NULLPTR, "addr");
    CHECK_REFUSED(aclInitTensor(nullptr, shape, 3, ACL_INT8, strides, 1, ACL_FORMAT_ND, storage, 1, buffer),
                  ACLNN_ERR_PARAM_NULLPTR, "tensor");
    CHECK(aclemuLiveObjects("tensor") == 1);
    CHECK_OK(aclDestroyTensor(tensor));
    CHECK_OK(aclDestroyTensor(nullptr));
    CHECK_REFUSED(aclDestroyTensor(tensor), ACLNN_ERR_PARAM_INVALID, "destroyed");
    CHECK_REFUSED(aclGetDataType(tensor, &type), ACLNN_ERR_PARAM_INVALID, "destroyed");
    CHECK_REFUSED(aclDestroyTensor(reinterpret_cast<aclTensor *>(buffer)), ACLNN_ERR_PARAM_INVALID,
                  "destroyed");
    CHECK(aclemuLiveObjects("tensor") == 0);
}

void Properties()
{
    const auto check = [](const Shape &shape, const Shape &strides, bool contiguous, int64_t size) {
        aclTensor *tensor = aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, strides.data(), 0,
                                            ACL_FORMAT_ND, shape.data(), shape.size(), nullptr);
        CHECK(tensor->IsContiguous() == contiguous && tensor->Size() == size &&
              tensor->IsEmpty() == (size == 0));
        CHECK_OK(aclDestroyTensor(tensor));
    };
    check({2, 3}, {3, 1}, true, 6);
    check({2, 3}, {4, 1}, false, 6);
    check({2, 3}, {1, 2}, false, 6);
    check({1, 3}, {77, 1}, true, 3);
    check({3, 1}, {1, 55}, true, 3);
    check({1, 1}, {9, 9}, true, 1);
    check({0, 3}, {9, 9}, true, 0);
    check({3}, {0}, false, 3);
    check({INT64_MAX, 4}, {4, 1}, false, INT64_MAX);
    check({INT64_MAX, 4, 0}, {4, 1, 1}, true, 0);
    CHECK(nnop::TypeSize(ACL_FLOAT) == 4 && nnop::TypeSize(ACL_BF16) == 2 &&
          nnop::TypeSize(ACL_COMPLEX128) == 16 && nnop::TypeSize(ACL_INT4) == 1 &&
          nnop::TypeSize(static_cast<aclDataType>(99)) == 16);
    CHECK(nnop::ToString(ACL_BF16) == "DT_BFLOAT16" && nnop::ToString(ACL_FORMAT_NC1HWC0) == "NC1HWC0");
    CHECK(nnop::ToString(Shape{2, 3}) == "[2, 3]" && nnop::ToString(Shape{}) == "[]");
    CHECK(nnop::IsPrivateFormat(ACL_FORMAT_FRACTAL_NZ) && !nnop::IsPrivateFormat(ACL_FORMAT_NCHW));
}

void ScalarsAndArrays()
{
    double number = 2.5;
    aclScalar *scalar = aclCreateScalar(&number, ACL_DOUBLE);
    CHECK(scalar != nullptr);
    number = 0; // the value was copied
    CHECK(std::memcmp(scalar->value, "\0\0\0\0\0\0\4\x40", 8) == 0 && scalar->dataType == ACL_DOUBLE);
    CHECK(aclCreateScalar(nullptr, ACL_FLOAT) == nullptr);
    CHECK(aclCreateScalar(&number, ACL_COMPLEX32) == nullptr);
    CHECK(RecentText().find("DT_COMPLEX32") != std::string::npos);
    int64_t integers[] = {1, -2, 3};
    aclIntArray *ints = aclCreateIntArray(integers, 3);
    integers[1] = 0;
    uint64_t size = 9;
    CHECK_OK(aclGetIntArraySize(ints, &size));
    CHECK(size == 3 && ints->values[1] == -2);
    aclIntArray *none = aclCreateIntArray(nullptr, 0);
    CHECK(none != nullptr);
    CHECK_OK(aclGetIntArraySize(none, &size));
    CHECK(size == 0);
    const float reals[] = {1.5F};
    const bool flags[] = {true, false};
    aclFloatArray *floats = aclCreateFloatArray(reals, 1);
    aclBoolArray *bools = aclCreateBoolArray(flags, 2);
    CHECK_OK(aclGetFloatArraySize(floats, &size));
    CHECK(size == 1);
    CHECK_OK(aclGetBoolArraySize(bools, &size));
    CHECK(size == 2 && bools->values[0] == 1 && bools->values[1] == 0);
    CHECK_REFUSED(aclGetIntArraySize(nullptr, &size), ACLNN_ERR_PARAM_NULLPTR, "array");
    CHECK_REFUSED(aclGetIntArraySize(ints, nullptr), ACLNN_ERR_PARAM_NULLPTR, "size");
    CHECK_REFUSED(aclDestroyFloatArray(reinterpret_cast<aclFloatArray *>(ints)), ACLNN_ERR_PARAM_INVALID,
                  "type");
    CHECK(aclemuLiveObjects("array") == 4 && aclemuLiveObjects("scalar") == 1);
    // Sizes whose bytes wrap round to 0 or little.
    const auto refused = [](const void *made) { return made == nullptr && RecentText().find("size is ") != std::string::npos; };
    const aclTensor *nothing = nullptr;
    for (const uint64_t size : {uint64_t{1} << 60, uint64_t{1} << 61, (uint64_t{1} << 61) + 1, (uint64_t{1} << 63), UINT64_MAX}) {
        (void)RecentText();
        CHECK(refused(aclCreateIntArray(integers, size)) && refused(aclCreateTensorList(&nothing, size)));
    }
    const float oneFloat[] = {1.0F};
    const bool oneBool[] = {true};
    CHECK(refused(aclCreateFloatArray(oneFloat, (uint64_t{1} << 62) + 1)) && refused(aclCreateBoolArray(oneBool, UINT64_MAX)));

    const aclTensor *tensors[] = {Create({2}), nullptr, Create({3})};
    aclTensorList *list = aclCreateTensorList(tensors, 3);
    aclTensorList *empty = aclCreateTensorList(nullptr, 0);
    CHECK_OK(aclGetTensorListSize(list, &size));
    CHECK(size == 3 && aclemuLiveObjects("tensor") == 2);
    CHECK_OK(aclDestroyTensorList(list)); // with its tensors
    CHECK_OK(aclDestroyTensorList(empty));
    CHECK(aclemuLiveObjects("tensor") == 0);
    const aclScalar *scalars[] = {scalar};
    aclScalarList *scalarList = aclCreateScalarList(scalars, 1);
    CHECK_OK(aclGetScalarListSize(scalarList, &size));
    CHECK(size == 1);
    CHECK_OK(aclDestroyScalarList(scalarList));
    CHECK_REFUSED(aclDestroyScalar(scalar), ACLNN_ERR_PARAM_INVALID, "destroyed");
    tensors[0] = Create({2});
    list = aclCreateTensorList(tensors, 1);
    CHECK_OK(aclDestroyTensor(tensors[0]));
    CHECK_REFUSED(aclDestroyTensorList(list), ACLNN_ERR_PARAM_INVALID, "destroyed"); // its element went first
    CHECK_OK(aclDestroyIntArray(ints));
    CHECK_OK(aclDestroyIntArray(none));
    CHECK_OK(aclDestroyFloatArray(floats));
    CHECK_OK(aclDestroyBoolArray(bools));
    CHECK_OK(aclDestroyBoolArray(nullptr));
    for (const char *kind : {"tensor", "scalar", "array", "list"}) {
        CHECK(aclemuLiveObjects(kind) == 0);
    }
}

nnop::Plan Counting(int *runs, uint64_t workspaceSize)
{
    nnop::Plan plan;
    plan.opName = "aclnnCount";
    plan.workspaceSize = workspaceSize;
    plan.launches.push_back([runs]() -> nnop::Kernel {
        return [runs](uint8_t *) {
            ++*runs;
            return aclemu::TaskResult();
        };
    });
    return plan;
}

void Executors()
{
    int runs = 0;
    uint64_t size = 99;
    aclOpExecutor *executor = nullptr;
    void *workspace = nullptr;
    CHECK_OK(aclrtMalloc(&workspace, 100, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_REFUSED(nnop::Publish(Counting(&runs, 0), nullptr, &executor), ACLNN_ERR_PARAM_NULLPTR,
                  "workspaceSize");
    CHECK_REFUSED(nnop::Publish(Counting(&runs, 0), &size, nullptr), ACLNN_ERR_PARAM_NULLPTR, "executor");
    CHECK(executor == nullptr && aclemuLiveObjects("executor") == 0);

    CHECK_OK(nnop::Publish(Counting(&runs, 0), &size, &executor));
    CHECK(size == 0 && reinterpret_cast<uintptr_t>(executor) > UINT32_MAX &&
          aclemuLiveObjects("executor") == 1);
    CHECK_OK(nnop::Run("aclnnCount", nullptr, 0, executor, nullptr));
    CHECK_REFUSED(nnop::Run("aclnnCount", nullptr, 0, executor, nullptr), ACLNN_ERR_INNER_NULLPTR, "used up");
    CHECK_REFUSED(nnop::Run("aclnnCount", nullptr, 0, nullptr, nullptr), ACLNN_ERR_PARAM_NULLPTR, "executor");
    CHECK_REFUSED(nnop::Run("aclnnCount", nullptr, 0, reinterpret_cast<aclOpExecutor *>(&runs), nullptr),
                  ACLNN_ERR_INNER_NULLPTR, "none of");

    // Every refusal uses a single-use executor up.
    const auto refused = [&](void *at, uint64_t bytes, int code, const char *word) {
        CHECK_OK(nnop::Publish(Counting(&runs, 64), &size, &executor));
        CHECK(size == 64);
        CHECK_REFUSED(nnop::Run("aclnnCount", at, bytes, executor, nullptr), code, word);
        CHECK(aclemuLiveObjects("executor") == 0);
    };
    refused(nullptr, 64, ACLNN_ERR_PARAM_NULLPTR, "workspace");
    refused(nullptr, 0, ACLNN_ERR_PARAM_INVALID, "asked for 64");
    refused(workspace, 63, ACLNN_ERR_PARAM_INVALID, "asked for 64");
    refused(&runs, 64, ACLNN_ERR_PARAM_INVALID, "not live device memory");
    refused(static_cast<char *>(workspace) + 37, 64, ACLNN_ERR_PARAM_INVALID, "has 63 bytes");
    CHECK_OK(aclrtSynchronizeStream(nullptr));
    CHECK(runs == 1);

    // That of a generated front end stays, until a call is accepted.
    nnop::Plan generated = Counting(&runs, 64);
    generated.generated = true;
    CHECK_OK(nnop::Publish(std::move(generated), &size, &executor));
    CHECK_REFUSED(nnop::Run("aclnnCount", nullptr, 64, executor, nullptr), ACLNN_ERR_PARAM_NULLPTR, "EZ1011");
    CHECK_REFUSED(nnop::Run("aclnnCount", workspace, 63, executor, nullptr), ACLNN_ERR_PARAM_INVALID, "EZ1010");
    CHECK(aclemuLiveObjects("executor") == 1);
    CHECK_OK(nnop::Run("aclnnCount", workspace, 100, executor, nullptr));
    CHECK(aclemuLiveObjects("executor") == 0);
    CHECK_OK(aclrtSynchronizeStream(nullptr));
    CHECK(runs == 2);

    CHECK_OK(nnop::Publish(Counting(&runs, 64), &size, &executor));
    CHECK_OK(aclSetAclOpExecutorRepeatable(executor));
    for (int i = 0; i < 3; ++i) {
        CHECK_OK(nnop::Run("aclnnCount", workspace, 100, executor, nullptr));
    }
    CHECK_OK(aclrtSynchronizeStream(nullptr));
    CHECK(runs == 5);
    CHECK_OK(aclDestroyAclOpExecutor(executor));
    CHECK_REFUSED(nnop::Run("aclnnCount", workspace, 100, executor, nullptr), ACLNN_ERR_INNER_NULLPTR, "destroyed");
    CHECK_REFUSED(aclDestroyAclOpExecutor(executor), ACLNN_ERR_INNER, "destroyed");
    CHECK_REFUSED(aclSetAclOpExecutorRepeatable(executor), ACLNN_ERR_INNER, "destroyed");
    CHECK_REFUSED(aclDestroyAclOpExecutor(nullptr), ACLNN_ERR_INNER_NULLPTR, "executor");
    CHECK_REFUSED(aclSetAclOpExecutorRepeatable(nullptr), ACLNN_ERR_INNER_NULLPTR, "executor");

    // A stream that cannot be used: the runtime's code is in the text.
    aclrtStream gone = nullptr;
    CHECK_OK(aclrtCreateStream(&gone));
    CHECK_OK(aclrtDestroyStream(gone));
    CHECK_OK(nnop::Publish(Counting(&runs, 0), &size, &executor));
    CHECK_REFUSED(nnop::Run("aclnnCount", nullptr, 0, executor, gone), ACLNN_ERR_RUNTIME_ERROR, "107003");
    CHECK(aclemuLiveObjects("executor") == 0);
    CHECK_OK(nnop::Publish(Counting(&runs, 0), &size, &executor)); // never run
    CHECK(aclemuLiveObjects("executor") == 1);
    CHECK_OK(aclDestroyAclOpExecutor(executor));
    CHECK_OK(aclrtFree(workspace));
    CHECK_OK(aclnnInit(nullptr));
    CHECK_REFUSED(aclnnInit("/no/such/file"), ACLNN_ERR_PARAM_INVALID, "/no/such/file");
    CHECK_OK(aclnnFinalize());
}

void Addresses()
{
    static uint8_t *seen = nullptr;
    uint8_t data[3];
    aclTensor *in = Create({1}, ACL_INT8, data);
    aclTensor *out = Create({1}, ACL_INT8, data + 1);
    nnop::Plan plan;
    plan.opName = "aclnnLook";
    plan.tensors = {in, out, nullptr};
    plan.inputs = 1;
    plan.launches.push_back([in]() -> nnop::Kernel {
        return [at = in->Data()](uint8_t *) {
            seen = at;
            return aclemu::TaskResult();
        };
    });
    uint64_t size = 0;
    aclOpExecutor *executor = nullptr;
    CHECK_OK(nnop::Publish(plan, &size, &executor));
    CHECK_OK(aclSetAclOpExecutorRepeatable(executor));
    CHECK_OK(nnop::Run("aclnnLook", nullptr, 0, executor, nullptr));
    CHECK_OK(aclSetInputTensorAddr(executor, 0, in, data + 2)); // after the call: the next one sees it
    CHECK_OK(aclrtSynchronizeStream(nullptr));
    CHECK(seen == data);
    CHECK_OK(nnop::Run("aclnnLook", nullptr, 0, executor, nullptr));
    CHECK_OK(aclrtSynchronizeStream(nullptr));
    CHECK(seen == data + 2);
    CHECK_OK(AclSetOutputTensorAddr(executor, 0, out, data));
    CHECK_OK(aclSetTensorAddr(executor, 1, out, data + 1));
    CHECK(out->address == data + 1);
    CHECK_REFUSED(aclSetInputTensorAddr(nullptr, 0, in, data), ACLNN_ERR_INNER_NULLPTR, "executor");
    CHECK_REFUSED(aclSetInputTensorAddr(executor, 0, nullptr, data), ACLNN_ERR_INNER_NULLPTR, "tensor");
    aclTensor *element = Create({1}, ACL_INT8, data);
    aclTensorList *list = aclCreateTensorList(&element, 1);
    CHECK_OK(aclSetDynamicInputTensorAddr(executor, 0, 0, list, data + 1));
    CHECK(element->address == data + 1);
    CHECK_REFUSED(AclSetDynamicTensorAddr(executor, 0, 1, list, data), ACLNN_ERR_PARAM_INVALID,
                  "relativeIndex is 1");
    CHECK_REFUSED(aclSetDynamicOutputTensorAddr(executor, 0, 0, nullptr, data), ACLNN_ERR_INNER_NULLPTR,
                  "tensors");
    CHECK_OK(aclDestroyTensorList(list));

    // A tensor that goes between the phases, even if another takes its place in memory.
    CHECK_OK(aclDestroyTensor(out));
    std::vector<aclTensor *> others;
    for (int i = 0; i < 50; ++i) {
        others.push_back(Create({1}, ACL_INT8, data));
    }
    CHECK_REFUSED(nnop::Run("aclnnLook", nullptr, 0, executor, nullptr), ACLNN_ERR_INNER_NULLPTR,
                  "output 0 was destroyed");
    for (aclTensor *other : others) {
        CHECK_OK(aclDestroyTensor(other));
    }
    CHECK_OK(aclDestroyTensor(in));
    CHECK_OK(aclDestroyAclOpExecutor(executor));
    CHECK(aclemuLiveObjects("executor") == 0);
}

} // namespace

int main()
{
    CHECK_OK(aclrtSetDevice(0));
    Tensors();
    Properties();
    ScalarsAndArrays();
    Executors();
    Addresses();
    CHECK_OK(aclrtResetDevice(0));
    return 0;
}
