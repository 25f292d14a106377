// A C++ program: every header, no internal ones.
#include <cstdint>
#include <iostream>

#include "acl/acl.h"
#include "aclemu.h"
#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"
#include "aclnn/opdev/op_errno.h"

int main()
{
    const int64_t shape[] = {2, 3};
    aclTensor *tensor = aclCreateTensor(shape, 2, aclDataType::ACL_FLOAT, nullptr, 0,
                                        aclFormat::ACL_FORMAT_ND, shape, 2, nullptr);
    int64_t *dims = nullptr;
    uint64_t rank = 0;
    if (tensor == nullptr || aclGetViewShape(tensor, &dims, &rank) != OK || rank != 2) {
        return 1;
    }
    std::cout << "tensor [" << dims[0] << ", " << dims[1] << "]\n";
    delete[] dims;
    const int64_t alive = aclemuLiveObjects("tensor");
    return alive == 1 && aclDestroyTensor(tensor) == ACLNN_SUCCESS && aclemuLiveObjects("tensor") == 0 ? 0
                                                                                                       : 2;
}
