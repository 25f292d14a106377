// The Sinkhorn iterations backwards, on planes: cell (i, j) of all tokens of a loop lies in one plane, so row and column steps
// differ only in which planes they add.
#ifndef MHC_PRE_SINKHORN_BACKWARD_SINKHORN_H
#define MHC_PRE_SINKHORN_BACKWARD_SINKHORN_H

#include "mhc_pre_sinkhorn_backward_common.h"

namespace MhcPreSinkhornBackward {

class SinkhornGradient {
public:
    // grad, products: n*n planes, row-major; sums: n planes.
    __aicore__ inline SinkhornGradient(const LocalTensor<float> &grad, const LocalTensor<float> &products,
                                       const LocalTensor<float> &sums, uint32_t streams, uint32_t lanes)
        : grad_(grad), products_(products), sums_(sums), streams_(streams), lanes_(lanes), row_(streams * lanes)
    {
        const uint8_t plane = static_cast<uint8_t>(lanes / FP32_BLOCK); // in blocks
        const uint8_t row = static_cast<uint8_t>(plane * streams);
        sumAndCell_ = {1, 1, 1, plane, plane, row};
        cellAndSum_ = {1, 1, 1, row, row, plane};
    }

    // One iteration: norm is the quotient of the row step (n*n planes), rowSums and columnSums the divisors (n planes each).
    // Spoils columnSums' squares only.
    __aicore__ inline void Step(const LocalTensor<float> &norm, const LocalTensor<float> &rowSums,
                                const LocalTensor<float> &columnSums, const LocalTensor<float> &squares)
    {
        Mul(products_, grad_, norm, streams_ * row_);
        Mul(squares, columnSums, columnSums, row_);
        PipeBarrier<PIPE_V>();
        Adds(sums_, products_, 0.0f, row_);
        PipeBarrier<PIPE_V>();
        for (uint32_t i = 1; i < streams_; ++i) {
            Add(sums_, sums_, products_[i * row_], row_);
            PipeBarrier<PIPE_V>();
        }
        Div(sums_, sums_, squares, row_);
        for (uint32_t i = 0; i < streams_; ++i) {
            Div(grad_[i * row_], grad_[i * row_], columnSums, row_);
        }
        PipeBarrier<PIPE_V>();
        for (uint32_t i = 0; i < streams_; ++i) {
            Sub(grad_[i * row_], grad_[i * row_], sums_, row_);
        }
        PipeBarrier<PIPE_V>();

        Mul(products_, grad_, norm, streams_ * row_);
        PipeBarrier<PIPE_V>();
        SumRows(products_);
        Div(sums_, sums_, rowSums, row_);
        for (uint32_t j = 0; j < streams_; ++j) {
            Div(grad_[j * lanes_], grad_[j * lanes_], rowSums, lanes_, streams_, cellAndSum_);
        }
        PipeBarrier<PIPE_V>();
        for (uint32_t j = 0; j < streams_; ++j) {
            Sub(grad_[j * lanes_], grad_[j * lanes_], sums_, lanes_, streams_, cellAndSum_);
        }
        PipeBarrier<PIPE_V>();
    }

    // Through the softmax's exponentials of `logits` (n*n planes, spoiled): each row's first maximum takes the gradient of the
    // subtraction. `open` is n planes of scratch.
    __aicore__ inline void Exponentials(const LocalTensor<float> &logits, const LocalTensor<float> &open)
    {
        const uint32_t cells = streams_ * row_;
        Adds(sums_, logits, 0.0f, lanes_, streams_, {1, 1, sumAndCell_.dstRepStride, sumAndCell_.src1RepStride});
        PipeBarrier<PIPE_V>();
        for (uint32_t j = 1; j < streams_; ++j) {
            Max(sums_, sums_, logits[j * lanes_], lanes_, streams_, sumAndCell_);
            PipeBarrier<PIPE_V>();
        }
        for (uint32_t j = 0; j < streams_; ++j) {
            Sub(logits[j * lanes_], logits[j * lanes_], sums_, lanes_, streams_, cellAndSum_);
        }
        PipeBarrier<PIPE_V>();
        // 1 where a logit is the maximum, else 0: scaled by 2^200 every difference but 0 is below -1.
        Muls(products_, logits, SCALE, cells);
        Exp(logits, logits, cells);
        PipeBarrier<PIPE_V>();
        Muls(products_, products_, SCALE, cells);
        Mul(grad_, grad_, logits, cells);
        PipeBarrier<PIPE_V>();
        Maxs(products_, products_, -1.0f, cells);
        SumRows(grad_);
        Adds(products_, products_, 1.0f, cells);
        Duplicate(open, 1.0f, row_);
        PipeBarrier<PIPE_V>();
        for (uint32_t j = 0; j < streams_; ++j) { // of several maxima the first
            Mul(products_[j * lanes_], products_[j * lanes_], open, lanes_, streams_, cellAndSum_);
            PipeBarrier<PIPE_V>();
            Sub(open, open, products_[j * lanes_], lanes_, streams_, sumAndCell_);
            Mul(products_[j * lanes_], products_[j * lanes_], sums_, lanes_, streams_, cellAndSum_);
            PipeBarrier<PIPE_V>();
        }
        Sub(grad_, grad_, products_, cells);
        PipeBarrier<PIPE_V>();
    }

private:
    static constexpr float SCALE = 1.2676506e30f; // 2^100

    // Per row i the sum over j.
    __aicore__ inline void SumRows(const LocalTensor<float> &cells)
    {
        Adds(sums_, cells, 0.0f, lanes_, streams_, {1, 1, sumAndCell_.dstRepStride, sumAndCell_.src1RepStride});
        PipeBarrier<PIPE_V>();
        for (uint32_t j = 1; j < streams_; ++j) {
            Add(sums_, sums_, cells[j * lanes_], lanes_, streams_, sumAndCell_);
            PipeBarrier<PIPE_V>();
        }
    }

    LocalTensor<float> grad_;
    LocalTensor<float> products_;
    LocalTensor<float> sums_;
    uint32_t streams_;
    uint32_t lanes_;
    uint32_t row_; // floats of a row of planes
    // One repeat per row i: a row of cells is `streams` planes away from the next, a row of sums one plane.
    BinaryRepeatParams sumAndCell_;
    BinaryRepeatParams cellAndSum_;
};

} // namespace MhcPreSinkhornBackward

#endif // MHC_PRE_SINKHORN_BACKWARD_SINKHORN_H
