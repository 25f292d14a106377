// The Sinkhorn iterations on planes: cell (i, j) of all tokens of a loop lies in one plane of `lanes` floats, so that every
// instruction works on many tokens and row and column steps differ only in which planes they add.
#ifndef MHC_SINKHORN_PLANES_H
#define MHC_SINKHORN_PLANES_H

#include "mhc_shape.h"

namespace Mhc {

// N: 4, 6 or 8.
template <uint32_t N>
class SinkhornPlanes {
public:
    // cells: N*N planes, row-major; rows, columns: N planes each for the sums. lanes: a multiple of 8, at most 64 and such
    // that a row of planes is at most 255 blocks of 32 bytes.
    __aicore__ inline SinkhornPlanes(const LocalTensor<float> &cells, const LocalTensor<float> &rows,
                                     const LocalTensor<float> &columns, uint32_t lanes, float eps)
        : cells_(cells), rows_(rows), columns_(columns), lanes_(lanes), eps_(eps)
    {
        const uint8_t plane = static_cast<uint8_t>(lanes / FP32_BLOCK); // in blocks
        const uint8_t row = static_cast<uint8_t>(plane * STREAMS);
        twoCells_ = {1, 1, 1, plane, row, row};
        sumAndCell_ = {1, 1, 1, plane, plane, row};
        cellAndSum_ = {1, 1, 1, row, row, plane};
    }

    // Slot 0: softmax over j, then + eps. The sum is stored with eps, the division is by the sum without it.
    __aicore__ inline void SoftmaxStep()
    {
        Max(rows_, cells_, cells_[lanes_], lanes_, STREAMS, twoCells_);
        PipeBarrier<PIPE_V>();
        for (uint32_t j = 2; j < STREAMS; ++j) {
            Max(rows_, rows_, cells_[j * lanes_], lanes_, STREAMS, sumAndCell_);
            PipeBarrier<PIPE_V>();
        }
        for (uint32_t j = 0; j < STREAMS; ++j) {
            Sub(cells_[j * lanes_], cells_[j * lanes_], rows_, lanes_, STREAMS, cellAndSum_);
        }
        PipeBarrier<PIPE_V>();
        Exp(cells_, cells_, CELLS * lanes_);
        PipeBarrier<PIPE_V>();
        SumRows();
        DivideRows();
        Adds(cells_, cells_, eps_, CELLS * lanes_);
        Adds(rows_, rows_, eps_, STREAMS * lanes_);
        PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void RowStep()
    {
        SumRows();
        Adds(rows_, rows_, eps_, STREAMS * lanes_);
        PipeBarrier<PIPE_V>();
        DivideRows();
    }

    __aicore__ inline void ColumnStep()
    {
        const uint32_t row = STREAMS * lanes_;
        Add(columns_, cells_, cells_[row], row);
        PipeBarrier<PIPE_V>();
        for (uint32_t i = 2; i < STREAMS; ++i) {
            Add(columns_, columns_, cells_[i * row], row);
            PipeBarrier<PIPE_V>();
        }
        Adds(columns_, columns_, eps_, row);
        PipeBarrier<PIPE_V>();
        for (uint32_t i = 0; i < STREAMS; ++i) {
            Div(cells_[i * row], cells_[i * row], columns_, row);
        }
        PipeBarrier<PIPE_V>();
    }

private:
    static constexpr uint32_t STREAMS = N;
    static constexpr uint32_t CELLS = N * N;

    __aicore__ inline void SumRows()
    {
        Add(rows_, cells_, cells_[lanes_], lanes_, STREAMS, twoCells_);
        PipeBarrier<PIPE_V>();
        for (uint32_t j = 2; j < STREAMS; ++j) {
            Add(rows_, rows_, cells_[j * lanes_], lanes_, STREAMS, sumAndCell_);
            PipeBarrier<PIPE_V>();
        }
    }

    __aicore__ inline void DivideRows()
    {
        for (uint32_t j = 0; j < STREAMS; ++j) {
            Div(cells_[j * lanes_], cells_[j * lanes_], rows_, lanes_, STREAMS, cellAndSum_);
        }
        PipeBarrier<PIPE_V>();
    }

    LocalTensor<float> cells_;
    LocalTensor<float> rows_;
    LocalTensor<float> columns_;
    uint32_t lanes_;
    float eps_;
    // One repeat per row i: a row of cells is STREAMS planes away from the next, a row of sums one plane.
    BinaryRepeatParams twoCells_;
    BinaryRepeatParams sumAndCell_;
    BinaryRepeatParams cellAndSum_;
};

} // namespace Mhc

#endif // MHC_SINKHORN_PLANES_H
