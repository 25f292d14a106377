#include "nnopbase/contiguous.h"

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/memory.h"

namespace nnop {
namespace {

__extension__ using Wide = __int128;

struct Dim {
    int64_t size;
    int64_t stride; // elements
};

// The fewest dimensions that walk the view in the same order; outermost first.
std::vector<Dim> Coalesce(const aclTensor &tensor)
{
    std::vector<Dim> dims;
    for (size_t i = 0; i < tensor.viewShape.size(); ++i) {
        const Dim dim = {tensor.viewShape[i], tensor.viewStrides[i]};
        if (dim.size == 1) {
            continue;
        }
        if (!dims.empty() &&
            static_cast<Wide>(dims.back().stride) == static_cast<Wide>(dim.size) * dim.stride) {
            dims.back() = {static_cast<int64_t>(static_cast<Wide>(dims.back().size) * dim.size), dim.stride};
        } else {
            dims.push_back(dim);
        }
    }
    return dims;
}

// `count` elements; steps are in elements.
using CopyRow = void (*)(uint8_t *to, int64_t toStep, const uint8_t *from, int64_t fromStep, int64_t count);

template <size_t Bytes>
void CopyStrided(uint8_t *to, int64_t toStep, const uint8_t *from, int64_t fromStep, int64_t count)
{
    for (int64_t i = 0; i < count; ++i) {
        std::memcpy(to + i * toStep * static_cast<int64_t>(Bytes), from + i * fromStep * static_cast<int64_t>(Bytes), Bytes);
    }
}

template <size_t Bytes>
void CopyDense(uint8_t *to, int64_t, const uint8_t *from, int64_t, int64_t count)
{
    std::memcpy(to, from, static_cast<size_t>(count) * Bytes);
}

CopyRow ChooseCopy(size_t bytes, bool dense)
{
    switch (bytes) {
        case 1:
            return dense ? CopyDense<1> : CopyStrided<1>;
        case 2:
            return dense ? CopyDense<2> : CopyStrided<2>;
        case 4:
            return dense ? CopyDense<4> : CopyStrided<4>;
        case 8:
            return dense ? CopyDense<8> : CopyStrided<8>;
        default:
            return dense ? CopyDense<16> : CopyStrided<16>;
    }
}

struct View {
    std::vector<Dim> outer;
    Dim inner = {1, 1};
    int64_t bytes = 0; // of one element
    bool empty = false;

    explicit View(const aclTensor &tensor)
        : outer(Coalesce(tensor)), bytes(static_cast<int64_t>(TypeSize(tensor.dataType)))
    {
        for (const int64_t size : tensor.viewShape) {
            empty = empty || size <= 0;
        }
        if (!outer.empty()) {
            inner = outer.back();
            outer.pop_back();
        }
    }

    // First and last byte, as addresses, that the view touches when its first element is at `from`. Shapes
    // and strides come from the caller unchecked: wide arithmetic, so that nonsense is outside every
    // allocation.
    std::pair<Wide, Wide> Reach(const uint8_t *from) const
    {
        Wide first = static_cast<Wide>(reinterpret_cast<uintptr_t>(from));
        Wide last = first + bytes - 1;
        const auto extend = [&](const Dim &dim) {
            const Wide span = static_cast<Wide>(dim.size - 1) * dim.stride;
            const Wide limit = Wide(1) << 96;
            (span < 0 ? first : last) += (span > limit ? limit : span < -limit ? -limit : span) * bytes;
        };
        extend(inner);
        for (const Dim &dim : outer) {
            extend(dim);
        }
        return {first, last};
    }

    // Calls row(offset of the row in the view, offset of the row when dense), both in bytes, for each innermost row in
    // row-major order.
    template <typename Row>
    void Walk(const Row &row) const
    {
        std::vector<int64_t> index(outer.size(), 0);
        int64_t strided = 0;
        int64_t dense = 0;
        while (true) {
            row(strided, dense);
            dense += inner.size * bytes;
            size_t d = outer.size();
            while (d > 0) {
                --d;
                strided += outer[d].stride * bytes;
                if (++index[d] < outer[d].size) {
                    break;
                }
                strided -= outer[d].size * outer[d].stride * bytes;
                index[d] = 0;
                if (d == 0) {
                    return;
                }
            }
            if (outer.empty()) {
                return;
            }
        }
    }
};

// Between the view, whose first element is at `at`, and its dense form.
aclemu::TaskResult CopyView(const View &view, uint8_t *at, uint8_t *dense, bool gather)
{
    if (view.empty) {
        return {};
    }
    const auto [first, last] = view.Reach(at);
    aclemu::Allocation found;
    bool inside = first > 0 && last <= Wide(UINTPTR_MAX);
    inside = inside &&
             aclemu::FindAllocation(reinterpret_cast<const void *>(static_cast<uintptr_t>(first)), &found);
    inside = inside && last < static_cast<Wide>(reinterpret_cast<uintptr_t>(found.base)) +
                                  static_cast<Wide>(found.size);
    if (!inside) {
        return {ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, "a strided view reaches outside live device memory"};
    }
    const Dim &row = view.inner;
    const CopyRow copy = ChooseCopy(static_cast<size_t>(view.bytes), row.stride == 1);
    if (gather) {
        view.Walk([&](int64_t from, int64_t to) { copy(dense + to, 1, at + from, row.stride, row.size); });
    } else {
        view.Walk([&](int64_t to, int64_t from) { copy(at + to, row.stride, dense + from, 1, row.size); });
    }
    return {};
}

std::function<Kernel()> PlanCopy(const aclTensor *tensor, uint64_t offset, bool gather)
{
    return [tensor, offset, gather, view = std::make_shared<const View>(*tensor)]() -> Kernel {
        return [view, offset, gather, at = tensor->Data()](uint8_t *workspace) {
            return CopyView(*view, at, workspace + offset, gather);
        };
    };
}

} // namespace

uint64_t DenseBytes(const aclTensor &tensor)
{
    return static_cast<uint64_t>(tensor.Size()) * TypeSize(tensor.dataType);
}

std::function<Kernel()> MakeContiguous(const aclTensor *tensor, uint64_t offset)
{
    return PlanCopy(tensor, offset, true);
}

std::function<Kernel()> CopyBack(const aclTensor *tensor, uint64_t offset)
{
    return PlanCopy(tensor, offset, false);
}

} // namespace nnop
