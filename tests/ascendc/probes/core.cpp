// Core identity, queues, memory, flags - and what must be refused.
#include <cstdlib>
#include <stdexcept>

#include "probe.h"

namespace probe {
namespace {

// Each core writes who it is into its row of out[0] (int64): AICs first, then AIVs.
void Identity(const ProbeArgs &args)
{
    GlobalTensor<int64_t> out;
    out.SetGlobalBuffer(reinterpret_cast<__gm__ int64_t *>(args.out[0]), args.outBytes[0] / 8);
    uint64_t row = static_cast<uint64_t>(GetBlockIdx());
    if ASCEND_IS_AIV {
        row += static_cast<uint64_t>(args.number[0]);
    }
    const int64_t values[] = {GetBlockIdx(), GetBlockNum(), GetSubBlockIdx(), GetTaskRation(), g_coreType, TILING_KEY_IS(7)};
    for (uint32_t i = 0; i < 6; ++i) {
        out.SetValue(row * 6 + i, values[i]);
    }
}

struct Tiling {
    int32_t rows;
    float scale;
};

void TilingData(const ProbeArgs &args)
{
    REGISTER_TILING_DEFAULT(Tiling);
    GET_TILING_DATA(data, args.in[0]);
    GET_TILING_DATA_WITH_STRUCT(Tiling, again, args.in[0]);
    GlobalTensor<float> out;
    out.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(args.out[0]));
    out.SetValue(0, static_cast<float>(data.rows) * again.scale);
}

// A pipeline over two queues with double buffers: out = in + 1.
void Queues(const ProbeArgs &args)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 2> in;
    TQue<TPosition::VECOUT, 2> out;
    pipe.InitBuffer(in, 2, 256);
    pipe.InitBuffer(out, 2, 256);
    GlobalTensor<float> src, dst;
    src.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(args.in[0]), args.inBytes[0] / 4);
    dst.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(args.out[0]), args.outBytes[0] / 4);
    const uint64_t tiles = args.inBytes[0] / 256;
    for (uint64_t i = 0; i < tiles; ++i) {
        LocalTensor<float> x = in.AllocTensor<float>();
        DataCopy(x, src[i * 64], 64);
        in.EnQue(x);
        x = in.DeQue<float>();
        LocalTensor<float> y = out.AllocTensor<float>();
        Adds(y, x, 1.0f, 64);
        out.EnQue<float>(y);
        in.FreeTensor(x);
        y = out.DeQue<float>();
        DataCopy(dst[i * 64], y, 64);
        out.FreeTensor(y);
    }
}

// number 0 chooses the mistake.
void QueueMistake(const ProbeArgs &args)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 1> queue;
    TQue<TPosition::VECIN, 1> other;
    TQue<TPosition::VECIN, 1> unready;
    TBuf<> buffer;
    TBuf<> unreadyBuffer;
    pipe.InitBuffer(queue, 2, 64);
    pipe.InitBuffer(other, 9, 64);
    pipe.InitBuffer(buffer, 64);
    LocalTensor<float> first, second;
    switch (args.number[0]) {
        case 0: queue.DeQue<float>(); break;
        case 1:
            first = queue.AllocTensor<float>();
            second = queue.AllocTensor<float>();
            queue.EnQue(first);
            queue.EnQue(second);
            break;
        case 2:
            for (int i = 0; i < 3; ++i) {
                queue.AllocTensor<float>();
            }
            break;
        case 3:
            first = queue.AllocTensor<float>();
            queue.FreeTensor(first);
            queue.FreeTensor(first);
            break;
        case 4:
            first = other.AllocTensor<float>();
            queue.EnQue(first);
            break;
        case 5:
            first = buffer.Get<float>();
            queue.EnQue(first);
            break;
        case 6:
            first = queue.AllocTensor<float>();
            queue.EnQue(first);
            queue.FreeTensor(first);
            break;
        case 7: unready.AllocTensor<float>(); break;
        case 8: unreadyBuffer.Get<float>(); break;
        case 9: buffer.Get<float>(17); break;
        case 10: buffer.GetWithOffset<float>(8, 64); break;
        case 11:
            for (int i = 0; i < 9; ++i) {
                other.AllocTensor<float>();
            }
            break;
        default: break;
    }
}

// Asks for UB in three buffers of number 0, 1 and 2 bytes.
void Memory3(const ProbeArgs &args)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TBuf<TPosition::VECCALC> calc;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 2, static_cast<uint32_t>(args.number[0]));
    pipe.InitBuffer(calc, static_cast<uint32_t>(args.number[1]));
    pipe.InitBuffer(out, 1, static_cast<uint32_t>(args.number[2]));
}

// number 0 chooses the mistake; UB holds 64 floats at x and 64 at y.
void Mistake(const ProbeArgs &args)
{
    TPipe pipe;
    TBuf<> buffer;
    TBuf<TPosition::A1> l1;
    pipe.InitBuffer(buffer, 512);
    pipe.InitBuffer(l1, 4096);
    LocalTensor<float> x = buffer.GetWithOffset<float>(64, 0);
    LocalTensor<float> y = buffer.GetWithOffset<float>(64, 256);
    LocalTensor<float> none;
    GlobalTensor<float> gm, nowhere;
    gm.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(args.in[0]), args.inBytes[0] / 4);
    uint64_t bits[2] = {1, 1};
    const BinaryRepeatParams plain(1, 1, 1, 8, 8, 8);
    switch (args.number[0]) {
        case 0: Add(x, y, y, 65); break;
        case 1: Add(x, y[60], y, 8); break;
        case 2: Add(x[1], y, y, 8); break;
        case 3: Add(x, y, y, 64, 256, plain); break;
        case 4: Add(x, y, y, 65, 1, plain); break;
        case 5: Add(x, y, y, bits, 1, plain); break;
        case 6: Add(x, y, y, 64, 2, plain); break;
        case 7: Add(x, y, none, 8); break;
        case 8: Add(x, l1.Get<float>(), y, 8); break;
        case 9: Add(x[8], x, x, 16); break;
        case 10: Add(x, y, y, 64, 1, BinaryRepeatParams(0, 1, 1, 8, 8, 8)); break;
        case 11: DataCopy(x, gm, 63); break;
        case 12: DataCopy(x, gm, 72); break;
        case 13: DataCopy(x, gm[args.inBytes[0] / 4 - 8], 16); break;
        case 14: DataCopy(x, nowhere, 8); break;
        case 15: x.GetValue(64); break;
        case 16: x.SetValue(64, 1.0f); break;
        case 17: x[65].GetSize(); break;
        case 18: x.SetSize(65); break;
        case 19: Cast(x.ReinterpretCast<half>(), y, RoundMode::CAST_RINT, 65); break;
        case 20: Cast(x, y.ReinterpretCast<half>(), RoundMode::CAST_RINT, 8); break;
        case 21: WholeReduceSum(x[62], y, 64, 3, 1, 1, 0); break;
        case 22: Brcb(x, y, 2, BrcbRepeatParams(1, 8)); break;
        case 23: WaitFlag<HardEvent::MTE2_V>(EVENT_ID3); break;
        case 24: SetFlag<HardEvent::MTE2_V>(8); break;
        case 25: PipeBarrier<PIPE_S>(); break;
        case 26: gm.SetValue(args.inBytes[0] / 4, 1.0f); break;
        case 27: Cast(x, x.ReinterpretCast<half>(), RoundMode::CAST_NONE, 8); break;
        case 28: Add(x, y, y, -1); break;
        case 29: {
            uint64_t list[16] = {};
            TransDataTo5HD<float>(list, list, TransDataTo5HDParams());
            break;
        }
        case 30: {
            LoadData2DParams p;
            p.repeatTimes = 1;
            LoadData(x, y, p);
            break;
        }
        case 31: DataCopyPad(x, gm, DataCopyExtParams(1, 6, 0, 0, 0), DataCopyPadExtParams<float>()); break;
        case 32: DataCopyPad(x, gm, DataCopyExtParams(1, 8, 0, 0, 0), DataCopyPadExtParams<float>(true, 9, 0, 0)); break;
        case 33: GetTPipePtr()->ReleaseEventID<HardEvent::MTE2_V>(0); break;
        case 34: throw std::runtime_error("something else");
        default: break;
    }
}

// The same on a cube core.
void CubeMistake(const ProbeArgs &args)
{
    TPipe pipe;
    TBuf<> ub;
    TBuf<TPosition::A1> l1;
    TBuf<TPosition::A2> a2;
    TBuf<TPosition::B2> b2;
    TBuf<TPosition::CO1> co1;
    pipe.InitBuffer(ub, 512);
    pipe.InitBuffer(l1, 4096);
    pipe.InitBuffer(a2, 1024);
    pipe.InitBuffer(b2, 1024);
    pipe.InitBuffer(co1, 2048);
    LocalTensor<float> c = co1.Get<float>();
    LocalTensor<float> a = a2.Get<float>();
    LocalTensor<float> b = b2.Get<float>();
    GlobalTensor<float> gm;
    gm.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(args.in[0]), args.inBytes[0] / 4);
    LoadData2DParams load;
    load.repeatTimes = 1;
    MmadParams mmad;
    mmad.m = 16;
    mmad.n = 16;
    mmad.k = 8;
    switch (args.number[0]) {
        case 0: Add(ub.Get<float>(), ub.Get<float>(), ub.Get<float>(), 8); break;
        case 1: LoadData(a[8], l1.Get<float>(), load); break;
        case 2: load.startIndex = 8; LoadData(a, l1.Get<float>(), load); break;
        case 3: load.ifTranspose = true; LoadData(a, l1.Get<float>(), load); break;
        case 4: mmad.k = 24; Mmad(c, a, b, mmad); break;
        case 5: mmad.n = 48; mmad.m = 1; Mmad(c, a, b, mmad); break;
        case 6: Mmad(c[16], a, b, mmad); break;
        case 7: Mmad(c, b, b, mmad); break;
        case 8: DataCopy(gm, c, DataCopyCO12DstParams(16, 16, 16, 16, QuantMode_t::NoQuant, 0, false, true)); break;
        case 9: Fixpipe(gm, c, FixpipeParamsV220(16, 16, 8, 16, false)); break;
        case 10: mmad.cmatrixSource = true; Mmad(c, a, b, mmad); break;
        case 11: mmad.m = 4096; Mmad(c, a, b, mmad); break;
        default: break;
    }
}

// AIC and its AIVs exchange a counter number[0] times; the AIVs drift apart.
void PingPong(const ProbeArgs &args)
{
    auto *cells = reinterpret_cast<int64_t *>(args.out[0]);
    const uint64_t block = static_cast<uint64_t>(GetBlockIdx()) / (g_coreType == AIC ? 1 : GetTaskRation());
    int64_t *mine = cells + block * 4;
    for (int64_t round = 0; round < args.number[0]; ++round) {
        if ASCEND_IS_AIC {
            mine[0] = round;
            CrossCoreSetFlag<2, PIPE_FIX>(3);
            CrossCoreWaitFlag(4);
            mine[3] += mine[1] + mine[2];
        } else {
            CrossCoreWaitFlag(3);
            mine[1 + GetSubBlockIdx()] = mine[0] * (GetSubBlockIdx() + 1);
            CrossCoreSetFlag<2, PIPE_MTE3>(4);
        }
    }
}

// AIV 0 runs ahead and sets the flag twice before AIV 1 sets it once: the AIC must wait for AIV 1.
void Drift(const ProbeArgs &args)
{
    auto *cells = reinterpret_cast<int64_t *>(args.out[0]);
    if ASCEND_IS_AIC {
        CrossCoreWaitFlag(4);
        cells[0] = cells[1];
        CrossCoreSetFlag<2, PIPE_FIX>(5);
        CrossCoreWaitFlag(4);
    } else if (GetSubBlockIdx() == 0) {
        CrossCoreSetFlag<2, PIPE_MTE3>(4);
        CrossCoreSetFlag<2, PIPE_MTE3>(4);
        CrossCoreSetFlag<1, PIPE_MTE3>(6);
        CrossCoreWaitFlag(6);
        CrossCoreWaitFlag(5);
    } else {
        CrossCoreSetFlag<1, PIPE_MTE3>(6);
        CrossCoreWaitFlag(6);
        cells[1] = 42;
        CrossCoreSetFlag<2, PIPE_MTE3>(4);
        CrossCoreWaitFlag(5);
        CrossCoreSetFlag<2, PIPE_MTE3>(4);
    }
}

// Rounds of: write my cell, meet all, sum all cells, meet all. number 0: rounds, 1: whether AICs take part.
void MeetAll(const ProbeArgs &args)
{
    auto *cells = reinterpret_cast<int64_t *>(args.out[0]);
    const int64_t aics = args.number[1] != 0 ? GetBlockNum() : 0;
    const int64_t aivs = GetBlockNum() * GetTaskRation();
    if (args.number[1] == 0 && g_coreType == AIC) {
        return;
    }
    const int64_t me = g_coreType == AIC ? GetBlockIdx() : aics + GetBlockIdx();
    int64_t sum = 0;
    for (int64_t round = 0; round < args.number[0]; ++round) {
        cells[me] = (me + 1) * (round + 1);
        args.number[1] != 0 ? SyncAll<false>() : SyncAll<true>();
        for (int64_t i = 0; i < aics + aivs; ++i) {
            sum += cells[i];
        }
        args.number[1] != 0 ? SyncAll<false>() : SyncAll<true>();
    }
    cells[aics + aivs + me] = sum;
}

// After a meeting of all the cores of each block take turns; out[0] (int64) is a count and then the blocks in the order in which
// their cores ran. For one thread. number 0: rounds.
void Turns(const ProbeArgs &args)
{
    auto *out = reinterpret_cast<int64_t *>(args.out[0]);
    SyncAll<false>();
    for (int64_t round = 0; round < args.number[0]; ++round) {
        if ASCEND_IS_AIV {
            CrossCoreWaitFlag(1);
        }
        out[1 + out[0]++] = g_coreType == AIC ? GetBlockIdx() : GetBlockIdx() / GetTaskRation();
        if ASCEND_IS_AIC {
            CrossCoreSetFlag<2, PIPE_FIX>(1);
            CrossCoreWaitFlag(2);
        } else {
            CrossCoreSetFlag<2, PIPE_MTE3>(2);
        }
    }
}

// number 0 chooses who fails to do what.
void Deadlock(const ProbeArgs &args)
{
    switch (args.number[0]) {
        case 0:   // nobody sets the flag
            if ASCEND_IS_AIC {
                CrossCoreWaitFlag(5);
            }
            break;
        case 1:   // one AIV forgets
            if ASCEND_IS_AIC {
                CrossCoreWaitFlag(5);
            } else if (GetSubBlockIdx() == 0) {
                CrossCoreSetFlag<2, PIPE_MTE3>(5);
            }
            break;
        case 2:   // one core stays away from SyncAll
            if (GetBlockIdx() != 2) {
                SyncAll<true>();
            }
            break;
        case 3:   // both wait for each other
            CrossCoreWaitFlag(1);
            break;
        case 4:
            for (int i = 0; i < 16; ++i) {
                CrossCoreSetFlag<0, PIPE_MTE3>(1);
            }
            break;
        case 5: CrossCoreSetFlag<2, PIPE_MTE3>(1); break;
        case 6: CrossCoreSetFlag<0, PIPE_MTE3>(16); break;
        default: break;
    }
}

// One core fails while the others wait for it; a destructor counts how many were unwound.
void FailOne(const ProbeArgs &args)
{
    struct Count {
        int64_t *cell;
        ~Count() { __atomic_fetch_add(cell, 1, __ATOMIC_RELAXED); }
    } count{reinterpret_cast<int64_t *>(args.out[0])};
    TPipe pipe;
    if (g_coreType == AIV && GetBlockIdx() == args.number[0]) {
        LocalTensor<float> none;
        Add(none, none, none, 8);
    }
    SyncAll<false>();
}

void EventIds(const ProbeArgs &args)
{
    TPipe pipe;
    auto *out = reinterpret_cast<int64_t *>(args.out[0]);
    TPipe *same = GetTPipePtr();
    out[0] = same->FetchEventID(HardEvent::MTE2_V);
    out[1] = same->AllocEventID<HardEvent::MTE2_V>();
    out[2] = same->AllocEventID<HardEvent::MTE2_V>();
    out[3] = same->FetchEventID(HardEvent::MTE2_V);
    same->ReleaseEventID<HardEvent::MTE2_V>(static_cast<TEventID>(out[1]));
    out[4] = same->FetchEventID<HardEvent::MTE2_V>();
    SetFlag<HardEvent::MTE2_V>(static_cast<int32_t>(out[4]));
    WaitFlag<HardEvent::MTE2_V>(static_cast<int32_t>(out[4]));
    PipeBarrier<PIPE_ALL>();
    for (int i = 0; i < 9 && args.number[0] != 0; ++i) {
        same->AllocEventID<HardEvent::V_MTE3>();
    }
}

} // namespace
} // namespace probe

using namespace probe;

const Probe kCoreProbes[] = {
    {"identity", Identity},
    {"tiling_data", TilingData},
    {"queues", Queues},
    {"queue_mistake", QueueMistake},
    {"memory3", Memory3},
    {"mistake", Mistake},
    {"cube_mistake", CubeMistake},
    {"ping_pong", PingPong},
    {"drift", Drift},
    {"meet_all", MeetAll},
    {"turns", Turns},
    {"deadlock", Deadlock},
    {"fail_one", FailOne},
    {"event_ids", EventIds},
    {nullptr, nullptr},
};
