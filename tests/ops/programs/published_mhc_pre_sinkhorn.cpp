// The published example of aclnnMhcPreSinkhorn, with the characters that its text lost put back and the elided creation of
// the twelve tensors filled in. It is here to show that such a program runs unchanged; its BF16 host data is what the
// original makes (scaled to int16), not real bfloat16.
#include <cstdio>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_mhc_pre_sinkhorn.h"

#define CHECK_RET(cond, return_expr) \
    do {                             \
        if (!(cond)) {               \
            return_expr;             \
        }                            \
    } while (0)
#define LOG_PRINT(message, ...)         \
    do {                                \
        printf(message, ##__VA_ARGS__); \
    } while (0)

int64_t GetShapeSize(const std::vector<int64_t> &shape)
{
    int64_t size = 1;
    for (int64_t dim : shape) {
        size *= dim;
    }
    return size;
}

int CreateAclTensorBfloat16(const std::vector<float> &host_data, const std::vector<int64_t> &shape, void **device_addr,
                            aclTensor **tensor)
{
    int64_t size = GetShapeSize(shape);
    std::vector<uint16_t> host_data_bf16(size);
    for (int64_t i = 0; i < size; i++) {
        host_data_bf16[i] = static_cast<uint16_t>(static_cast<int16_t>(host_data[i] * 32767));
    }
    int64_t byte_size = size * sizeof(uint16_t);
    aclError ret = aclrtMalloc(device_addr, byte_size, ACL_MEM_MALLOC_HUGE_FIRST);
    CHECK_RET(ret == ACL_SUCCESS, LOG_PRINT("aclrtMalloc failed, error: %d\n", ret); return -1);
    ret = aclrtMemcpy(*device_addr, byte_size, host_data_bf16.data(), byte_size, ACL_MEMCPY_HOST_TO_DEVICE);
    CHECK_RET(ret == ACL_SUCCESS, LOG_PRINT("aclrtMemcpy failed, error: %d\n", ret); return -1);
    std::vector<int64_t> strides(shape.size(), 1);
    for (int64_t i = static_cast<int64_t>(shape.size()) - 2; i >= 0; --i) {
        strides[i] = strides[i + 1] * shape[i + 1];
    }
    *tensor = aclCreateTensor(shape.data(), shape.size(), ACL_BF16, strides.data(), 0, ACL_FORMAT_ND, shape.data(),
                              shape.size(), *device_addr);
    CHECK_RET(*tensor != nullptr, LOG_PRINT("aclCreateTensor failed\n"); return -1);
    return 0;
}

int CreateAclTensorFloat32(const std::vector<float> &host_data, const std::vector<int64_t> &shape, void **device_addr,
                           aclTensor **tensor)
{
    int64_t byte_size = GetShapeSize(shape) * sizeof(float);
    aclError ret = aclrtMalloc(device_addr, byte_size, ACL_MEM_MALLOC_HUGE_FIRST);
    CHECK_RET(ret == ACL_SUCCESS, LOG_PRINT("aclrtMalloc failed, error: %d\n", ret); return -1);
    ret = aclrtMemcpy(*device_addr, byte_size, host_data.data(), byte_size, ACL_MEMCPY_HOST_TO_DEVICE);
    CHECK_RET(ret == ACL_SUCCESS, LOG_PRINT("aclrtMemcpy failed, error: %d\n", ret); return -1);
    *tensor = aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape.data(), shape.size(),
                              *device_addr);
    CHECK_RET(*tensor != nullptr, LOG_PRINT("aclCreateTensor failed\n"); return -1);
    return 0;
}

int CreateAclTensorOutput(const std::vector<int64_t> &shape, aclDataType type, void **device_addr, aclTensor **tensor)
{
    int64_t byte_size = GetShapeSize(shape) * aclDataTypeSize(type);
    aclError ret = aclrtMalloc(device_addr, byte_size, ACL_MEM_MALLOC_HUGE_FIRST);
    CHECK_RET(ret == ACL_SUCCESS, LOG_PRINT("aclrtMalloc failed, error: %d\n", ret); return -1);
    *tensor = aclCreateTensor(shape.data(), shape.size(), type, nullptr, 0, ACL_FORMAT_ND, shape.data(), shape.size(),
                              *device_addr);
    CHECK_RET(*tensor != nullptr, LOG_PRINT("aclCreateTensor failed\n"); return -1);
    return 0;
}

int main()
{
    int32_t device_id = 0;
    aclrtContext context = nullptr;
    aclrtStream stream = nullptr;

    int64_t bs = 2, seq_len = 128, n = 4, c = 4096;
    int64_t hc_mult = n;
    int64_t hc_mix = n * n + 2 * n;
    int64_t num_iters = 20;
    float hc_eps = 1e-6f, norm_eps = 1e-6f;
    bool need_backward = true;

    std::vector<int64_t> x_shape = {bs, seq_len, n, c};
    std::vector<int64_t> phi_shape = {hc_mix, n * c};
    std::vector<int64_t> alpha_shape = {3};
    std::vector<int64_t> bias_shape = {hc_mix};
    std::vector<std::vector<int64_t>> output_shapes = {{bs, seq_len, c},
                                                       {bs, seq_len, n},
                                                       {bs, seq_len, n * n},
                                                       {bs, seq_len, n},
                                                       {bs, seq_len, hc_mix},
                                                       {bs, seq_len, 1},
                                                       {num_iters * 2, bs, seq_len, n},
                                                       {num_iters * 2, bs, seq_len, n, n}};

    aclError ret = aclInit(nullptr);
    CHECK_RET(ret == ACL_SUCCESS, LOG_PRINT("aclInit failed, error: %d\n", ret); return -1);
    ret = aclrtSetDevice(device_id);
    CHECK_RET(ret == ACL_SUCCESS, LOG_PRINT("aclrtSetDevice failed, error: %d\n", ret); return -1);
    ret = aclrtCreateContext(&context, device_id);
    CHECK_RET(ret == ACL_SUCCESS, LOG_PRINT("aclrtCreateContext failed, error: %d\n", ret); return -1);
    ret = aclrtSetCurrentContext(context);
    CHECK_RET(ret == ACL_SUCCESS, LOG_PRINT("aclrtSetCurrentContext failed, error: %d\n", ret); return -1);
    ret = aclrtCreateStream(&stream);
    CHECK_RET(ret == ACL_SUCCESS, LOG_PRINT("aclrtCreateStream failed, error: %d\n", ret); return -1);

    void *addresses[12];
    aclTensor *tensors[12];
    CHECK_RET(CreateAclTensorBfloat16(std::vector<float>(GetShapeSize(x_shape), 0.5f), x_shape, &addresses[0], &tensors[0]) == 0,
              return -1);
    CHECK_RET(CreateAclTensorFloat32(std::vector<float>(GetShapeSize(phi_shape), 0.001f), phi_shape, &addresses[1],
                                     &tensors[1]) == 0, return -1);
    CHECK_RET(CreateAclTensorFloat32(std::vector<float>(3, 0.25f), alpha_shape, &addresses[2], &tensors[2]) == 0, return -1);
    CHECK_RET(CreateAclTensorFloat32(std::vector<float>(hc_mix, 0.0f), bias_shape, &addresses[3], &tensors[3]) == 0, return -1);
    for (size_t i = 0; i < output_shapes.size(); ++i) {
        CHECK_RET(CreateAclTensorOutput(output_shapes[i], i == 0 ? ACL_BF16 : ACL_FLOAT, &addresses[4 + i], &tensors[4 + i]) == 0,
                  return -1);
    }

    uint64_t workspace_size = 0;
    aclOpExecutor *executor = nullptr;
    aclnnStatus aclnn_ret = aclnnMhcPreSinkhornGetWorkspaceSize(
        tensors[0], tensors[1], tensors[2], tensors[3], hc_mult, num_iters, hc_eps, norm_eps, need_backward, tensors[4],
        tensors[5], tensors[6], tensors[7], tensors[8], tensors[9], tensors[10], tensors[11], &workspace_size, &executor);
    CHECK_RET(aclnn_ret == ACL_SUCCESS,
              LOG_PRINT("aclnnMhcPreSinkhornGetWorkspaceSize failed, error: %d\n", aclnn_ret); return -1);
    void *workspace_addr = nullptr;
    if (workspace_size > 0) {
        ret = aclrtMalloc(&workspace_addr, workspace_size, ACL_MEM_MALLOC_HUGE_FIRST);
        CHECK_RET(ret == ACL_SUCCESS, LOG_PRINT("aclrtMalloc workspace failed, error: %d\n", ret); return -1);
    }
    aclnn_ret = aclnnMhcPreSinkhorn(workspace_addr, workspace_size, executor, stream);
    CHECK_RET(aclnn_ret == ACL_SUCCESS, LOG_PRINT("aclnnMhcPreSinkhorn failed, error: %d\n", aclnn_ret); return -1);
    CHECK_RET(aclrtSynchronizeStream(stream) == ACL_SUCCESS, LOG_PRINT("aclrtSynchronizeStream failed\n"); return -1);

    std::vector<float> h_res(GetShapeSize(output_shapes[2]));
    ret = aclrtMemcpy(h_res.data(), h_res.size() * sizeof(float), addresses[6], h_res.size() * sizeof(float),
                      ACL_MEMCPY_DEVICE_TO_HOST);
    CHECK_RET(ret == ACL_SUCCESS, LOG_PRINT("aclrtMemcpy failed, error: %d\n", ret); return -1);
    LOG_PRINT("hRes[0] %.4f\n", h_res[0]); // constant inputs: every entry is 1/n
    LOG_PRINT("MhcPreSinkhorn compute success!\n");

    for (size_t i = 0; i < 12; ++i) {
        aclDestroyTensor(tensors[i]);
        aclrtFree(addresses[i]);
    }
    if (workspace_addr != nullptr) {
        aclrtFree(workspace_addr);
    }
    aclrtDestroyStream(stream);
    aclrtDestroyContext(context);
    aclrtResetDevice(device_id);
    aclFinalize();
    return 0;
}
