/*
 * MatmulImpl: the Matmul object on a cube core.
 *
 * Problem: a template over the types of four matrices, a configuration, callbacks and a policy, with many calls.
 * Approach: a thin layer that checks types and turns tensors into operands; the work is CubeCore's, which is no template.
 * Limits: what the 910B does not have is refused when it is compiled (types, formats, other chips' switches that change results), the rest of what is missing
 * is named in docs/ascendc-api.md.
 */
#ifndef PITON_ASCENDC_MATMUL_OBJECT_H
#define PITON_ASCENDC_MATMUL_OBJECT_H

#include "core.h"

namespace piton {

template <typename A>
using SumOf = std::conditional_t<std::is_same<A, int8_t>::value, int32_t, float>;

template <typename A, typename B>
constexpr bool kIsMatmulInput = std::is_same<A, B>::value && kIsOneOf<A, half, bfloat16_t, float, int8_t>;
template <typename A, typename C>
constexpr bool kIsMatmulResult =
    std::is_same<A, int8_t>::value ? kIsOneOf<C, int32_t, half, int8_t, uint8_t> : kIsOneOf<C, float, half, bfloat16_t, int8_t, uint8_t>;
template <typename A, typename Bias>
constexpr bool kIsMatmulBias = std::is_same<A, int8_t>::value ? std::is_same<Bias, int32_t>::value : kIsOneOf<Bias, float, half>;

constexpr bool IsInputFormat(CubeFormat format) { return format == CubeFormat::ND || format == CubeFormat::NZ || format == CubeFormat::VECTOR; }
constexpr bool IsResultFormat(CubeFormat format) { return format == CubeFormat::ND || format == CubeFormat::NZ || format == CubeFormat::ND_ALIGN; }

/* Once per object type: what the chip, or we, do not have. */
template <class A, class B, class C, class Bias>
constexpr bool CheckMatmulTypes() {
    static_assert(kIsMatmulInput<typename A::T, typename B::T>,
                  "Matmul on the Ascend 910B multiplies half, bfloat16_t, float or int8_t by the same type; int4b_t is not supported by the virtual NPU");
    static_assert(kIsMatmulResult<typename A::T, typename C::T>,
                  "Matmul: C is float, half, bfloat16_t or int8_t, and of int8_t matrices int32_t, half or int8_t");
    static_assert(IsInputFormat(A::format) && IsInputFormat(B::format) && B::format != CubeFormat::VECTOR,
                  "Matmul: A is CubeFormat::ND, NZ or VECTOR and B is ND or NZ on the virtual NPU");
    static_assert(IsResultFormat(C::format), "Matmul: C is CubeFormat::ND, NZ or ND_ALIGN");
    return true;
}

}  // namespace piton

namespace AscendC {

template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE = C_TYPE, const auto &MM_CFG = CFG_NORM, class MM_CB = MatmulCallBackFunc<>,
          MATMUL_POLICY_DEFAULT_OF(MatmulPolicy), typename = void>
class MatmulImpl {
    static_assert(piton::CheckMatmulTypes<A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE>(), "checks types");

public:
    using AType = A_TYPE;
    using BType = B_TYPE;
    using CType = C_TYPE;
    using BiasType = BIAS_TYPE;
    using CallBack = MM_CB;
    using SrcT = typename A_TYPE::T;
    using SrcBT = typename B_TYPE::T;
    using DstT = typename C_TYPE::T;
    using BiasT = typename BIAS_TYPE::T;
    using L0cT = piton::SumOf<SrcT>;

    PITON_API MatmulImpl() {
        core_.traits = Traits();
        core_.config = piton::ConfigOf(MM_CFG);
        core_.loadLeft = MM_CB::CopyA1Ptr;
        core_.loadRight = MM_CB::CopyB1Ptr;
        core_.store = MM_CB::DataCopyOutPtr;
        core_.Describe(SideOf<A_TYPE>(true), SideOf<B_TYPE>(false));
    }

    /* `tiling` may be null where constants say everything. */
    PITON_API void Init(const TCubeTiling *cubeTiling, TPipe *tpipe = nullptr, piton::Location at = piton::Location()) {
        TCubeTiling tiling = cubeTiling == nullptr ? TCubeTiling() : *cubeTiling;
        piton::Override(MM_CFG, tiling);
        if (cubeTiling == nullptr) {
            piton::Complete(piton::ConfigOf(MM_CFG), tiling);
        }
        core_.Init(tpipe == nullptr ? *GetTPipePtr(at) : *tpipe, tiling, at);
    }

    PITON_API void SetOrgShape(int orgM, int orgN, int orgK) { core_.SetOrgShape(orgM, orgN, orgK, orgK, 0); }
    PITON_API void SetOrgShape(int orgM, int orgN, int orgKa, int orgKb, int orgKc = 0) { core_.SetOrgShape(orgM, orgN, orgKa, orgKb, orgKc); }
    PITON_API void SetSingleShape(int singleM, int singleN, int singleK) { core_.SetSingleShape(singleM, singleN, singleK); }
    PITON_API void SetTail(int tailM = -1, int tailN = -1, int tailK = -1) { core_.SetSingleShape(tailM, tailN, tailK); }

    PITON_API void SetTensorA(const GlobalTensor<SrcT> &gm, bool isTransposeA = false, piton::Location at = piton::Location()) {
        core_.SetLeft(Given<A_TYPE>(true, gm.Operand(), gm.CopyFlags(), isTransposeA), at);
    }
    PITON_API void SetTensorB(const GlobalTensor<SrcBT> &gm, bool isTransposeB = false, piton::Location at = piton::Location()) {
        core_.SetRight(Given<B_TYPE>(false, gm.Operand(), gm.CopyFlags(), isTransposeB), at);
    }
    PITON_API void SetTensorA(const LocalTensor<SrcT> &leftMatrix, bool isTransposeA = false, piton::Location at = piton::Location()) {
        core_.SetLeft(Given<A_TYPE>(true, OnChip(leftMatrix.Operand(), "A", at), 0, isTransposeA), at);
    }
    PITON_API void SetTensorB(const LocalTensor<SrcBT> &rightMatrix, bool isTransposeB = false, piton::Location at = piton::Location()) {
        core_.SetRight(Given<B_TYPE>(false, OnChip(rightMatrix.Operand(), "B", at), 0, isTransposeB), at);
    }
    PITON_API void SetBias(const GlobalTensor<BiasT> &biasGlobal, piton::Location = piton::Location()) { SetBiasOperand(biasGlobal.Operand()); }
    PITON_API void SetBias(const LocalTensor<BiasT> &inputBias, piton::Location at = piton::Location()) {
        SetBiasOperand(OnChip(inputBias.Operand(), "the bias", at));
    }
    PITON_API void DisableBias() { core_.DisableBias(); }
    PITON_API void ClearBias() { core_.DisableBias(); }
    PITON_API void SetQuantScalar(const uint64_t quantScalar) { core_.SetQuantScalar(quantScalar); }

    template <bool sync = true>
    PITON_API bool Iterate(bool enPartialSum = false, piton::Location at = piton::Location()) {
        return core_.Iterate(enPartialSum, nullptr, at);
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
            core_.IterateAll(PlaceOf(gm, enAtomic, enSequentialWrite), at);
        }
    }
    template <bool sync = true>
    PITON_API void IterateAll(const LocalTensor<DstT> &, uint8_t = 0, piton::Location at = piton::Location()) {
        piton::FailMatmul("IterateAll into local memory is for kernels with vector cores; a cube core writes C to global memory", at);
    }
    template <bool sync = true>
    PITON_API void GetTensorC(const GlobalTensor<DstT> &gm, uint8_t enAtomic = 0, bool enSequentialWrite = false, piton::Location at = piton::Location()) {
        core_.GetResult(PlaceOf(gm, enAtomic, enSequentialWrite), at);
    }
    template <bool sync = true>
    PITON_API void GetTensorC(const LocalTensor<DstT> &, uint8_t = 0, bool = false, piton::Location at = piton::Location()) {
        piton::FailMatmul("GetTensorC into local memory is for kernels with vector cores; a cube core writes C to global memory", at);
    }
    template <bool isTurnOnDebug = true>
    PITON_API MatrixOffset GetOffsetC() {
        return core_.OffsetOfResult();
    }

    /* One core does what it is told in order: there is nothing to wait for. */
    PITON_API void WaitIterateAll() {}
    PITON_API void WaitGetTensorC() {}

    PITON_API void End(piton::Location at = piton::Location()) { core_.End(at); }

    template <class T>
    PITON_API void SetSelfDefineData(T dataPtr) {
        core_.selfData = static_cast<uint64_t>(dataPtr);
    }
    PITON_API void SetUserDefInfo(const uint64_t tilingPtr) { core_.userInfo = tilingPtr; }
    PITON_API void SetSubBlockIdx(uint8_t subBlockIdx) { subBlock_ = subBlockIdx; }
    PITON_API uint8_t GetSubBlockIdx() const { return subBlock_; }
    /* Memory that this chip's object does not need. */
    PITON_API void SetLocalWorkspace(const LocalTensor<uint8_t> &) {}
    template <class T>
    PITON_API void SetWorkspace(__gm__ const T *, int) {}
    template <class T>
    PITON_API void SetWorkspace(GlobalTensor<T> &) {}

    /* Ours. */
    PITON_API piton::CubeCore &Core() { return core_; }

private:
    template <class Type>
    PITON_API static constexpr bool IsInL1() {
        return piton::SpaceOf(Type::pos) == VNPU_SPACE_L1;
    }
    PITON_API static piton::CubeTraits Traits() {
        piton::CubeTraits traits;
        traits.inputDtype = piton::kDtype<SrcT>;
        traits.sumDtype = piton::kDtype<L0cT>;
        traits.resultDtype = piton::kDtype<DstT>;
        traits.biasDtype = piton::kDtype<BiasT>;
        traits.isLeftOnChip = IsInL1<A_TYPE>();
        traits.isRightOnChip = IsInL1<B_TYPE>();
        traits.canTransposeLeft = A_TYPE::isTrans;
        traits.canTransposeRight = B_TYPE::isTrans;
        traits.hasOwnResults = C_TYPE::pos == TPosition::CO1;
        return traits;
    }
    template <class Type>
    PITON_API static piton::Side SideOf(bool isLeft) {
        piton::Side side;
        side.format = Type::format;
        side.bytes = sizeof(typename Type::T);
        side.isLeft = isLeft;
        side.isRowByRow = piton::ConfigOf(MM_CFG).intrinsicsCheck;
        return side;
    }
    template <class Type>
    PITON_API static piton::Side Given(bool isLeft, const vnpu_operand &start, uint8_t flags, bool isTransposed) {
        piton::Side side = SideOf<Type>(isLeft);
        side.start = start;
        side.flags = flags;
        side.isTransposed = isTransposed;
        return side;
    }
    PITON_API static vnpu_operand OnChip(const vnpu_operand &operand, const char *which, piton::Location at) {
        if (operand.space != VNPU_SPACE_L1) {
            piton::FailMatmul(std::string(which) + " of a cube core lies in global memory or in L1 (TPosition::TSCM)", at);
        }
        return operand;
    }
    PITON_API void SetBiasOperand(const vnpu_operand &operand) {
        static_assert(piton::kIsMatmulBias<SrcT, BiasT>, "Matmul: the bias is float or half, and int32_t for int8_t matrices");
        core_.SetBias(operand);
    }
    PITON_API static piton::ResultPlace PlaceOf(const GlobalTensor<DstT> &gm, uint8_t atomic, bool isSequential) {
        piton::ResultPlace place;
        place.start = gm.Operand();
        place.format = C_TYPE::format;
        place.bytes = sizeof(DstT);
        place.flags = gm.CopyFlags();
        place.atomic = atomic;
        place.isSequential = isSequential;
        return place;
    }

    piton::CubeCore core_;
    uint8_t subBlock_ = 0;
};

}  // namespace AscendC

#endif /* PITON_ASCENDC_MATMUL_OBJECT_H */
