// The token pass of a vector core: per token the gradient of hcBeforeNorm, and over its tokens the sums of gradBias and
// gradAlpha. Also its share of the transposition of phi.
#ifndef MHC_PRE_SINKHORN_BACKWARD_TOKEN_PASS_H
#define MHC_PRE_SINKHORN_BACKWARD_TOKEN_PASS_H

#include "mhc_pre_sinkhorn_backward_planes.h"
#include "mhc_pre_sinkhorn_backward_sinkhorn.h"

namespace MhcPreSinkhornBackward {

template <typename T>
class TokenPass {
public:
    __aicore__ inline void Init(const Addresses &addresses, const TilingData &tiling, TPipe *pipe)
    {
        tiling_ = &tiling;
        n_ = tiling.streams;
        mix_ = tiling.mix;
        lanes_ = tiling.lanes;
        width_ = n_ * tiling.tail;
        const uint64_t slots = 2 * static_cast<uint64_t>(tiling.numIters);
        gradHin_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(addresses.gradHin), tiling.tokens * tiling.tail);
        x_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(addresses.x), tiling.tokens * width_);
        Set(gradHPost_, addresses.gradHPost, tiling.tokens * n_);
        Set(gradHRes_, addresses.gradHRes, tiling.tokens * n_ * n_);
        Set(phi_, addresses.phi, mix_ * width_);
        Set(alpha_, addresses.alpha, 3);
        Set(bias_, addresses.bias, mix_);
        Set(hPre_, addresses.hPre, tiling.tokens * n_);
        Set(hcBeforeNorm_, addresses.hcBeforeNorm, tiling.tokens * mix_);
        Set(invRms_, addresses.invRms, tiling.tokens);
        Set(sumOut_, addresses.sumOut, slots * tiling.tokens * n_);
        Set(normOut_, addresses.normOut, slots * tiling.tokens * n_ * n_);
        workspace_.Init(addresses.workspace, tiling, GetBlockIdx() / 2);

        const uint32_t tile = lanes_ * COLUMNS;
        const uint32_t mixRows = tiling.mixRows;
        const uint32_t outPlanes = mixRows + n_ + 1;
        pipe->InitBuffer(gradIn_, 2, tile * sizeof(T));
        pipe->InitBuffer(xIn_, 2, tile * sizeof(T));
        pipe->InitBuffer(gradWideBuf_, tile * sizeof(float));
        pipe->InitBuffer(xWideBuf_, tile * sizeof(float));
        pipe->InitBuffer(dotsBuf_, n_ * lanes_ * FP32_REPEAT * sizeof(float));
        loader_.Init(n_, lanes_, n_ * FP32_BLOCK > mixRows ? n_ * FP32_BLOCK : mixRows, pipe);
        writer_.Init(lanes_, outPlanes, pipe);
        pipe->InitBuffer(phiIn_, 1, mixRows * COLUMNS * sizeof(float));
        pipe->InitBuffer(phiOut_, 1, mixRows * COLUMNS * sizeof(float));
        pipe->InitBuffer(totalsBuf_, (mixRows + ALPHA_SUMS) * sizeof(float));
        pipe->InitBuffer(partBuf_, (mixRows + ALPHA_SUMS) * sizeof(float));
        pipe->InitBuffer(planesBuf_, (5 * mixRows + outPlanes + 2 * n_ * n_ + 6 * FP32_BLOCK + 4) * lanes_ * sizeof(float));

        LocalTensor<float> planes = planesBuf_.Get<float>();
        products_ = planes;
        normed_ = products_[mixRows * lanes_];
        logits_ = normed_[mixRows * lanes_];
        grad_ = logits_[mixRows * lanes_];
        biasPlanes_ = grad_[mixRows * lanes_];
        out_ = biasPlanes_[mixRows * lanes_];
        norm_ = out_[outPlanes * lanes_];
        scratch_ = norm_[n_ * n_ * lanes_];
        gates_ = scratch_[n_ * n_ * lanes_];
        gradGates_ = gates_[2 * FP32_BLOCK * lanes_];
        rowSums_ = gradGates_[2 * FP32_BLOCK * lanes_];
        columnSums_ = rowSums_[FP32_BLOCK * lanes_];
        inverse_ = columnSums_[FP32_BLOCK * lanes_];
        segments_ = inverse_[lanes_];
        totals_ = totalsBuf_.Get<float>();
        part_ = partBuf_.Get<float>();
    }

    __aicore__ inline void Process()
    {
        TransposePhi();
        const uint64_t core = GetBlockIdx();
        if (core >= tiling_->vectorCores) {
            return;
        }
        FillConstants();
        const uint64_t first = core * tiling_->rowsPerCore;
        const uint64_t last = Smaller(first + tiling_->rowsPerCore, tiling_->tokens);
        for (uint64_t token = first; token < last; token += lanes_) {
            Tokens(token, static_cast<uint32_t>(Smaller(lanes_, last - token)));
        }
        const uint32_t length = tiling_->mixRows + ALPHA_SUMS;
        writer_.WriteFloats(workspace_.sums[core * length], totals_, length);
    }

private:
    static __aicore__ inline void Set(GlobalTensor<float> &tensor, GM_ADDR address, uint64_t size)
    {
        tensor.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(address), size);
    }

    // phi [mix, n*c] to [n*c, mixRows] in workspace, COLUMNS columns at a time, spread over all vector cores of the launch.
    __aicore__ inline void TransposePhi()
    {
        const uint32_t mixRows = tiling_->mixRows;
        const uint64_t cores = GetBlockNum() * 2;
        for (uint64_t tile = GetBlockIdx(); tile < width_ / COLUMNS; tile += cores) {
            LocalTensor<float> in = phiIn_.AllocTensor<float>();
            DataCopyExtParams params(static_cast<uint16_t>(mix_), COLUMNS * sizeof(float),
                                     static_cast<uint32_t>((width_ - COLUMNS) * sizeof(float)), 0, 0);
            DataCopyPadExtParams<float> noPadding(false, 0, 0, 0.0f);
            DataCopyPad(in, phi_[tile * COLUMNS], params, noPadding);
            phiIn_.EnQue(in);
            in = phiIn_.DeQue<float>();
            LocalTensor<float> out = phiOut_.AllocTensor<float>();
            for (uint32_t first = 0; first < mixRows; first += GROUP) {
                const uint32_t second = first + FP32_BLOCK < mixRows ? FP32_BLOCK : 0;
                LocalTensor<float> rows[NCHW_CONV_ADDR_LIST_SIZE];
                LocalTensor<float> columns[NCHW_CONV_ADDR_LIST_SIZE];
                for (uint32_t i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; ++i) {
                    const uint32_t row = first + i / FP32_BLOCK * second + i % FP32_BLOCK;
                    rows[i] = in[(row < mix_ ? row : 0) * COLUMNS]; // behind mix stands what a zero will multiply
                    columns[i] = out[i / 2 * mixRows + first + i % 2 * second];
                }
                const TransDataTo5HDParams repeats(false, false, COLUMNS / FP32_BLOCK, static_cast<uint16_t>(mixRows), 1);
                TransDataTo5HD<float>(columns, rows, repeats);
            }
            PipeBarrier<PIPE_V>();
            phiIn_.FreeTensor(in);
            phiOut_.EnQue(out);
            out = phiOut_.DeQue<float>();
            DataCopy(workspace_.phi[tile * COLUMNS * mixRows], out, COLUMNS * mixRows);
            phiOut_.FreeTensor(out);
        }
    }

    __aicore__ inline void FillConstants()
    {
        Duplicate(totals_, 0.0f, tiling_->mixRows + ALPHA_SUMS);
        Duplicate(part_, 0.0f, tiling_->mixRows + ALPHA_SUMS);
        Duplicate(out_, 0.0f, (tiling_->mixRows + n_ + 1) * lanes_);
        for (uint32_t row = 0; row < mix_; ++row) {
            Duplicate(biasPlanes_[row * lanes_], bias_.GetValue(row), lanes_);
        }
        PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void Tokens(uint64_t token, uint32_t count)
    {
        const LocalTensor<float> hPre = out_[tiling_->mixRows * lanes_];
        Dots(token, count);
        loader_.LoadVectors(gradGates_[n_ * lanes_], gradHPost_[token * n_], count, n_);
        Logits(token, count);
        Gates();
        Sinkhorn(token, count);
        Sums(count);
        loader_.LoadVectors(gates_, hPre_[token * n_], count, n_); // eight planes, more than there is room for in out_
        Adds(hPre, gates_, 0.0f, n_ * lanes_);
        Scale(hPre[n_ * lanes_]);
        writer_.WriteVectors(workspace_.rows[token * tiling_->mixRows], out_, tiling_->mixRows, count);
        writer_.WritePlanes(workspace_.planes[token], out_, tiling_->mixRows + n_ + 1, count, tiling_->tokenStride);
    }

    // Gradient of hPre: sum over d of gradHin * x, for each stream, first in 64 lanes per token.
    __aicore__ inline void Dots(uint64_t token, uint32_t count)
    {
        LocalTensor<float> dots = dotsBuf_.Get<float>();
        LocalTensor<float> gradWide = gradWideBuf_.Get<float>();
        LocalTensor<float> xWide = xWideBuf_.Get<float>();
        const uint32_t stride = lanes_ * FP32_REPEAT;
        Duplicate(dots, 0.0f, n_ * stride);
        PipeBarrier<PIPE_V>();
        constexpr uint8_t rowStride = COLUMNS / FP32_BLOCK;
        for (uint64_t column = 0; column < tiling_->tail; column += COLUMNS) {
            Load(gradIn_, gradHin_[token * tiling_->tail + column], count, tiling_->tail - COLUMNS);
            Widen(gradWide, gradIn_, count);
            for (uint32_t stream = 0; stream < n_; ++stream) {
                Load(xIn_, x_[token * width_ + stream * tiling_->tail + column], count, width_ - COLUMNS);
                Widen(xWide, xIn_, count);
                for (uint32_t part = 0; part < COLUMNS; part += FP32_REPEAT) {
                    MulAddDst(dots[stream * stride], gradWide[part], xWide[part], FP32_REPEAT, count,
                              {1, 1, 1, FP32_REPEAT / FP32_BLOCK, rowStride, rowStride});
                    PipeBarrier<PIPE_V>();
                }
            }
        }
        for (uint32_t stream = 0; stream < n_; ++stream) {
            WholeReduceSum(gradGates_[stream * lanes_], dots[stream * stride], FP32_REPEAT, count, 1, 1,
                           FP32_REPEAT / FP32_BLOCK);
        }
        PipeBarrier<PIPE_V>();
    }

    // `count` rows of COLUMNS elements, `gap` elements apart.
    template <typename Queue>
    __aicore__ inline void Load(Queue &queue, const GlobalTensor<T> &from, uint32_t count, uint64_t gap)
    {
        LocalTensor<T> narrow = queue.template AllocTensor<T>();
        DataCopyExtParams params(static_cast<uint16_t>(count), COLUMNS * sizeof(T), static_cast<uint32_t>(gap * sizeof(T)), 0,
                                 0);
        DataCopyPadExtParams<T> noPadding(false, 0, 0, 0);
        DataCopyPad(narrow, from, params, noPadding);
        queue.EnQue(narrow);
    }

    template <typename Queue>
    __aicore__ inline void Widen(const LocalTensor<float> &wide, Queue &queue, uint32_t count)
    {
        LocalTensor<T> narrow = queue.template DeQue<T>();
        Cast(wide, narrow, RoundMode::CAST_NONE, count * COLUMNS);
        PipeBarrier<PIPE_V>();
        queue.FreeTensor(narrow);
    }

    // w = hcBeforeNorm * invRms, z = w * alpha + bias.
    __aicore__ inline void Logits(uint64_t token, uint32_t count)
    {
        const uint8_t plane = static_cast<uint8_t>(lanes_ / FP32_BLOCK);
        loader_.LoadScalars(inverse_, invRms_[token], count);
        loader_.LoadVectors(products_, hcBeforeNorm_[token * mix_], count, mix_);
        Mul(normed_, products_, inverse_, lanes_, mix_, {1, 1, 1, plane, plane, 0});
        PipeBarrier<PIPE_V>();
        TimesAlpha(logits_, normed_);
        Add(logits_, logits_, biasPlanes_, mix_ * lanes_);
        PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void TimesAlpha(const LocalTensor<float> &to, const LocalTensor<float> &from)
    {
        const uint32_t row = n_ * lanes_;
        Muls(to, from, alpha_.GetValue(0), row);
        Muls(to[row], from[row], alpha_.GetValue(1), row);
        Muls(to[2 * row], from[2 * row], alpha_.GetValue(2), n_ * row);
        PipeBarrier<PIPE_V>();
    }

    // gradGates_ holds the gradients of hPre and hPost. The derivative of hPre is s * (1 - s) with s = sigmoid - eps, as the
    // operator is defined; that of hPost twice that with the sigmoid itself.
    __aicore__ inline void Gates()
    {
        const uint32_t row = n_ * lanes_;
        const LocalTensor<float> ones = grad_; // not needed yet
        Duplicate(ones, 1.0f, 2 * row);
        Muls(gates_, logits_, -1.0f, 2 * row);
        PipeBarrier<PIPE_V>();
        Exp(gates_, gates_, 2 * row);
        PipeBarrier<PIPE_V>();
        Adds(gates_, gates_, 1.0f, 2 * row);
        PipeBarrier<PIPE_V>();
        Div(gates_, ones, gates_, 2 * row);
        PipeBarrier<PIPE_V>();
        Adds(gates_, gates_, -tiling_->hcEps, row);
        PipeBarrier<PIPE_V>();
        Sub(grad_, ones, gates_, 2 * row);
        PipeBarrier<PIPE_V>();
        Mul(gates_, gates_, grad_, 2 * row);
        Muls(gradGates_[row], gradGates_[row], 2.0f, row);
        PipeBarrier<PIPE_V>();
        Mul(grad_, gradGates_, gates_, 2 * row);
        PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void Sinkhorn(uint64_t token, uint32_t count)
    {
        const uint32_t row = n_ * lanes_;
        const LocalTensor<float> grad = grad_[2 * row];
        loader_.LoadMatrices(grad, gradHRes_[token * n_ * n_], count);
        SinkhornGradient gradient(grad, scratch_, gates_, n_, lanes_);
        for (uint32_t iter = tiling_->numIters; iter > 0; --iter) {
            const uint64_t slot = (2 * (iter - 1)) * tiling_->tokens + token;
            loader_.LoadVectors(rowSums_, sumOut_[slot * n_], count, n_);
            loader_.LoadVectors(columnSums_, sumOut_[(slot + tiling_->tokens) * n_], count, n_);
            loader_.LoadMatrices(norm_, normOut_[slot * n_ * n_], count);
            gradient.Step(norm_, rowSums_, columnSums_, gates_[FP32_BLOCK * lanes_]);
        }
        gradient.Exponentials(logits_[2 * row], rowSums_);
    }

    // The sums over the tokens, of the valid lanes only: dz for gradBias, w * dz of each segment for gradAlpha.
    __aicore__ inline void Sums(uint32_t count)
    {
        const int32_t plane = static_cast<int32_t>(lanes_ / FP32_BLOCK);
        Mul(logits_, normed_, grad_, mix_ * lanes_);
        PipeBarrier<PIPE_V>();
        AddPlanes(segments_, logits_, n_);
        AddPlanes(segments_[lanes_], logits_[n_ * lanes_], n_);
        AddPlanes(segments_[2 * lanes_], logits_[2 * n_ * lanes_], n_ * n_);
        const LocalTensor<float> alpha = part_[tiling_->mixRows];
        WholeReduceSum(part_, grad_, static_cast<int32_t>(count), static_cast<int32_t>(mix_), 1, 1, plane);
        WholeReduceSum(alpha, segments_, static_cast<int32_t>(count), 3, 1, 1, plane);
        PipeBarrier<PIPE_V>();
        Add(totals_, totals_, part_, tiling_->mixRows + ALPHA_SUMS);
        PipeBarrier<PIPE_V>();
    }

    // Gradient of hcBeforeNorm, and the factor of x in gradX: -invRms^3 * sum(hcBeforeNorm * gradient of w) / (n*c).
    __aicore__ inline void Scale(const LocalTensor<float> &factor)
    {
        const uint8_t plane = static_cast<uint8_t>(lanes_ / FP32_BLOCK);
        TimesAlpha(out_, grad_);
        Mul(logits_, products_, out_, mix_ * lanes_);
        PipeBarrier<PIPE_V>();
        AddPlanes(factor, logits_, mix_);
        Mul(out_, out_, inverse_, lanes_, mix_, {1, 1, 1, plane, plane, 0});
        for (uint32_t power = 0; power < 3; ++power) {
            Mul(factor, factor, inverse_, lanes_);
            PipeBarrier<PIPE_V>();
        }
        Muls(factor, factor, -tiling_->meanFactor, lanes_);
        PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void AddPlanes(const LocalTensor<float> &to, const LocalTensor<float> &planes, uint32_t count)
    {
        Adds(to, planes, 0.0f, lanes_);
        PipeBarrier<PIPE_V>();
        for (uint32_t i = 1; i < count; ++i) {
            Add(to, to, planes[i * lanes_], lanes_);
            PipeBarrier<PIPE_V>();
        }
    }

    const TilingData *tiling_ = nullptr;
    uint32_t n_ = 0;
    uint32_t mix_ = 0;
    uint32_t lanes_ = 0; // length of a plane
    uint64_t width_ = 0; // n*c
    GlobalTensor<T> gradHin_;
    GlobalTensor<T> x_;
    GlobalTensor<float> gradHPost_;
    GlobalTensor<float> gradHRes_;
    GlobalTensor<float> phi_;
    GlobalTensor<float> alpha_;
    GlobalTensor<float> bias_;
    GlobalTensor<float> hPre_;
    GlobalTensor<float> hcBeforeNorm_;
    GlobalTensor<float> invRms_;
    GlobalTensor<float> sumOut_;
    GlobalTensor<float> normOut_;
    Workspace workspace_;
    PlaneLoader loader_;
    PlaneWriter writer_;
    TQue<TPosition::VECIN, 2> gradIn_;
    TQue<TPosition::VECIN, 2> xIn_;
    TQue<TPosition::VECIN, 1> phiIn_;
    TQue<TPosition::VECOUT, 1> phiOut_;
    TBuf<TPosition::VECCALC> gradWideBuf_;
    TBuf<TPosition::VECCALC> xWideBuf_;
    TBuf<TPosition::VECCALC> dotsBuf_;
    TBuf<TPosition::VECCALC> totalsBuf_;
    TBuf<TPosition::VECCALC> partBuf_;
    TBuf<TPosition::VECCALC> planesBuf_;
    LocalTensor<float> products_;     // mixRows planes: hcBeforeNorm
    LocalTensor<float> normed_;       // mixRows planes: w
    LocalTensor<float> logits_;       // mixRows planes: z, later scratch
    LocalTensor<float> grad_;         // mixRows planes: gradient of z
    LocalTensor<float> biasPlanes_;   // mixRows planes
    LocalTensor<float> out_;          // mixRows + n + 1 planes: gradient of hcBeforeNorm, hPre, factor of x
    LocalTensor<float> norm_;         // n*n planes
    LocalTensor<float> scratch_;      // n*n planes
    LocalTensor<float> gates_;        // 16 planes
    LocalTensor<float> gradGates_;    // 16 planes: gradients of hPre, hPost
    LocalTensor<float> rowSums_;      // 8 planes
    LocalTensor<float> columnSums_;   // 8 planes
    LocalTensor<float> inverse_;      // 1 plane: invRms
    LocalTensor<float> segments_;     // 3 planes
    LocalTensor<float> totals_;       // mixRows sums of gradBias, then those of gradAlpha
    LocalTensor<float> part_;         // the same of one loop
};

} // namespace MhcPreSinkhornBackward

#endif // MHC_PRE_SINKHORN_BACKWARD_TOKEN_PASS_H
