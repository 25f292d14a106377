// The sums over cores and parts, always in the same order.
#ifndef MHC_PRE_SINKHORN_BACKWARD_TOTALS_H
#define MHC_PRE_SINKHORN_BACKWARD_TOTALS_H

#include "mhc_pre_sinkhorn_backward_common.h"

namespace MhcPreSinkhornBackward {

class Totals {
public:
    __aicore__ inline void Init(const Addresses &addresses, const TilingData &tiling, TPipe *pipe)
    {
        tiling_ = &tiling;
        size_ = tiling.mix * static_cast<uint64_t>(tiling.streams) * tiling.tail;
        gradPhi_.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(addresses.gradPhi), size_);
        gradAlpha_.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(addresses.gradAlpha), 3);
        gradBias_.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(addresses.gradBias), tiling.mix);
        workspace_.Init(addresses.workspace, tiling, GetBlockIdx() / 2);
        pipe->InitBuffer(in_, 2, CHUNK * sizeof(float));
        pipe->InitBuffer(out_, 2, CHUNK * sizeof(float));
    }

    // gradBias and gradAlpha from the sums of the vector cores.
    __aicore__ inline void Small()
    {
        const uint32_t length = tiling_->mixRows + ALPHA_SUMS;
        LocalTensor<float> sum = Sum(workspace_.sums, length, tiling_->vectorCores, length);
        DataCopyExtParams bias(1, tiling_->mix * sizeof(float), 0, 0, 0);
        DataCopyPad(gradBias_, sum, bias);
        DataCopyExtParams alpha(1, 3 * sizeof(float), 0, 0, 0);
        DataCopyPad(gradAlpha_, sum[tiling_->mixRows], alpha);
        out_.FreeTensor(sum);
    }

    // gradPhi from those of the parts; each vector core of the launch adds every so many chunks.
    __aicore__ inline void GradPhi()
    {
        const uint64_t cores = GetBlockNum() * 2;
        for (uint64_t first = GetBlockIdx() * CHUNK; first < size_; first += cores * CHUNK) {
            const uint32_t count = static_cast<uint32_t>(Smaller(CHUNK, size_ - first));
            LocalTensor<float> sum = Sum(workspace_.gradPhi[first], size_, tiling_->tokenParts, count);
            DataCopy(gradPhi_[first], sum, count);
            out_.FreeTensor(sum);
        }
    }

private:
    static constexpr uint32_t CHUNK = 4096; // floats

    // `count` floats, a multiple of 8, of `terms` rows that are `stride` floats apart.
    __aicore__ inline LocalTensor<float> Sum(const GlobalTensor<float> &from, uint64_t stride, uint32_t terms, uint32_t count)
    {
        LocalTensor<float> sum = out_.AllocTensor<float>();
        Duplicate(sum, 0.0f, count);
        PipeBarrier<PIPE_V>();
        for (uint32_t term = 0; term < terms; ++term) {
            LocalTensor<float> in = in_.AllocTensor<float>();
            DataCopy(in, from[term * stride], count);
            in_.EnQue(in);
            in = in_.DeQue<float>();
            Add(sum, sum, in, count);
            PipeBarrier<PIPE_V>();
            in_.FreeTensor(in);
        }
        out_.EnQue(sum);
        return out_.DeQue<float>();
    }

    const TilingData *tiling_ = nullptr;
    uint64_t size_ = 0; // of gradPhi
    GlobalTensor<float> gradPhi_;
    GlobalTensor<float> gradAlpha_;
    GlobalTensor<float> gradBias_;
    Workspace workspace_;
    TQue<TPosition::VECIN, 2> in_;
    TQue<TPosition::VECOUT, 2> out_;
};

} // namespace MhcPreSinkhornBackward

#endif // MHC_PRE_SINKHORN_BACKWARD_TOTALS_H
