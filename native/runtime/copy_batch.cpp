// Many copies in one call.
#include "acl/acl_rt.h"
#include "runtime/api.h"
#include "runtime/place.h"

using aclemu::Api;
using aclemu::Fail;
using aclemu::FailNull;

namespace aclemu {
namespace {

struct Batch {
    void **dsts;
    size_t *destMaxs;
    void **srcs;
    size_t *sizes;
    size_t count;
    aclrtMemcpyBatchAttr *attrs;
    size_t *attrsIndexes; // where each attribute starts to apply
    size_t numAttrs;
};

aclError Check(const Batch &batch)
{
    if (batch.dsts == nullptr || batch.destMaxs == nullptr || batch.srcs == nullptr || batch.sizes == nullptr) {
        return FailNull("dsts, destMaxs, srcs or sizes");
    }
    if (batch.attrs == nullptr || batch.attrsIndexes == nullptr) {
        return FailNull("attrs or attrsIndexes");
    }
    if (batch.count == 0 || batch.numAttrs == 0 || batch.numAttrs > batch.count) {
        return Fail(ACL_ERROR_INVALID_PARAM,
                    "parameters numBatches and numAttrs are %zu and %zu; there must be 1 or more of each, and no more "
                    "attributes than copies",
                    batch.count, batch.numAttrs);
    }
    for (size_t i = 0; i < batch.numAttrs; ++i) {
        if (batch.attrsIndexes[i] >= batch.count || batch.attrsIndexes[0] != 0 ||
            (i > 0 && batch.attrsIndexes[i] <= batch.attrsIndexes[i - 1])) {
            return Fail(ACL_ERROR_INVALID_PARAM,
                        "attrsIndexes[%zu] is %zu; they must rise from 0 and be below numBatches %zu", i,
                        batch.attrsIndexes[i], batch.count);
        }
    }
    return ACL_SUCCESS;
}

// A location says host or device; that is what the address must be, too.
aclError CheckLocation(const char *parameter, size_t index, const void *address, const aclrtMemLocation &location)
{
    if (location.type != ACL_MEM_LOCATION_TYPE_HOST && location.type != ACL_MEM_LOCATION_TYPE_DEVICE) {
        return Fail(ACL_ERROR_INVALID_PARAM, "the location of %s[%zu] is of type %d; it must be host or device",
                    parameter, index, location.type);
    }
    Place place = Place::HOST;
    const aclError status = Locate(parameter, address, 0, &place);
    if (status == ACL_SUCCESS && (place == Place::DEVICE) != (location.type == ACL_MEM_LOCATION_TYPE_DEVICE)) {
        return Fail(ACL_ERROR_RT_PARAM_INVALID, "%s[%zu] %p is %s memory, but its attribute says otherwise",
                    parameter, index, address, NameOf(place));
    }
    return status;
}

// `copy` does one; the index of the first that fails goes to `failIndex`.
template <typename Copy>
aclError Run(const char *name, const Batch &batch, size_t *failIndex, Copy copy)
{
    return Api(name, [&]() -> aclError {
        if (failIndex != nullptr) {
            *failIndex = SIZE_MAX; // none of the copies in particular
        }
        aclError status = Check(batch);
        size_t attribute = 0;
        for (size_t i = 0; status == ACL_SUCCESS && i < batch.count; ++i) {
            if (attribute + 1 < batch.numAttrs && batch.attrsIndexes[attribute + 1] == i) {
                ++attribute;
            }
            const aclrtMemcpyBatchAttr &attr = batch.attrs[attribute];
            status = CheckLocation("dsts", i, batch.dsts[i], attr.dstLoc);
            if (status == ACL_SUCCESS) {
                status = CheckLocation("srcs", i, batch.srcs[i], attr.srcLoc);
            }
            if (status == ACL_SUCCESS) {
                status = copy(i);
            }
            if (status != ACL_SUCCESS && failIndex != nullptr) {
                *failIndex = i;
            }
        }
        return status;
    });
}

aclError RunNow(const char *name, const Batch &batch, size_t *failIndex)
{
    return Run(name, batch, failIndex, [&](size_t i) {
        return aclrtMemcpy(batch.dsts[i], batch.destMaxs[i], batch.srcs[i], batch.sizes[i], ACL_MEMCPY_DEFAULT);
    });
}

aclError RunOn(const char *name, const Batch &batch, size_t *failIndex, aclrtStream stream)
{
    return Run(name, batch, failIndex, [&](size_t i) {
        return aclrtMemcpyAsync(batch.dsts[i], batch.destMaxs[i], batch.srcs[i], batch.sizes[i], ACL_MEMCPY_DEFAULT,
                                stream);
    });
}

} // namespace
} // namespace aclemu

aclError aclrtMemcpyBatch(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes, size_t numBatches,
                          aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs, size_t *failIndex)
{
    return aclemu::RunNow("aclrtMemcpyBatch",
                          {dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs}, failIndex);
}

aclError aclrtMemcpyBatchV2(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes, size_t numBatches,
                            aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs)
{
    return aclemu::RunNow("aclrtMemcpyBatchV2",
                          {dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs}, nullptr);
}

aclError aclrtMemcpyBatchAsync(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes, size_t numBatches,
                               aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs, size_t *failIndex,
                               aclrtStream stream)
{
    return aclemu::RunOn("aclrtMemcpyBatchAsync",
                         {dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs}, failIndex, stream);
}

aclError aclrtMemcpyBatchAsyncV2(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes, size_t numBatches,
                                 aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs,
                                 aclrtStream stream)
{
    return aclemu::RunOn("aclrtMemcpyBatchAsyncV2",
                         {dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs}, nullptr, stream);
}
