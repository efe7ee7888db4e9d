"""The documented forms of memory, queues, synchronisation, the cube unit and Matmul objects, with their types on the Ascend 910B (Atlas A2).

Written from the public pages of each call, not from the headers. `api_form.py` says what the rows mean.
"""

from __future__ import annotations

from api_form import ANY, COPIED, NARROW, Form, forms

EVERY = f"{COPIED} bool"
CUBE_FROM_L1 = f"{NARROW} bfloat16_t int4b_t"
IMAGES = "int8_t uint8_t half bfloat16_t int32_t uint32_t float int4b_t"
FIXED = "float,float half,float bfloat16_t,float int8_t,float uint8_t,float int32_t,int32_t half,int32_t int8_t,int32_t uint8_t,int32_t"
FIXED_TO_L1 = "half,float bfloat16_t,float int8_t,float uint8_t,float half,int32_t int8_t,int32_t uint8_t,int32_t"
PRODUCTS = "float,half float,float float,bfloat16_t int32_t,int8_t int32_t,int4b_t"
BIASED = "float,float int32_t,int32_t float,half"
FILLED = "int16_t uint16_t half bfloat16_t int32_t uint32_t float"
QUEUE = "TQue<TPosition::VECIN, 2> queue; "
IN_PLACE = "TQue<TPosition::VECIN, 0> queue; "
BOUND = "TQueBind<TPosition::VECIN, TPosition::VECOUT, 2> queue; "
BUFFER = "TBuf<TPosition::VECCALC> buffer; "
POOL = "TBufPool<TPosition::VECCALC> pool; "
CACHE = (
    "{n}<T, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(g)",
    "{n}<T, CacheLine::ENTIRE_DATA_CACHE, DcciDst::CACHELINE_ALL>(d)",
    "{n}<T, CacheLine::SINGLE_CACHE_LINE>(g)",
)
QUESTIONS = "GetBlockIdx GetBlockNum GetSubBlockIdx GetTaskRatio GetTaskRation"

SYSTEM: tuple[Form, ...] = (
    *forms("TPipe", ("{n} pipe", "{n} pipe; pipe.Init()", "{n} pipe; " + POOL + "pipe.InitBufPool(pool, 1024)"), ANY),
    *forms("TPipe", ("{n} pipe; " + POOL + "TBufPool<TPosition::VECCALC> other; pipe.InitBufPool(pool, 64, other)",), ANY),
    *forms("TPipe", ("TPipe pipe; pipe.DestroyWithoutPipeAll()",), ANY),
    *forms(".Destroy", ("TPipe pipe; pipe.Destroy()",), ANY),
    *forms(".Reset", ("TPipe pipe; pipe.Reset()", POOL + "pool.Reset()"), ANY),
    *forms(".InitBuffer", tuple("TPipe pipe; " + queue + "pipe.InitBuffer(queue, 2, 128)" for queue in (QUEUE, IN_PLACE, BOUND)), ANY),
    *forms(".InitBuffer", ("TPipe pipe; " + QUEUE + "pipe.InitBuffer(queue, Std::make_tuple(0, 1024), Std::make_tuple(2048, 2048))",), ANY),
    *forms(".InitBuffer", ("TPipe pipe; " + BUFFER + "pipe.InitBuffer(buffer, 128)", POOL + QUEUE + "pool.InitBuffer(queue, 2, 128)"), ANY),
    *forms(".InitBuffer", (POOL + BUFFER + "pool.InitBuffer(buffer, 128)",), ANY),
    *forms(".AllocEventID", ("TPipe pipe; TEventID id = pipe.AllocEventID<HardEvent::MTE3_V>(); (void)id",), ANY),
    *forms(".ReleaseEventID", ("TPipe pipe; pipe.ReleaseEventID<HardEvent::MTE3_V>(0)",), ANY),
    *forms(".FetchEventID", ("TPipe pipe; TEventID id = pipe.FetchEventID(HardEvent::V_S); id = pipe.FetchEventID<HardEvent::V_S>()",), ANY),
    *forms("GetTPipePtr", ("TPipe *pipe = {n}(); (void)pipe",), ANY),
    *forms("TQue", ("{n}<TPosition::VECOUT, 2> queue", "{n}<TPosition::A1, 1> queue", "{n}<QuePosition::VECIN, 0> queue", "{n}<TPosition::CO1, 1> queue"), ANY),
    *forms("TQue", tuple(QUEUE + f"queue.{name}()" for name in ("VacantInQue", "HasTensorInQue", "GetTensorCountInQue", "HasIdleBuffer")), ANY),
    *forms("TQueBind", ("{n}<TPosition::VECIN, TPosition::VECOUT, 1> queue", BOUND + "queue.FreeAllEvent()"), ANY),
    *forms("TQueBind", tuple(BOUND + f"queue.{name}()" for name in ("VacantInQue", "HasTensorInQue", "GetTensorCountInQue", "HasIdleBuffer")), ANY),
    *forms(".AllocTensor", (QUEUE + "d = queue.AllocTensor<T>()", IN_PLACE + "queue.AllocTensor<T>(d)", BOUND + "d = queue.AllocTensor<T>()"), EVERY, ""),
    *forms(".FreeTensor", (QUEUE + "queue.FreeTensor(d)", BOUND + "queue.FreeTensor(d)"), EVERY, ""),
    *forms(".EnQue", (QUEUE + "queue.EnQue(d)", BOUND + "queue.EnQue(d)", QUEUE + "queue.template EnQue<TPosition::GM, TPosition::VECIN, T>(d)"), EVERY, ""),
    *forms(".DeQue", (QUEUE + "d = queue.DeQue<T>()", IN_PLACE + "queue.DeQue<T>(d)", BOUND + "d = queue.DeQue<T>()"), EVERY, ""),
    *forms(".DeQue", (QUEUE + "d = queue.template DeQue<TPosition::GM, TPosition::VECIN, T>()",), EVERY, ""),
    *forms("TBuf", ("{n}<> buffer", "{n}<TPosition::VECCALC> buffer", "{n}<TPosition::A1> buffer"), ANY),
    *forms(".Get", (BUFFER + "d = buffer.Get<T>()", BUFFER + "d = buffer.Get<T>(8)"), EVERY, ""),
    *forms(".GetWithOffset", (BUFFER + "d = buffer.GetWithOffset<T>(8, 32)",), EVERY, ""),
    *forms("LocalTensor", ("{n}<T> one", "{n}<T> one(TPosition::VECIN, 0, 64)", "d = a[8]", "d(0) = s", "T one = a(1); (void)one"), EVERY, ""),
    *forms("LocalTensor", ("int one = a.GetPosition(); (void)one", "a.SetUserTag(3)", "auto tag = a.GetUserTag(); (void)tag", "a.GetLength()"), EVERY, ""),
    *forms("LocalTensor", ("a.SetBufferLen(64)", "d.SetAddrWithOffset(a, 8)", "a.SetShapeInfo(shaped)", "ShapeInfo one = a.GetShapeInfo()"), EVERY, ""),
    *forms("LocalTensor", ("a.Print()", "a.Print(8)"), "half float int32_t uint8_t", ""),
    *forms("GlobalTensor", ("{n}<T> one", "{n}<T> one = g[8]", "T one = g(1); (void)one", "g(0) = s"), EVERY, ""),
    *forms("GlobalTensor", ("g.SetShapeInfo(shaped)", "ShapeInfo one = g.GetShapeInfo()"), EVERY, ""),
    *forms(".SetGlobalBuffer", ("g.SetGlobalBuffer((__gm__ T *)memory)", "g.SetGlobalBuffer((__gm__ T *)memory, 64)"), EVERY, ""),
    *forms(".GetPhyAddr", ("(void)g.GetPhyAddr()", "(void)g.GetPhyAddr(8)", "(void)a.GetPhyAddr()", "(void)a.GetPhyAddr(8)"), EVERY, ""),
    *forms(".GetValue", ("T one = a.GetValue(0); (void)one", "T one = g.GetValue(0); (void)one"), EVERY, ""),
    *forms(".SetValue", ("a.SetValue(0, s)", "a.SetValue(0, 0)", "g.SetValue(0, s)"), EVERY, ""),
    *forms(".GetSize", ("uint32_t n = a.GetSize(); (void)n", "uint64_t n = g.GetSize(); (void)n"), EVERY, ""),
    *forms(".SetSize", ("a.SetSize(8)",), EVERY, ""),
    *forms(".ReinterpretCast", ("x = a.template ReinterpretCast<U>()",), "half,float int8_t,int4b_t float,half int16_t,uint16_t bool,uint8_t", ""),
    *forms(".SetL2CacheHint", ("g.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE)",), EVERY, ""),
    *forms(".SetL2CacheHint", ("g.template SetL2CacheHint<CacheRwMode::READ>(CacheMode::CACHE_MODE_NORMAL)",), EVERY, ""),
    *forms("DataCacheCleanAndInvalid", CACHE, EVERY, ""),
    *forms("ListTensorDesc", ("{n} list; list.Init(memory)", "{n} list(memory, 64, 8); list.GetSize()", "{n} list; T *one = list.GetDataPtr<T>(0)"), EVERY, ""),
    *forms("ListTensorDesc", ("{n} list; TensorDesc<T> one; one.SetShapeAddr(m); list.GetDesc(one, 0)",), EVERY, ""),
    *forms("ListTensorDesc", ("TensorDesc<T> one; one.GetDim(); one.GetIndex(); one.GetShape(0); one.GetDataPtr(); g = one.GetDataObj()",), EVERY, ""),
    *forms("SetFlag WaitFlag", ("{n}<HardEvent::MTE2_V>(0)", "{n}<HardEvent::M_FIX>(EVENT_ID1)", "{n}<HardEvent::V_V>(0)"), ANY),
    *forms("PipeBarrier", ("{n}<PIPE_V>()", "{n}<PIPE_MTE1>()", "{n}<PIPE_MTE2>()", "{n}<PIPE_MTE3>()", "{n}<PIPE_M>()", "{n}<PIPE_FIX>()"), ANY),
    *forms("PipeBarrier", ("{n}<PIPE_ALL>()",), ANY),
    *forms("SyncAll", ("{n}()", "{n}<false>()", "{n}<true, chosen>()", "{n}(gi32, i32)", "{n}<true>(gi32, i32, 4)"), ANY),
    *forms("CrossCoreSetFlag", ("{n}<0, PIPE_MTE3>(0)", "{n}<1, PIPE_V>(1)", "{n}<2, PIPE_FIX>(2)"), ANY),
    *forms("CrossCoreWaitFlag", ("{n}(0)", "{n}<1>(0)", "{n}<2, PIPE_V>(0)"), ANY),
    *forms("WaitEvent", ("{n}(0)",), ANY),
    *forms(QUESTIONS, ("int64_t one = {n}(); (void)one",), ANY),
    *forms("GetUserWorkspace", ("GM_ADDR one = {n}((GM_ADDR)memory); (void)one",), ANY),
    *forms("SetSysWorkspace", ("{n}((GM_ADDR)memory)",), ANY),
    *forms("GetSysWorkSpacePtr", ("__gm__ uint8_t *one = {n}(); (void)one",), ANY),
    *forms("GetCtrlSpr", ("int64_t one = {n}<48, 48>(); (void)one", "int64_t one = {n}<0, 63>(); (void)one"), ANY),
    *forms("SetCtrlSpr", ("{n}<48, 48>(1)", "{n}<46, 47>(3)"), ANY),
    *forms("SetMMLayoutTransform", ("{n}(true)",), ANY),
    *forms("LoadData", ("{n}(d, a, flat)",), CUBE_FROM_L1, "int64_t uint64_t double bool"),
    *forms("LoadData", ("{n}(d, g, flat)",), f"{NARROW} bfloat16_t", "int64_t uint64_t double"),
    *forms(
        "LoadData",
        ("{n}(d, a, LoadData3DParamsV2<T>())", "{n}<T, part>(d, a, LoadData3DParamsV2<T>())", "{n}(d, a, LoadData3DParamsV2Pro())"),
        IMAGES,
        "int64_t double",
    ),
    *forms("Mmad", ("{n}(d, x, y, MmadParams())",), PRODUCTS, "half,half float,int8_t int32_t,half int32_t,uint8_t float,int16_t"),
    *forms("Mmad", ("{n}(d, half_, half_, x, MmadParams())",), "float,float", "float,half float,bfloat16_t"),
    *forms("Fixpipe", ("{n}(g, x, FixpipeParamsV220())", "{n}<T, U, CFG_NZ>(g, x, FixpipeParamsV220())"), FIXED, "half,half int16_t,int32_t int64_t,float"),
    *forms("Fixpipe", ("{n}(g, x, u64, FixpipeParamsV220())",), FIXED, "half,half bfloat16_t,int32_t"),
    *forms(
        "Fixpipe",
        ("{n}<T, U, CFG_NZ>(d, x, FixpipeParamsV220())", "{n}<T, U, CFG_NZ>(d, x, u64, FixpipeParamsV220())"),
        FIXED_TO_L1,
        "float,float int32_t,int32_t",
    ),
    *forms("DataCopy", ("{n}(g, x, DataCopyCO12DstParams())",), FIXED, "half,half int16_t,int32_t"),
    *forms("DataCopy", ("{n}(d, x, DataCopyCO12DstParams())",), FIXED_TO_L1, "float,float"),
    *forms("DataCopy", ("{n}(d, x, blocks)",), "float,half", "half,float int32_t,half"),
    *forms("InitConstValue", ("{n}(d, InitConstValueParams<T>(1, 2, 0, s))", "{n}(d, InitConstValueParams<T>(1, s))"), FILLED, "int64_t uint64_t double"),
)
