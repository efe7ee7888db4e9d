// z = x + alpha y: one block and key 1 for what fits one tile, many blocks and key 2 for the rest.
#include "register/op_def_registry.h"
#include "scaled_add_tiling.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
constexpr uint32_t kTile = 2048;

static ge::graphStatus Tile(gert::TilingContext *context) {
    ScaledAddTiling tiling;
    const uint64_t total = context->GetInputShape(0)->GetStorageShape().GetShapeSize();
    const bool is_small = total <= kTile;
    const auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    const uint32_t cores = is_small ? 1 : platform.GetCoreNumAiv();
    const uint64_t share = (total + cores - 1) / cores;
    const uint32_t per_block[2] = {static_cast<uint32_t>((share + kTile - 1) / kTile * kTile), kTile};
    tiling.set_total(total);
    tiling.set_alpha(*context->GetAttrs()->GetFloat(0));
    tiling.set_perBlock(per_block);
    context->SetBlockDim(is_small ? 1 : static_cast<uint32_t>((total + per_block[0] - 1) / per_block[0]));
    context->SetTilingKey(is_small ? 1 : 2);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ge {
static graphStatus InferShape(gert::InferShapeContext *context) {
    *context->GetOutputShape(0) = *context->GetInputShape(0);
    return GRAPH_SUCCESS;
}
}  // namespace ge

namespace ops {
class ScaledAdd : public OpDef {
public:
    explicit ScaledAdd(const char *name) : OpDef(name) {
        for (const char *input : {"x", "y"}) {
            this->Input(input).ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_FLOAT16}).Format({ge::FORMAT_ND, ge::FORMAT_ND}).AutoContiguous();
        }
        this->Output("z").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_FLOAT16}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Attr("alpha").AttrType(OPTIONAL).Float(1.0f);
        this->SetInferShape(ge::InferShape);
        this->AICore().SetTiling(optiling::Tile).AddConfig("ascend910b");
    }
};
OP_ADD(ScaledAdd);
}  // namespace ops
