/*
 * MatmulImpl: the Matmul object of a kernel.
 *
 * Problem: a template over the types of four matrices, a configuration, callbacks and a policy, with many calls.
 * Approach: a thin layer that checks types and turns tensors into operands; the work is CubeCore's, which is no template. What is set before is in
 * object_base.h. Limits: what the 910B does not have is refused when it is compiled (types, formats, other chips' switches that change results), the rest of
 * what is missing is named in docs/ascendc-api.md.
 */
#ifndef PITON_ASCENDC_MATMUL_OBJECT_H
#define PITON_ASCENDC_MATMUL_OBJECT_H

#include "object_base.h"

namespace AscendC {

template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE = C_TYPE, const auto &MM_CFG = CFG_NORM, class MM_CB = MatmulCallBackFunc<>,
          MATMUL_POLICY_DEFAULT_OF(MatmulPolicy), typename = void>
class MatmulImpl : public piton::MatmulBase<A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE, MM_CFG, MM_CB, MATMUL_POLICY> {
    using Base = piton::MatmulBase<A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE, MM_CFG, MM_CB, MATMUL_POLICY>;
    using Base::Await;
    using Base::batch_;
    using Base::core_;
    using Base::Pipe;
    using Base::PlaceOf;
    using Base::proxy_;
    using Base::workspace_;

public:
    using DstT = typename C_TYPE::T;
    using L0cT = piton::SumOf<typename A_TYPE::T>;

    template <bool sync = true>
    PITON_API bool Iterate(bool enPartialSum = false, piton::Location at = piton::Location()) {
        if (proxy_.IsOn() && core_.traits.triangle != piton::Triangle::None) {
            piton::FailMatmul("Iterate of a vector core with a triangular policy is not supported by the virtual NPU; call IterateAll", at);
        }
        return proxy_.IsOn() ? proxy_.Iterate(sync, enPartialSum, workspace_, at) : core_.Iterate(enPartialSum, nullptr, at);
    }
    template <bool sync = true, typename T>
    PITON_API bool Iterate(bool enPartialSum, const LocalTensor<T> &localCmatrix, piton::Location at = piton::Location()) {
        static_assert(C_TYPE::pos == TPosition::CO1 && std::is_same<T, L0cT>::value,
                      "Matmul: Iterate into the kernel's own L0C is for C at TPosition::CO1, of float, or int32_t for int8_t matrices");
        const vnpu_operand own = localCmatrix.Operand();
        return core_.Iterate(enPartialSum, &own, at);
    }
    template <bool sync = true>
    PITON_API void IterateAll(const GlobalTensor<DstT> &gm, uint8_t enAtomic = 0, bool enSequentialWrite = false, bool waitIterateAll = false,
                              bool fakeMsg = false, piton::Location at = piton::Location()) {
        (void)waitIterateAll;
        if (!fakeMsg) {
            const piton::ResultPlace place = PlaceOf(gm, enAtomic, enSequentialWrite);
            proxy_.IsOn() ? proxy_.Everything(place, sync, at) : core_.IterateAll(place, at);
        }
    }
    /* From a vector core into the unified buffer, from a cube core into L1. */
    template <bool sync = true>
    PITON_API void IterateAll(const LocalTensor<DstT> &ubCmatrix, uint8_t enAtomic = 0, piton::Location at = piton::Location()) {
        if (enAtomic != 0) {
            piton::FailMatmul("IterateAll into local memory with an atomic operation is not supported by the virtual NPU", at);
        }
        piton::ResultPlace place = PlaceOf(GlobalTensor<DstT>(), 0, false);
        if (proxy_.IsOn()) {
            return proxy_.EverythingLocal(ubCmatrix.Operand(), place, Pipe(at), at);
        }
        place.start = ubCmatrix.Operand();
        if (place.start.space != VNPU_SPACE_L1 || C_TYPE::format != CubeFormat::NZ) {
            piton::FailMatmul("IterateAll of a cube core writes C to global memory, or to L1 (TPosition::TSCM) with CubeFormat::NZ", at);
        }
        core_.IterateAll(place, at);
    }
    template <bool sync = true>
    PITON_API void GetTensorC(const GlobalTensor<DstT> &gm, uint8_t enAtomic = 0, bool enSequentialWrite = false, piton::Location at = piton::Location()) {
        const piton::ResultPlace place = PlaceOf(gm, enAtomic, enSequentialWrite);
        proxy_.IsOn() ? proxy_.Fetch(place, at) : core_.GetResult(place, at);
    }
    template <bool sync = true>
    PITON_API void GetTensorC(const LocalTensor<DstT> &co2Local, uint8_t enAtomic = 0, bool enSequentialWrite = false, piton::Location at = piton::Location()) {
        if (!proxy_.IsOn()) {
            piton::FailMatmul("GetTensorC into local memory is for kernels with vector cores; a cube core writes C to global memory", at);
        }
        piton::ResultPlace place = PlaceOf(GlobalTensor<DstT>(), enAtomic, enSequentialWrite);
        proxy_.FetchLocal(co2Local.Operand(), place, Pipe(at), at);
    }
    template <bool sync = true>
    PITON_API void GetTensorC(const GlobalTensor<DstT> &gm, const LocalTensor<DstT> &co2Local, uint8_t enAtomic = 0, bool enSequentialWrite = false,
                              piton::Location at = piton::Location()) {
        if (!proxy_.IsOn()) {
            piton::FailMatmul("GetTensorC into local memory is for kernels with vector cores; a cube core writes C to global memory", at);
        }
        proxy_.FetchBoth(co2Local.Operand(), PlaceOf(gm, enAtomic, enSequentialWrite), Pipe(at), at);
    }
    PITON_API void AsyncGetTensorC(const LocalTensor<DstT> &c, piton::Location at = piton::Location()) { GetTensorC<false>(c, 0, false, at); }
    /* Of an asynchronous Iterate: where the next block lies in the workspace. */
    template <bool sync = true>
    PITON_API GlobalTensor<DstT> GetTensorC(uint8_t = 0, bool = false, piton::Location at = piton::Location()) {
        GlobalTensor<DstT> block;
        block.SetGlobalBuffer(reinterpret_cast<__gm__ DstT *>(proxy_.NextAhead(workspace_, at).addr));
        return block;
    }
    template <bool isTurnOnDebug = true>
    PITON_API MatrixOffset GetOffsetC() {
        return proxy_.IsOn() ? proxy_.OffsetOfResult() : core_.OffsetOfResult();
    }

    /* On a cube core by itself there is nothing to wait for. */
    PITON_API void WaitIterateAll(piton::Location at = piton::Location()) { Await(at); }
    PITON_API void WaitGetTensorC(piton::Location at = piton::Location()) { Await(at); }
    PITON_API void WaitIterateBatch(piton::Location at = piton::Location()) { Await(at); }

    /*
     * A batch into global memory. With vector cores: (batchA, batchB, enSequentialWrite, matrixStrideA, matrixStrideB, matrixStrideC, enPartialSum, enAtomic);
     * on a cube core after SetBatchNum: (enPartialSum, enAtomic, enSequentialWrite, matrixStrideA, ...). The first argument's type tells which.
     */
    template <bool sync = true, bool waitIterateBatch = false, typename First, typename Second>
    PITON_API void IterateBatch(const GlobalTensor<DstT> &gm, First first, Second second, bool enSequentialWrite, const uint32_t matrixStrideA = 0,
                                const uint32_t matrixStrideB = 0, const uint32_t matrixStrideC = 0, const bool enPartialSum = false, const uint8_t enAtomic = 0,
                                piton::Location at = piton::Location()) {
        constexpr bool isOfCube = std::is_same<First, bool>::value;
        NoteBatch<isOfCube>(first, second, {1, 1, 1, matrixStrideA, matrixStrideB});
        RequireDense(enSequentialWrite, matrixStrideC, isOfCube ? static_cast<bool>(first) : enPartialSum, at);
        const piton::ResultPlace place = PlaceOf(gm, isOfCube ? static_cast<uint8_t>(second) : enAtomic, enSequentialWrite);
        proxy_.IsOn() ? proxy_.IterateBatch(batch_, place, sync, at) : core_.IterateBatch(batch_, place, at);
    }
    /* A batch into the unified buffer: dense matrices one behind the other. */
    template <bool sync = true, bool waitIterateBatch = false>
    PITON_API void IterateBatch(const LocalTensor<DstT> &ubCmatrix, uint32_t batchA, uint32_t batchB, bool enSequentialWrite, const uint32_t matrixStrideA = 0,
                                const uint32_t matrixStrideB = 0, const uint32_t matrixStrideC = 0, const bool enPartialSum = false, const uint8_t enAtomic = 0,
                                piton::Location at = piton::Location()) {
        static_assert(sync, "Matmul: IterateBatch into local memory has no asynchronous form");
        if (!proxy_.IsOn() || enAtomic != 0) {
            piton::FailMatmul("IterateBatch into local memory is for kernels with vector cores, without an atomic operation", at);
        }
        NoteBatch<false>(batchA, batchB, {1, 1, 1, matrixStrideA, matrixStrideB});
        RequireDense(true, matrixStrideC, enPartialSum, at);
        (void)enSequentialWrite;
        proxy_.IterateBatchLocal(ubCmatrix.Operand(), batch_, PlaceOf(GlobalTensor<DstT>(), 0, true), Pipe(at), at);
    }
    /* `batchLoop` batches into the memory of SetWorkspace, with C's layout. */
    template <bool sync = true, bool waitIterateBatch = false>
    PITON_API void IterateNBatch(const uint32_t batchLoop, uint32_t batchA, uint32_t batchB, bool enSequentialWrite, const uint32_t matrixStrideA = 0,
                                 const uint32_t matrixStrideB = 0, const uint32_t matrixStrideC = 0, piton::Location at = piton::Location()) {
        static_assert(piton::ConfigOf(MM_CFG).isNBatch, "Matmul: IterateNBatch needs isNBatch in the MatmulConfig");
        if (workspace_.start.space != VNPU_SPACE_GM) {
            piton::FailMatmul("IterateNBatch puts its batches into the memory of SetWorkspace: call SetWorkspace first", at);
        }
        NoteBatch<false>(batchA, batchB, {1, 1, batchLoop, matrixStrideA, matrixStrideB});
        RequireDense(enSequentialWrite, matrixStrideC, false, at);
        piton::ResultPlace place = workspace_;
        place.isSequential = enSequentialWrite;
        batches_ = 0;
        batchesAt_ = place;
        proxy_.IsOn() ? proxy_.IterateBatch(batch_, place, sync, at) : core_.IterateBatch(batch_, place, at);
    }
    /* Where the results of the next of those batches lie. */
    template <bool sync = false>
    PITON_API GlobalTensor<DstT> GetBatchTensorC(uint32_t batchA, uint32_t batchB, bool enSequentialWrite = false, piton::Location at = piton::Location()) {
        (void)enSequentialWrite;
        Await(at);
        const uint64_t skipped = core_.OffsetInBatch(batchesAt_, batches_++ * std::max(batchA, batchB));
        GlobalTensor<DstT> batch;
        batch.SetGlobalBuffer(reinterpret_cast<__gm__ DstT *>(workspace_.start.addr) + skipped);
        return batch;
    }
    template <bool sync = true>
    PITON_API GlobalTensor<DstT> GetBatchC(uint32_t batchA, uint32_t batchB, bool enSequentialWrite = false, piton::Location at = piton::Location()) {
        return GetBatchTensorC<false>(batchA, batchB, enSequentialWrite, at);
    }

    PITON_API void End(piton::Location at = piton::Location()) { proxy_.IsOn() ? proxy_.Await(at) : core_.End(at); }

private:
    template <bool isOfCube, typename First, typename Second>
    PITON_API void NoteBatch(First first, Second second, const piton::Batch &rest) {
        const uint32_t lefts = isOfCube ? batch_.lefts : static_cast<uint32_t>(first), rights = isOfCube ? batch_.rights : static_cast<uint32_t>(second);
        batch_ = rest;
        batch_.lefts = lefts;
        batch_.rights = rights;
    }
    PITON_API static void RequireDense(bool isSequential, uint32_t matrixStrideC, bool isAdded, piton::Location at) {
        const bool isBeside = C_TYPE::layout == LayoutMode::BSNGD || C_TYPE::layout == LayoutMode::SBNGD;
        if ((isSequential && isBeside && C_TYPE::pos == TPosition::GM) || matrixStrideC != 0 || isAdded) {
            piton::FailMatmul(
                "IterateBatch: with layouts BSNGD and SBNGD C is not sequential, matrixStrideC is 0, and sums over calls (enPartialSum) are not "
                "supported by the virtual NPU",
                at);
        }
    }

    uint32_t batches_ = 0; /* that GetBatchTensorC has told of */
    piton::ResultPlace batchesAt_;
};

}  // namespace AscendC

#endif /* PITON_ASCENDC_MATMUL_OBJECT_H */
