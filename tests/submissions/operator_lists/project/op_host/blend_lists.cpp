// y[i] = (x[i] + bias) * factor + weights[i]: a list, an input that may be left out, one whose values tiling reads, one that is a number of the call.
#include "log/log.h"
#include "register/op_def_registry.h"
#include "register/op_impl_registry.h"
#include "register/tilingdata_base.h"

namespace optiling {
constexpr uint32_t kMost = 8;

BEGIN_TILING_DATA_DEF(BlendListsTiling)
TILING_DATA_FIELD_DEF(uint32_t, count);
TILING_DATA_FIELD_DEF(uint32_t, hasBias);
TILING_DATA_FIELD_DEF_ARR(float, 8, weights);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(BlendLists, BlendListsTiling)

static bool AttributesAreRight(const gert::RuntimeAttrs *attributes) {
    const auto *table = attributes->GetListListInt(2);
    const auto *flags = attributes->GetListBool(3);
    const auto *second = table->GetSize() == 2 ? static_cast<const int64_t *>(table->Get(1)->GetData()) : nullptr;
    return *attributes->GetInt(0) == ge::DT_FLOAT16 && std::string(attributes->GetStr(1)) == "plain" && second != nullptr && second[0] == 30 &&
           flags->GetSize() == 2 && flags->GetData()[0] && !flags->GetData()[1];
}

static ge::graphStatus Tile(gert::TilingContext *context) {
    const std::size_t count = context->GetIrInputInstanceInfo(0)->GetInstanceNum();
    const gert::Tensor *weights = context->GetRequiredInputTensor(2);
    if (!AttributesAreRight(context->GetAttrs()) || weights->GetData<int64_t>() == nullptr || weights->GetShapeSize() != static_cast<int64_t>(count)) {
        OP_LOGE(context, "%zu tensors, %ld weights", count, static_cast<long>(weights->GetShapeSize()));
        return ge::GRAPH_FAILED;
    }
    if (context->GetDynamicInputShape(0, count) != nullptr || context->GetInputDesc(count)->GetOriginFormat() != ge::FORMAT_ND ||
        context->GetInputInstanceInfo(3)->GetInstanceStart() + 1 != context->GetInputsNum()) {
        return ge::GRAPH_FAILED;
    }
    BlendListsTiling tiling;
    float values[kMost] = {};
    for (std::size_t i = 0; i < count && i < kMost; ++i) {
        values[i] = static_cast<float>(weights->GetData<int64_t>()[i]);
    }
    tiling.set_count(static_cast<uint32_t>(count));
    tiling.set_hasBias(context->GetOptionalInputShape(1) != nullptr);
    tiling.set_weights(values);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(static_cast<uint32_t>(count));
    context->SetScheduleMode(1);
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ge {
static graphStatus InferShape(gert::InferShapeContext *context) {
    const std::size_t count = context->GetIrInputInstanceInfo(0)->GetInstanceNum();
    for (std::size_t i = 0; i < count; ++i) {
        *context->GetOutputShape(i) = *context->GetDynamicInputShape(0, i);
    }
    *context->GetOutputShape(count) = gert::Shape({static_cast<int64_t>(count)});
    *context->GetOutputShape(count + 1) = gert::Shape({8});
    return GRAPH_SUCCESS;
}

static graphStatus InferShapeRange(gert::InferShapeRangeContext *context) { return context->GetOutputShapeRange(0) == nullptr ? GRAPH_FAILED : GRAPH_SUCCESS; }
}  // namespace ge

namespace ops {
class BlendLists : public OpDef {
public:
    explicit BlendLists(const char *name) : OpDef(name) {
        this->Input("x").ParamType(DYNAMIC).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Input("bias").ParamType(OPTIONAL).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Input("weights").ParamType(REQUIRED).DataType({ge::DT_INT64}).Format({ge::FORMAT_ND}).ValueDepend(REQUIRED, DependScope::TILING);
        this->Input("factor").ParamType(REQUIRED).Scalar().DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Output("y").ParamType(DYNAMIC).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Output("total").ParamType(REQUIRED).DataType({ge::DT_INT32}).Format({ge::FORMAT_ND}).InitValue(0);
        this->Output("spare").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Attr("kind").AttrType(OPTIONAL).Int(0);
        this->Attr("mode").AttrType(OPTIONAL).String("plain");
        this->Attr("table").AttrType(OPTIONAL).ListListInt({{1, 2}, {30}});
        this->Attr("flags").AttrType(OPTIONAL).ListBool({true, false});
        this->SetInferShape(ge::InferShape).SetInferShapeRange(ge::InferShapeRange);
        this->AICore().SetTiling(optiling::Tile).AddConfig("ascend910b");
    }
};
OP_ADD(BlendLists);
}  // namespace ops
