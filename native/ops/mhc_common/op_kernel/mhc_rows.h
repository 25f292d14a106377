// Rows between global memory and UB, and the meeting of two units of a core.
#ifndef MHC_ROWS_H
#define MHC_ROWS_H

#include "mhc_shape.h"

namespace Mhc {

// `rows` rows of `length` elements, `gap` elements apart in global memory. In UB each starts a block of 32 bytes.
template <typename T>
__aicore__ inline void LoadRows(const LocalTensor<T> &to, const GlobalTensor<T> &from, uint32_t rows, uint32_t length,
                                uint64_t gap)
{
    DataCopyExtParams params(static_cast<uint16_t>(rows), length * sizeof(T), static_cast<uint32_t>(gap * sizeof(T)), 0, 0);
    DataCopyPadExtParams<T> noPadding(false, 0, 0, 0);
    DataCopyPad(to, from, params, noPadding);
}

// The other way.
template <typename T>
__aicore__ inline void StoreRows(const GlobalTensor<T> &to, const LocalTensor<T> &from, uint32_t rows, uint32_t length,
                                 uint64_t gap)
{
    DataCopyExtParams params(static_cast<uint16_t>(rows), length * sizeof(T), 0, static_cast<uint32_t>(gap * sizeof(T)), 0);
    DataCopyPad(to, from, params);
}

// The second unit of `event` goes on when the first has done what it was given so far.
template <HardEvent event>
__aicore__ inline void Meet()
{
    const event_t id = static_cast<event_t>(GetTPipePtr()->FetchEventID(event));
    SetFlag<event>(id);
    WaitFlag<event>(id);
}

} // namespace Mhc

#endif // MHC_ROWS_H
