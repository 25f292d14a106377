// Binds a plain tiling function to the TilingContext of CANN. The emulator does not compile this; the operator project that
// `aclnn-py export-opp` writes does.
#ifndef OPS_CANN_TILING_ADAPTER_H
#define OPS_CANN_TILING_ADAPTER_H

#include <algorithm>
#include <cstring>
#include <initializer_list>

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

#include "ops/common/tiling.h"

namespace ge {

// The axes of `shape` but the last `tail`, then `more`.
inline gert::Shape TokensThen(const gert::Shape &shape, size_t tail, std::initializer_list<int64_t> more)
{
    gert::Shape result;
    for (size_t axis = 0; axis + tail < shape.GetDimNum(); ++axis) {
        result.AppendDim(shape.GetDim(axis));
    }
    for (const int64_t dim : more) {
        result.AppendDim(dim);
    }
    return result;
}

// In a graph that is still to be given its inputs, {-2} stands for a shape of unknown rank (and -1 for an unknown length).
constexpr int64_t kUnknownRank = -2;

inline bool RankIsUnknown(const gert::Shape &shape)
{
    return shape.GetDimNum() == 1 && shape.GetDim(0) == kUnknownRank;
}

inline graphStatus LeaveRanksUnknown(gert::InferShapeContext *context, size_t outputs)
{
    for (size_t output = 0; output < outputs; ++output) {
        *context->GetOutputShape(output) = gert::Shape({kUnknownRank});
    }
    return GRAPH_SUCCESS;
}

} // namespace ge

namespace optiling {

// No kernel of the project asks for the vector core's last 8 KiB: the API uses them on some chips.
constexpr uint64_t kReservedUb = 8 * 1024;

// npuArch stays 0: these tilings go by sizes and counts alone.
inline ops::TilingPlatform ReadPlatform(gert::TilingContext *context)
{
    const auto chip = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    ops::TilingPlatform platform{};
    platform.aicCores = chip.GetCoreNumAic();
    platform.aivCores = chip.GetCoreNumAiv();
    chip.GetCoreMemSize(platform_ascendc::CoreMemType::UB, platform.ubSize);
    platform.ubSize -= std::min(platform.ubSize, kReservedUb);
    chip.GetCoreMemSize(platform_ascendc::CoreMemType::L1, platform.l1Size);
    chip.GetCoreMemSize(platform_ascendc::CoreMemType::L0_A, platform.l0aSize);
    chip.GetCoreMemSize(platform_ascendc::CoreMemType::L0_B, platform.l0bSize);
    chip.GetCoreMemSize(platform_ascendc::CoreMemType::L0_C, platform.l0cSize);
    platform.systemWorkspace = chip.GetLibApiWorkSpaceSize();
    return platform;
}

// The shape of input `index`, nullptr when it is not given.
inline const gert::Shape *InputShape(gert::TilingContext *context, size_t index)
{
    const gert::StorageShape *shape = context->GetInputShape(index);
    return shape == nullptr ? nullptr : &shape->GetStorageShape();
}

// Whether input `index` has this shape. The kernels trust the tiling: nothing behind it looks at a shape again.
inline bool InputIs(gert::TilingContext *context, size_t index, const gert::Shape &expected)
{
    const gert::Shape *shape = InputShape(context, index);
    return shape != nullptr && *shape == expected;
}

inline bool OutputIs(gert::TilingContext *context, size_t index, const gert::Shape &expected)
{
    const gert::StorageShape *shape = context->GetOutputShape(index);
    return shape != nullptr && shape->GetStorageShape() == expected;
}

// The product of the axes but the last `tail`, 0 when there are fewer.
inline uint64_t Rows(const gert::Shape &shape, size_t tail)
{
    uint64_t rows = shape.GetDimNum() < tail ? 0 : 1;
    for (size_t axis = 0; axis + tail < shape.GetDimNum(); ++axis) {
        rows *= static_cast<uint64_t>(shape.GetDim(axis));
    }
    return rows;
}

// Axis `back` from the end, 1 being the last; 0 when there are fewer.
inline int64_t FromEnd(const gert::Shape &shape, size_t back)
{
    return shape.GetDimNum() < back ? 0 : shape.GetDim(shape.GetDimNum() - back);
}

inline int64_t IntAttr(gert::TilingContext *context, size_t index, int64_t otherwise)
{
    const int64_t *value = context->GetAttrs() == nullptr ? nullptr : context->GetAttrs()->GetAttrPointer<int64_t>(index);
    return value == nullptr ? otherwise : *value;
}

inline double FloatAttr(gert::TilingContext *context, size_t index, float otherwise)
{
    const float *value = context->GetAttrs() == nullptr ? nullptr : context->GetAttrs()->GetAttrPointer<float>(index);
    return value == nullptr ? otherwise : *value;
}

// allCoresWait: the kernel has a SyncAll, so its blocks must be scheduled together.
template <typename TilingData>
ge::graphStatus StoreTiling(gert::TilingContext *context, const ops::Tiling<TilingData> &tiling, bool allCoresWait)
{
    gert::TilingData *raw = context->GetRawTilingData();
    size_t *workspaces = context->GetWorkspaceSizes(1);
    if (!tiling.error.empty() || raw == nullptr || workspaces == nullptr || raw->GetCapacity() < sizeof(TilingData)) {
        return ge::GRAPH_FAILED;
    }
    std::memcpy(raw->GetData(), &tiling.data, sizeof(TilingData));
    raw->SetDataSize(sizeof(TilingData));
    context->SetBlockDim(tiling.blockDim);
    context->SetTilingKey(tiling.key);
    if (allCoresWait) {
        context->SetScheduleMode(1);
    }
    workspaces[0] = tiling.workspaceSize;
    return ge::GRAPH_SUCCESS;
}

} // namespace optiling

#endif // OPS_CANN_TILING_ADAPTER_H
