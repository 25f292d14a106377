/* A plain C program, as someone writes it for CANN. */
#include <stdio.h>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"
#include "aclnn/opdev/op_errno.h"

#define COUNT 16

int main(void)
{
    float in[COUNT];
    float out[COUNT] = {0};
    void *device = NULL;
    aclrtStream stream = NULL;
    int i;
    for (i = 0; i < COUNT; ++i) {
        in[i] = (float)i;
    }
    if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS || aclrtCreateStream(&stream) != ACL_SUCCESS) {
        return 1;
    }
    if (aclrtMalloc(&device, sizeof(in), ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS ||
        aclrtMemcpy(device, sizeof(in), in, sizeof(in), ACL_MEMCPY_HOST_TO_DEVICE) != ACL_SUCCESS ||
        aclrtMemcpyAsync(out, sizeof(out), device, sizeof(out), ACL_MEMCPY_DEVICE_TO_HOST, stream) != ACL_SUCCESS ||
        aclrtSynchronizeStream(stream) != ACL_SUCCESS) {
        return 2;
    }
    for (i = 0; i < COUNT; ++i) {
        if (out[i] != in[i]) {
            return 3;
        }
    }
    printf("copied %d floats\n", COUNT);
    if (aclrtFree(device) != ACL_SUCCESS || aclrtDestroyStream(stream) != ACL_SUCCESS ||
        aclrtResetDevice(0) != ACL_SUCCESS || aclFinalize() != ACL_SUCCESS) {
        return 4;
    }
    return ACLNN_SUCCESS;
}
