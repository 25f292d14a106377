// From the products of a few tokens to z and the two gates. Everything lies in planes: the values of one row of phi for all
// tokens of a loop, `lanes` floats, so that every instruction works on many tokens.
#ifndef MHC_GATE_PLANES_H
#define MHC_GATE_PLANES_H

#include "mhc_shape.h"

namespace Mhc {

template <typename SHAPE>
class GatePlanes {
public:
    // lanes: 16 or 32.
    __aicore__ inline void Init(GM_ADDR alpha, GM_ADDR bias, uint32_t lanes, TPipe *pipe)
    {
        lanes_ = lanes;
        alpha_.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(alpha), SHAPE::CELLS > 0 ? 3 : 2);
        GlobalTensor<float> biasRows;
        biasRows.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(bias), SHAPE::MIX);
        pipe->InitBuffer(buffer_, PLANES * lanes_ * sizeof(float));
        mix_ = buffer_.Get<float>();
        bias_ = mix_[SHAPE::MIX_STRIDE * lanes_];
        gates_ = bias_[SHAPE::MIX * lanes_];
        ones_ = gates_[SHAPE::GATES * lanes_];
        Duplicate(ones_, 1.0f, SHAPE::GATES * lanes_);
        for (uint32_t row = 0; row < SHAPE::MIX; ++row) {
            Duplicate(bias_[row * lanes_], biasRows.GetValue(row), lanes_);
        }
        PipeBarrier<PIPE_V>();
    }

    // products: [lanes][MIX_STRIDE]; invRms: a plane.
    // z = product * invRms * alpha + bias; pre = sigmoid + preEps, post = 2 * sigmoid + postEps.
    __aicore__ inline void Make(const LocalTensor<float> &products, const LocalTensor<float> &invRms, float preEps,
                                float postEps)
    {
        Transpose(products);
        const uint8_t plane = static_cast<uint8_t>(lanes_ / FP32_BLOCK);
        Mul(mix_, mix_, invRms, lanes_, SHAPE::MIX, {1, 1, 1, plane, plane, 0});
        PipeBarrier<PIPE_V>();
        const LocalTensor<float> post = mix_[SHAPE::STREAMS * lanes_];
        Muls(mix_, mix_, alpha_.GetValue(0), SHAPE::STREAMS * lanes_);
        Muls(post, post, alpha_.GetValue(1), SHAPE::STREAMS * lanes_);
        if constexpr (SHAPE::CELLS > 0) {
            Muls(Cells(), Cells(), alpha_.GetValue(2), SHAPE::CELLS * lanes_);
        }
        PipeBarrier<PIPE_V>();
        Add(mix_, mix_, bias_, SHAPE::MIX * lanes_);
        PipeBarrier<PIPE_V>();

        Muls(gates_, mix_, -1.0f, SHAPE::GATES * lanes_);
        PipeBarrier<PIPE_V>();
        Exp(gates_, gates_, SHAPE::GATES * lanes_);
        PipeBarrier<PIPE_V>();
        Adds(gates_, gates_, 1.0f, SHAPE::GATES * lanes_);
        PipeBarrier<PIPE_V>();
        Div(gates_, ones_, gates_, SHAPE::GATES * lanes_);
        PipeBarrier<PIPE_V>();
        Adds(gates_, gates_, preEps, SHAPE::STREAMS * lanes_);
        Muls(Post(), Post(), 2.0f, SHAPE::STREAMS * lanes_);
        PipeBarrier<PIPE_V>();
        if (postEps != 0.0f) {
            Adds(Post(), Post(), postEps, SHAPE::STREAMS * lanes_);
            PipeBarrier<PIPE_V>();
        }
    }

    __aicore__ inline LocalTensor<float> Pre() const // n planes
    {
        return gates_;
    }

    __aicore__ inline LocalTensor<float> Post() const // n planes
    {
        return gates_[SHAPE::STREAMS * lanes_];
    }

    __aicore__ inline LocalTensor<float> Cells() const // n*n planes: z of res, the caller's to change
    {
        return mix_[SHAPE::GATES * lanes_];
    }

private:
    static constexpr uint32_t PLANES = SHAPE::MIX_STRIDE + SHAPE::MIX + 2 * SHAPE::GATES;

    __aicore__ inline void Transpose(const LocalTensor<float> &rows)
    {
        constexpr uint32_t tokensPerRepeat = 16;
        TransDataTo5HDParams params;
        params.repeatTimes = static_cast<uint8_t>(lanes_ / tokensPerRepeat);
        params.dstRepStride = params.repeatTimes > 1 ? tokensPerRepeat / FP32_BLOCK : 0;
        params.srcRepStride = params.repeatTimes > 1 ? tokensPerRepeat * SHAPE::MIX_STRIDE / FP32_BLOCK : 0;
        for (uint32_t column = 0; column < SHAPE::MIX_STRIDE; column += FP32_BLOCK) {
            LocalTensor<float> from[NCHW_CONV_ADDR_LIST_SIZE];
            LocalTensor<float> to[NCHW_CONV_ADDR_LIST_SIZE];
            for (uint32_t i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; ++i) {
                from[i] = rows[i * SHAPE::MIX_STRIDE + column];
                to[i] = mix_[(column + i / 2) * lanes_ + i % 2 * FP32_BLOCK];
            }
            TransDataTo5HD<float>(to, from, params);
        }
        PipeBarrier<PIPE_V>();
    }

    uint32_t lanes_ = 0;
    GlobalTensor<float> alpha_;
    TBuf<TPosition::VECCALC> buffer_;
    LocalTensor<float> mix_;   // products, then z
    LocalTensor<float> bias_;
    LocalTensor<float> gates_; // pre, post
    LocalTensor<float> ones_;
};

} // namespace Mhc

#endif // MHC_GATE_PLANES_H
