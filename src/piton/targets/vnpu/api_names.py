"""Names of the Ascend C API as its public documentation lists them: data for recognising what a kernel asked for and the virtual NPU lacks.

Source: the public documentation's index of the basic, memory-based, register-based, cube and high-level APIs, and a count over public kernels.
Names that our headers have may be listed too: they are never reported as missing.
"""

from __future__ import annotations

VENDOR_HEADERS = (
    *("adv_api/", "lib/", "kernel_tiling/", "tiling/", "register/", "exe_graph/", "basic_api/", "simt_api/", "utils/std/", "aclnn/", "aclnnop/"),
    *("kernel_operator", "kernel_tensor", "kernel_tpipe"),
)
"""How the vendor's own headers begin."""

_NAMES = """
    Abs Acos Acosh Add AddDeqRelu AddRelu AddReluCast Adds AllocMutexID AllocTensor And AntiQuantize Arange ArithProgression Asin Asinh Atan Atanh Axpy
    BatchMatmul BilinearInterpolation BlockReduceMax BlockReduceMin BlockReduceSum Brcb BroadCast Broadcast BroadcastVecToMM
    Cast CastDeq CastDequant Ceil ClampMax ClampMin Compare CompareScalar Compares Concat ConfusionTranspose Copy Cos Cosh CountBitsCntSameAsSignBit
    CreateVecIndex CrossCoreSetFlag CrossCoreWaitFlag CumSum DataCacheCleanAndInvalid DataCachePreload DataCopy DataCopyPad DataSyncBarrier DeInterleave
    Dequant Digamma Div DropOut DumpAccChkPoint DumpTensor Duplicate Erf Erfc Exp Extract
    Fill FillPad Fixpipe Floor Fmod Frac FusedAbsSub FusedExpSub FusedMulAdd FusedMulAddRelu FusedMulsCast FusedMul
    Gather GatherMask Gatherb Gelu FasterGelu FasterGeluV2 GetArithProgression GetBlockIdx GetBlockNum GetCtrlSpr GetMrgSortResult GetReduceMaxMinCount
    GetReduceRepeatMaxMinSpr GetReduceRepeatSumSpr GetReduceMaxMinCountSpr GetSubBlockIdx GetSysWorkSpacePtr GetSystemCycle GetTaskRation
    GetTPipePtr GetUserWorkspace GetDataBlockSizeInBytes GetProgramCounter GroupBarrier GroupNorm Hardtanh IBSet IBWait ICachePreLoad
    InitConstValue InitDetermineComputeWorkspace InitGlobalMemory InitOutput InitSpmBuffer Interleave IsFinite IsInf IsNan
    LayerNorm LayerNormGrad LayerNormGradBeta LeakyRelu Lgamma ListTensorDesc Ln LoadData LoadDataWithSparse LoadDataWithTranspose LoadImageToLocal
    LoadUnzipIndex LoadAlign LocalMemAllocator LocalMemBar Log Log10 Log2 LogSoftMax LogicalAnd LogicalNot LogicalOr LoopInstr
    Matmul MatmulImpl Max Maxs Mean MetricsProfStart MetricsProfStop Min Mins Mmad MmadWithSparse MrgSort MrgSort4 Mul MulAddDst MulAddRelu MulCast MulRelu
    Muls Mutex Neg Normalize NotifyEvent NotifyNextBlock Not NumericLimits Or OutputConvert Pad PairReduceSum PipeBarrier Power Prefetch Prelu PRINTF
    Prelu ProposalConcat ProposalExtract Quant ReGlu Reciprocal Reduce ReduceAll ReduceAny ReduceDataBlock ReduceMax ReduceMean ReduceMin ReducePairElem
    ReduceProd ReduceRepeat ReduceSum ReduceXorSum RegTensor MaskReg CreateMask UpdateMask Relu ReleaseMutexID ResetCtrlSpr ResetMask RmsNorm Round
    RoundToNearest RpSort16 Rsqrt Scatter ScalarCast ScalarCountLeadingZero ScalarGetCountOfValue ScalarGetSFFValue Select SetAippFunctions SetAtomicAdd
    SetAtomicMax SetAtomicMin SetAtomicNone SetAtomicType SetCmpMask SetCtrlSpr SetDeqScale SetFixPipeConfig SetFixpipeNz2ndFlag SetFixpipePreQuantFlag
    SetFlag SetFmatrix SetHF32Mode SetHF32TransMode SetKernelMode SetLoadDataBoundary SetLoadDataPaddingValue SetLoadDataRepeat SetLoopModePara SetMaskCount
    SetMaskNorm SetMMColumnMajor SetMMLayoutTransform SetMMRowMajor SetNextTaskStart SetPadValue SetPreQuantMode SetReluThreshold SetStoreAtomicConfig
    SetSysWorkspace SetSysWorkSpace SetTensorA SetTensorB SetVectorMask ShiftLeft ShiftRight Sigmoid Sign Silu SimpleSoftMax Sin SinCos Sinh SoftMax
    SoftmaxFlash SoftmaxFlashV2 SoftmaxFlashV3 SoftmaxGrad SoftmaxGradFront Sort Sort32 Sqrt StoreAlign Sub SubRelu SubReluCast Subs Sum SwiGLU Swish
    SyncAll Tan Tanh TBufPool TopK TQueSync TransData TransDataTo5HD Transpose Trap Trunc Truncate UnPad UnAlign Unzip UpSample VectorPadding WaitEvent WaitFlag
    WaitNextBlock WaitPreBlock WaitPreTaskEnd WelfordFinalize WelfordUpdate Where WholeReduceMax WholeReduceMin WholeReduceSum Xor
    REGIST_MATMUL_OBJ GET_TILING_DATA GET_TILING_DATA_WITH_STRUCT GET_TILING_DATA_MEMBER TILING_KEY_IS REGISTER_TILING_DEFAULT ASCENDC_TPL_ARGS_DECL
    CMPMODE SELMODE ReduceOrder MmadParams LoadData2DParams LoadData3DParamsV2 Nd2NzParams Nz2NdParams FixpipeParamsV220 TransDataTo5HDParams
    GatherMaskParams CopyRepeatParams DataCopyEnhancedParams SliceInfo MatmulType TSCM InitBufPool WriteSpmBuffer ReadSpmBuffer AllocMutexID AscendAntiQuant
    AscendDequant AscendQuant InitShareBufStart ReadGmByPassDCache WriteGmByPassDCache GetICachePreloadStatus
"""

API_NAMES = frozenset(_NAMES.split())
