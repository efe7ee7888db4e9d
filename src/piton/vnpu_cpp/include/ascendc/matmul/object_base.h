/*
 * MatmulBase: what a Matmul object is told before it computes: tiling, shapes, matrices, bias, scales, memory.
 *
 * Problem: every call exists twice, for a cube core that computes and for a vector core that asks.
 * Approach: setters note what they are told in both, the cube core's object and the message of the proxy; only one of them is used.
 * Limits: as MatmulImpl (object.h).
 */
#ifndef PITON_ASCENDC_MATMUL_OBJECT_BASE_H
#define PITON_ASCENDC_MATMUL_OBJECT_BASE_H

#include "../registers.h"
#include "object_checks.h"

namespace piton {

template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE, const auto &MM_CFG, class MM_CB,
          template <const auto &, typename, typename, typename, typename> class MATMUL_POLICY>
class MatmulBase {
    static_assert(CheckMatmulTypes<A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE>(), "checks types");
    static_assert(kIsKnownPolicy<MATMUL_POLICY>,
                  "Matmul: the virtual NPU has MatmulPolicy, NBuffer33MatmulPolicy, TrianUpperMatmulPolicy and TrianLowerMatmulPolicy; others change what is "
                  "computed");

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
    using L0cT = SumOf<SrcT>;

    PITON_API MatmulBase() {
        core_.traits = Traits();
        core_.config = ConfigOf(MM_CFG);
        core_.loadLeft = MM_CB::CopyA1Ptr;
        core_.loadRight = MM_CB::CopyB1Ptr;
        core_.store = MM_CB::DataCopyOutPtr;
        core_.Describe(SideOf<A_TYPE>(true), SideOf<B_TYPE>(false));
    }

    /* `tiling` may be null where constants say everything. */
    PITON_API void Init(const TCubeTiling *cubeTiling, AscendC::TPipe *tpipe = nullptr, Location at = Location()) {
        const TCubeTiling tiling = Whole(cubeTiling);
        if (proxy_.IsOn()) {
            return Plan(tiling);
        }
        if (cubeTiling == nullptr && tiling.singleCoreM == 0) {
            return; /* registered with a null pointer: the tiling comes by another Init */
        }
        core_.Init(tpipe == nullptr ? *AscendC::GetTPipePtr(at) : *tpipe, tiling, at);
    }

    PITON_API void SetOrgShape(int orgM, int orgN, int orgK) { SetOrgShape(orgM, orgN, orgK, orgK, 0); }
    PITON_API void SetOrgShape(int orgM, int orgN, int orgKa, int orgKb, int orgKc = 0) {
        Message &now = proxy_.now;
        now.orgM = orgM, now.orgN = orgN, now.orgKa = orgKa, now.orgKb = orgKb, now.orgKc = orgKc;
        core_.SetOrgShape(orgM, orgN, orgKa, orgKb, orgKc);
    }
    PITON_API void SetSingleShape(int singleM, int singleN, int singleK) { SetTail(singleM, singleN, singleK); }
    PITON_API void SetTail(int tailM = -1, int tailN = -1, int tailK = -1) {
        core_.SetSingleShape(tailM, tailN, tailK);
        if (proxy_.IsOn()) {
            proxy_.SetShape(tailM, tailN, tailK);
        }
    }

    PITON_API void SetTensorA(const AscendC::GlobalTensor<SrcT> &gm, bool isTransposeA = false, Location at = Location()) {
        SetSide(true, Given<A_TYPE>(true, gm.Operand(), gm.CopyFlags(), isTransposeA), at);
    }
    PITON_API void SetTensorB(const AscendC::GlobalTensor<SrcBT> &gm, bool isTransposeB = false, Location at = Location()) {
        SetSide(false, Given<B_TYPE>(false, gm.Operand(), gm.CopyFlags(), isTransposeB), at);
    }
    PITON_API void SetTensorA(const AscendC::LocalTensor<SrcT> &leftMatrix, bool isTransposeA = false, Location at = Location()) {
        SetSide(true, Given<A_TYPE>(true, OnChip(leftMatrix.Operand(), "A", at), 0, isTransposeA), at);
    }
    PITON_API void SetTensorB(const AscendC::LocalTensor<SrcBT> &rightMatrix, bool isTransposeB = false, Location at = Location()) {
        SetSide(false, Given<B_TYPE>(false, OnChip(rightMatrix.Operand(), "B", at), 0, isTransposeB), at);
    }
    PITON_API void SetBias(const AscendC::GlobalTensor<BiasT> &biasGlobal, Location = Location()) { SetBiasOperand(biasGlobal.Operand()); }
    PITON_API void SetBias(const AscendC::LocalTensor<BiasT> &inputBias, Location at = Location()) {
        SetBiasOperand(OnChip(inputBias.Operand(), "the bias", at));
    }
    PITON_API void DisableBias() {
        proxy_.now.hasBias = false;
        core_.DisableBias();
    }
    PITON_API void ClearBias() { DisableBias(); }
    PITON_API void SetQuantScalar(const uint64_t quantScalar) {
        proxy_.now.quantScalar = quantScalar;
        proxy_.now.quantVector.isSet = false;
        core_.SetQuantScalar(quantScalar);
    }
    /* One scale per column of C, from its first column on. */
    PITON_API void SetQuantVector(const AscendC::GlobalTensor<uint64_t> &quantTensor, Location at = Location()) { SetQuants(quantTensor.Operand(), at); }
    PITON_API void SetQuantVector(const AscendC::LocalTensor<uint64_t> &quantTensor, Location at = Location()) { SetQuants(quantTensor.Operand(), at); }
    /* Float matrices are rounded for the cube, until it is switched off; `transMode` 1 rounds ties away from 0. */
    PITON_API void SetHF32(bool enableHF32 = false, int32_t transMode = 0, Location at = Location()) {
        if (proxy_.IsOn()) {
            FailMatmul("SetHF32 is for kernels of cube cores alone", at);
        }
        AscendC::SetHF32Mode(enableHF32, at);
        AscendC::SetHF32TransMode(transMode == 1, at);
    }
    /* Matrices of the next IterateBatch, on a cube core by itself. */
    PITON_API void SetBatchNum(int32_t batchA, int32_t batchB) {
        batch_.lefts = static_cast<uint32_t>(batchA);
        batch_.rights = static_cast<uint32_t>(batchB);
    }

    template <class T>
    PITON_API void SetSelfDefineData(T dataPtr) {
        proxy_.now.selfData = core_.selfData = static_cast<uint64_t>(dataPtr);
    }
    PITON_API void SetUserDefInfo(const uint64_t tilingPtr) { proxy_.now.userInfo = core_.userInfo = tilingPtr; }
    PITON_API void SetSubBlockIdx(uint8_t subBlockIdx) { subBlock_ = subBlockIdx; }
    PITON_API uint8_t GetSubBlockIdx() const { return subBlock_; }
    /* Memory that this chip's object does not need. */
    PITON_API void SetLocalWorkspace(const AscendC::LocalTensor<uint8_t> &) {}
    /* Where the asynchronous forms keep results. */
    template <class T>
    PITON_API void SetWorkspace(__gm__ const T *addr, int) {
        AscendC::GlobalTensor<DstT> tensor;
        tensor.SetGlobalBuffer(reinterpret_cast<__gm__ DstT *>(const_cast<__gm__ T *>(addr)));
        workspace_ = PlaceOf(tensor, 0, true);
    }
    template <class T>
    PITON_API void SetWorkspace(AscendC::GlobalTensor<T> &addr) {
        SetWorkspace(addr.GetPhyAddr(), 0);
    }

    /* Ours: this object on a vector core, number `object` of the kernel. */
    PITON_API void BeginProxy(uint32_t object, const TCubeTiling *cubeTiling, Location) {
        proxy_.now.object = object;
        proxy_.now.isShared = A_TYPE::ibShare && B_TYPE::ibShare;
        Plan(Whole(cubeTiling));
    }
    PITON_API CubeCore &Core() { return core_; }

protected:
    /* The tiling with what constants say. */
    PITON_API static TCubeTiling Whole(const TCubeTiling *cubeTiling) {
        TCubeTiling tiling = cubeTiling == nullptr ? TCubeTiling() : *cubeTiling;
        Override(MM_CFG, tiling);
        if (cubeTiling == nullptr) {
            Complete(ConfigOf(MM_CFG), tiling);
        }
        return tiling;
    }
    PITON_API void Plan(const TCubeTiling &tiling) {
        core_.Plan(tiling);
        proxy_.Begin(tiling, ConfigOf(MM_CFG).isPartialOutput);
    }
    template <class Type>
    PITON_API static constexpr bool IsInL1() {
        return SpaceOf(Type::pos) == VNPU_SPACE_L1;
    }
    PITON_API static CubeTraits Traits() {
        CubeTraits traits;
        traits.inputDtype = kDtype<SrcT>;
        traits.sumDtype = kDtype<L0cT>;
        traits.resultDtype = kDtype<DstT>;
        traits.biasDtype = kDtype<BiasT>;
        traits.isLeftOnChip = IsInL1<A_TYPE>();
        traits.isRightOnChip = IsInL1<B_TYPE>();
        traits.canTransposeLeft = A_TYPE::isTrans;
        traits.canTransposeRight = B_TYPE::isTrans;
        traits.hasOwnResults = C_TYPE::pos == AscendC::TPosition::CO1;
        traits.triangle = kTriangle<MATMUL_POLICY>;
        traits.leftLayout = A_TYPE::layout;
        traits.rightLayout = B_TYPE::layout;
        traits.resultLayout = C_TYPE::layout;
        return traits;
    }
    template <class Type>
    PITON_API static Side SideOf(bool isLeft) {
        Side side;
        side.format = Type::format;
        side.bits = static_cast<uint32_t>(8 * BytesOf<typename Type::T>(2) / 2);
        side.isLeft = isLeft;
        side.isRowByRow = ConfigOf(MM_CFG).intrinsicsCheck;
        return side;
    }
    template <class Type>
    PITON_API static Side Given(bool isLeft, const vnpu_operand &start, uint8_t flags, bool isTransposed) {
        Side side = SideOf<Type>(isLeft);
        side.start = start;
        side.flags = flags;
        side.isTransposed = isTransposed;
        return side;
    }
    PITON_API void SetSide(bool isLeft, const Side &side, Location at) {
        if (proxy_.IsOn()) {
            proxy_.SetSide(isLeft, side, Pipe(at), at);
        } else {
            isLeft ? core_.SetLeft(side, at) : core_.SetRight(side, at);
        }
    }
    PITON_API static AscendC::TPipe *Pipe(Location at) { return AscendC::GetTPipePtr(at); }
    PITON_API void Await(Location at) {
        if (proxy_.IsOn()) {
            proxy_.Await(at);
        }
    }
    PITON_API static vnpu_operand OnChip(const vnpu_operand &operand, const char *which, Location at) {
        if (operand.space != VNPU_SPACE_L1 && !IsVectorCore(at)) {
            FailMatmul(std::string(which) + " of a cube core lies in global memory or in L1 (AscendC::TPosition::TSCM)", at);
        }
        return operand;
    }
    PITON_API void SetQuants(const vnpu_operand &operand, Location at) {
        if (operand.space != VNPU_SPACE_GM && operand.space != VNPU_SPACE_L1) {
            FailMatmul("SetQuantVector: scales lie in global memory or in L1", at);
        }
        proxy_.now.quantVector = {operand, true};
        core_.SetQuantVector({operand, true});
    }
    PITON_API void SetBiasOperand(const vnpu_operand &operand) {
        static_assert(kIsMatmulBias<SrcT, BiasT>, "Matmul: the bias is float or half, and int32_t for int8_t and int4b_t matrices");
        proxy_.now.bias = operand;
        proxy_.now.hasBias = true;
        core_.SetBias(operand);
    }
    PITON_API static ResultPlace PlaceOf(const AscendC::GlobalTensor<DstT> &gm, uint8_t atomic, bool isSequential) {
        ResultPlace place;
        place.start = gm.Operand();
        place.format = C_TYPE::format;
        place.bytes = sizeof(DstT);
        place.flags = gm.CopyFlags();
        place.atomic = atomic;
        place.isSequential = isSequential;
        return place;
    }

    CubeCore core_;
    MatmulProxy proxy_;
    ResultPlace workspace_;
    Batch batch_;
    uint8_t subBlock_ = 0;
};

}  // namespace piton

#endif /* PITON_ASCENDC_MATMUL_OBJECT_BASE_H */
