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

#include "proxy.h"

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
    static_assert(A::layout == LayoutMode::NONE && B::layout == LayoutMode::NONE && C::layout == LayoutMode::NONE && Bias::layout == LayoutMode::NONE,
                  "Matmul: layouts of batches are not supported by the virtual NPU; use LayoutMode::NONE and one IterateAll per matrix of the batch");
    static_assert(!A::ibShare && !B::ibShare,
                  "Matmul: IBSHARE is not supported by the virtual NPU; set it to false in the MatmulType: the product is the same");
    return true;
}

}  // namespace piton

namespace AscendC {

template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE = C_TYPE, const auto &MM_CFG = CFG_NORM, class MM_CB = MatmulCallBackFunc<>,
          MATMUL_POLICY_DEFAULT_OF(MatmulPolicy), typename = void>
class MatmulImpl {
    static_assert(piton::CheckMatmulTypes<A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE>(), "checks types");
    static_assert(piton::kIsKnownPolicy<MATMUL_POLICY>,
                  "Matmul: the virtual NPU has MatmulPolicy and NBuffer33MatmulPolicy; other policies change what is computed");

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

    PITON_API void SetOrgShape(int orgM, int orgN, int orgK) { SetOrgShape(orgM, orgN, orgK, orgK, 0); }
    PITON_API void SetOrgShape(int orgM, int orgN, int orgKa, int orgKb, int orgKc = 0) {
        piton::Message &now = proxy_.now;
        now.orgM = orgM, now.orgN = orgN, now.orgKa = orgKa, now.orgKb = orgKb, now.orgKc = orgKc;
        core_.SetOrgShape(orgM, orgN, orgKa, orgKb, orgKc);
    }
    PITON_API void SetSingleShape(int singleM, int singleN, int singleK) { SetTail(singleM, singleN, singleK); }
    PITON_API void SetTail(int tailM = -1, int tailN = -1, int tailK = -1) {
        proxy_.IsOn() ? proxy_.SetShape(tailM, tailN, tailK) : core_.SetSingleShape(tailM, tailN, tailK);
    }

    PITON_API void SetTensorA(const GlobalTensor<SrcT> &gm, bool isTransposeA = false, piton::Location at = piton::Location()) {
        SetSide(true, Given<A_TYPE>(true, gm.Operand(), gm.CopyFlags(), isTransposeA), at);
    }
    PITON_API void SetTensorB(const GlobalTensor<SrcBT> &gm, bool isTransposeB = false, piton::Location at = piton::Location()) {
        SetSide(false, Given<B_TYPE>(false, gm.Operand(), gm.CopyFlags(), isTransposeB), at);
    }
    PITON_API void SetTensorA(const LocalTensor<SrcT> &leftMatrix, bool isTransposeA = false, piton::Location at = piton::Location()) {
        SetSide(true, Given<A_TYPE>(true, OnChip(leftMatrix.Operand(), "A", at), 0, isTransposeA), at);
    }
    PITON_API void SetTensorB(const LocalTensor<SrcBT> &rightMatrix, bool isTransposeB = false, piton::Location at = piton::Location()) {
        SetSide(false, Given<B_TYPE>(false, OnChip(rightMatrix.Operand(), "B", at), 0, isTransposeB), at);
    }
    PITON_API void SetBias(const GlobalTensor<BiasT> &biasGlobal, piton::Location = piton::Location()) { SetBiasOperand(biasGlobal.Operand()); }
    PITON_API void SetBias(const LocalTensor<BiasT> &inputBias, piton::Location at = piton::Location()) {
        SetBiasOperand(OnChip(inputBias.Operand(), "the bias", at));
    }
    PITON_API void DisableBias() {
        proxy_.now.hasBias = false;
        core_.DisableBias();
    }
    PITON_API void ClearBias() { DisableBias(); }
    PITON_API void SetQuantScalar(const uint64_t quantScalar) {
        proxy_.now.quantScalar = quantScalar;
        core_.SetQuantScalar(quantScalar);
    }

    template <bool sync = true>
    PITON_API bool Iterate(bool enPartialSum = false, piton::Location at = piton::Location()) {
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
    template <bool sync = true>
    PITON_API void IterateAll(const LocalTensor<DstT> &, uint8_t = 0, piton::Location at = piton::Location()) {
        piton::FailMatmul("IterateAll into local memory is for kernels with vector cores; a cube core writes C to global memory", at);
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
    /* Of an asynchronous Iterate: where the next block lies in the workspace. */
    template <bool sync = true>
    PITON_API GlobalTensor<DstT> GetTensorC(uint8_t = 0, bool = false, piton::Location at = piton::Location()) {
        GlobalTensor<DstT> block;
        block.SetGlobalBuffer(reinterpret_cast<__gm__ DstT *>(proxy_.NextAhead(sizeof(DstT), at).addr));
        return block;
    }
    template <bool isTurnOnDebug = true>
    PITON_API MatrixOffset GetOffsetC() {
        return core_.OffsetOfResult();
    }

    /* On a cube core by itself there is nothing to wait for. */
    PITON_API void WaitIterateAll(piton::Location at = piton::Location()) { Await(at); }
    PITON_API void WaitGetTensorC(piton::Location at = piton::Location()) { Await(at); }

    PITON_API void End(piton::Location at = piton::Location()) { proxy_.IsOn() ? proxy_.Await(at) : core_.End(at); }

    template <class T>
    PITON_API void SetSelfDefineData(T dataPtr) {
        proxy_.now.selfData = core_.selfData = static_cast<uint64_t>(dataPtr);
    }
    PITON_API void SetUserDefInfo(const uint64_t tilingPtr) { proxy_.now.userInfo = core_.userInfo = tilingPtr; }
    PITON_API void SetSubBlockIdx(uint8_t subBlockIdx) { subBlock_ = subBlockIdx; }
    PITON_API uint8_t GetSubBlockIdx() const { return subBlock_; }
    /* Memory that this chip's object does not need. */
    PITON_API void SetLocalWorkspace(const LocalTensor<uint8_t> &) {}
    /* Where the asynchronous forms keep results. */
    template <class T>
    PITON_API void SetWorkspace(__gm__ const T *addr, int) {
        GlobalTensor<DstT> tensor;
        tensor.SetGlobalBuffer(reinterpret_cast<__gm__ DstT *>(const_cast<__gm__ T *>(addr)));
        workspace_ = PlaceOf(tensor, 0, true);
    }
    template <class T>
    PITON_API void SetWorkspace(GlobalTensor<T> &addr) {
        SetWorkspace(addr.GetPhyAddr(), 0);
    }

    /* Ours: this object on a vector core, number `object` of the kernel. */
    PITON_API void BeginProxy(uint32_t object, const TCubeTiling *cubeTiling, piton::Location) {
        TCubeTiling tiling = cubeTiling == nullptr ? TCubeTiling() : *cubeTiling;
        piton::Override(MM_CFG, tiling);
        if (cubeTiling == nullptr) {
            piton::Complete(piton::ConfigOf(MM_CFG), tiling);
        }
        proxy_.Begin(object, tiling);
    }
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
    PITON_API void SetSide(bool isLeft, const piton::Side &side, piton::Location at) {
        if (proxy_.IsOn()) {
            proxy_.SetSide(isLeft, side, Pipe(at), at);
        } else {
            isLeft ? core_.SetLeft(side, at) : core_.SetRight(side, at);
        }
    }
    PITON_API static TPipe *Pipe(piton::Location at) { return GetTPipePtr(at); }
    PITON_API void Await(piton::Location at) {
        if (proxy_.IsOn()) {
            proxy_.Await(at);
        }
    }
    PITON_API static vnpu_operand OnChip(const vnpu_operand &operand, const char *which, piton::Location at) {
        if (operand.space != VNPU_SPACE_L1 && !piton::IsVectorCore(at)) {
            piton::FailMatmul(std::string(which) + " of a cube core lies in global memory or in L1 (TPosition::TSCM)", at);
        }
        return operand;
    }
    PITON_API void SetBiasOperand(const vnpu_operand &operand) {
        static_assert(piton::kIsMatmulBias<SrcT, BiasT>, "Matmul: the bias is float or half, and int32_t for int8_t matrices");
        proxy_.now.bias = operand;
        proxy_.now.hasBias = true;
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
    piton::MatmulProxy proxy_;
    piton::ResultPlace workspace_;
    uint8_t subBlock_ = 0;
};

}  // namespace AscendC

#endif /* PITON_ASCENDC_MATMUL_OBJECT_H */
