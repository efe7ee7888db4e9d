/* What host code of operators asks and says beside shapes and tiling; prints one fact a line. */
#include <cstdio>

#include "ascendc/host_api/tiling/template_argument.h"
#include "op_host/tiling_util.h"
#include "piton_project/plan.h"
#include "platform/platform_infos_def.h"
#include "platform/soc_spec.h"

/* The chip of this test: 48 vector cores, half as many cube cores. */
extern "C" uint64_t piton_host_platform(uint32_t what) { return what == PITON_PLATFORM_CORES_AIV ? 48 : what == PITON_PLATFORM_CORES_AIC ? 24 : 196608; }

namespace {

void Say(const char *name, const std::string &value) { std::printf("%s=%s\n", name, value.c_str()); }

std::string Entry(const fe::PlatFormInfos &chip, const char *label, const char *key) {
    std::string value = "before";
    return (chip.GetPlatformRes(label, key, value) ? "found " : "missing ") + value;
}

/* Values of each combination, and after a colon on which cores it runs. */
std::string Combinations(const char *type) {
    const piton_project::TemplateTable &table = piton_project::Registry::Get().templates[type];
    std::string text;
    for (std::size_t i = 0; i < table.combinations.size(); ++i) {
        for (const int64_t value : table.combinations[i]) {
            text += std::to_string(value) + " ";
        }
        text += ": " + std::to_string(table.kernel_types.at(i)) + "; ";
    }
    return text;
}

using Infer = ge::graphStatus (*)(gert::InferShapeContext *);

/* The shape of the output, or what was said against it; `values` of the second input, int32_t, if host code may read them. */
std::string Inferred(Infer infer, const gert::Shape &first, const gert::Shape &second, const int32_t *values = nullptr) {
    piton_project::Call call;
    call.present = {gert::Tensor(first, ge::DT_FLOAT), gert::Tensor(second, ge::DT_INT32)};
    if (values != nullptr) {
        const auto *bytes = reinterpret_cast<const unsigned char *>(values);
        call.present[1].SetValues({bytes, bytes + call.present[1].GetSize()});
    }
    call.inputs = {{call.present[0]}, {call.present[1]}};
    call.output_counts = {1};
    call.output_shapes.resize(1);
    call.output_types = {ge::DT_FLOAT};
    piton_project::AttrValue keeps_axes;
    keeps_axes.kind = piton_project::AttrKind::kBool;
    keeps_axes.truth = true;
    call.attributes.Fill({keeps_axes});
    gert::InferShapeContext context(call);
    return infer(&context) == ge::GRAPH_SUCCESS ? Ops::Base::ToString(call.output_shapes[0]) : piton_project::Registry::Get().last_error;
}

std::string WithoutAxes(const gert::Shape &from, const std::vector<int64_t> &axes) {
    gert::Shape to;
    return Ops::Base::ReduceDimsWithoutKeepDims(&from, axes.data(), axes.size(), &to) == ge::GRAPH_SUCCESS ? Ops::Base::ToString(to) : "none";
}

ge::graphStatus Refuse(gert::TilingContext *context, const gert::Shape &shape) {
    OP_CHECK_IF(shape.GetDimNum() != 3,
                OP_LOGE_FOR_INVALID_SHAPE_WITH_REASON(context->GetNodeName(), "x", Ops::Base::ToString(shape).c_str(), std::string("3 axes")),
                return ge::GRAPH_FAILED);
    return ge::GRAPH_SUCCESS;
}

ASCENDC_TPL_ARGS_DECL(Probe, ASCENDC_TPL_BOOL_DECL(TURNED, 0, 1), ASCENDC_TPL_UINT_DECL(DEPTH, ASCENDC_TPL_8_BW, ASCENDC_TPL_UI_LIST, 2, 4));
ASCENDC_TPL_SEL(ASCENDC_TPL_ARGS_SEL(ASCENDC_TPL_KERNEL_TYPE_SEL(ASCENDC_TPL_MIX_AIC_1_2), ASCENDC_TPL_BOOL_SEL(TURNED, 1),
                                     ASCENDC_TPL_UINT_SEL(DEPTH, ASCENDC_TPL_UI_LIST, 2, 4)),
                ASCENDC_TPL_ARGS_SEL(ASCENDC_TPL_KERNEL_TYPE_SEL(ASCENDC_TPL_AIC_ONLY), ASCENDC_TPL_BOOL_SEL(TURNED, 0),
                                     ASCENDC_TPL_UINT_SEL(DEPTH, ASCENDC_TPL_UI_LIST, 4)),
                ASCENDC_TPL_ARGS_SEL(ASCENDC_TPL_BOOL_SEL(TURNED, 0), ASCENDC_TPL_UINT_SEL(DEPTH, ASCENDC_TPL_UI_LIST, 2)));

namespace shared {
ASCENDC_TPL_ARGS_DECL(Shared, ASCENDC_TPL_KERNEL_TYPE_DECL(CORES, ASCENDC_TPL_AIV_ONLY, ASCENDC_TPL_MIX_AIC_1_1), ASCENDC_TPL_BOOL_DECL(TURNED, 0, 1));
ASCENDC_TPL_SEL(ASCENDC_TPL_ARGS_SEL(ASCENDC_TPL_SHARED_KERNEL_TYPE_SEL(CORES, ASCENDC_TPL_AIV_ONLY, ASCENDC_TPL_MIX_AIC_1_1),
                                     ASCENDC_TPL_BOOL_SEL(TURNED, 1)));
}  // namespace shared

ge::graphStatus InferTurned(gert::InferDataTypeContext *context) {
    return context->SetOutputDataType(0, static_cast<ge::DataType>(*context->GetAttrs()->GetInt(0)));
}

/* Rows that differ in their output alone. */
class Turned : public ops::OpDef {
public:
    explicit Turned(const char *name) : OpDef(name) {
        Input("x").DataType({ge::DT_FLOAT16, ge::DT_FLOAT16, ge::DT_FLOAT});
        Output("y").DataType({ge::DT_FLOAT, ge::DT_INT32, ge::DT_INT64}).Format({ge::FORMAT_ND, ge::FORMAT_NCHW, ge::FORMAT_ND});
        Attr("to").Int(0);
        SetInferDataType(InferTurned);
        SetInferShape(Ops::Base::InferShape4Elewise);
    }
};
OP_ADD(Turned);

/* Row, and type and format of the output, for an input of float16. */
std::string RowFor(ge::DataType to) {
    const piton_project::Operator op("Turned");
    piton_project::Call call;
    call.inputs = {{gert::Tensor({4}, ge::DT_FLOAT16)}};
    piton_project::AttrValue wanted;
    wanted.whole = to;
    call.attributes.Fill({wanted});
    try {
        const std::size_t first = op.RowOf(call);
        op.Settle(call, first);
        const std::size_t row = op.Infer(call, first);
        return std::to_string(row) + " " + piton_project::NameOf(call.output_types[0]) + " " + Ops::Base::ToString(call.output_formats[0]);
    } catch (const std::runtime_error &error) {
        return error.what();
    }
}

/* Each attribute that a call leaves out. */
class Asks : public ops::OpDef {
public:
    explicit Asks(const char *name) : OpDef(name) {
        Attr("bare").Int();
        Attr("bare_list").AttrType(ops::REQUIRED).ListInt();
        Attr("written").AttrType(ops::REQUIRED).Float(0);
        Attr("optional").AttrType(ops::OPTIONAL).Bool();
    }
};
OP_ADD(Asks);

std::string LeftOut() {
    const piton_project::Operator op("Asks");
    std::string text;
    for (std::size_t i = 0; i < 4; ++i) {
        text += i == 0 ? "" : " | ";
        try {
            op.RequireDefault(i);
            text += "taken";
        } catch (const std::runtime_error &error) {
            text += error.what();
        }
    }
    return text;
}

/* Input `a` and output `x` are of the type of input `x`. */
std::string Followed() {
    ops::OpDef definition("Followed");
    definition.Input("a").Follow("x");
    definition.Input("x").DataType({ge::DT_FLOAT, ge::DT_BF16});
    definition.Output("x").Follow("x");
    std::string text;
    for (const auto &row : piton_project::Rows(definition)) {
        for (const ge::DataType type : row.types) {
            text += piton_project::NameOf(type) + " ";
        }
    }
    return text;
}

/* What is said of axes whose numbers have 16 bits. */
std::string ReducedByShort() {
    gert::Tensor axes({1}, ge::DT_INT16);
    axes.SetValues({1, 0});
    piton_project::Call call;
    call.present = {gert::Tensor({2, 3}, ge::DT_FLOAT), axes};
    call.output_types = {ge::DT_FLOAT};
    call.output_shapes = {{}};
    piton_project::AttrValue keeps;
    keeps.kind = piton_project::AttrKind::kBool;
    call.attributes.Fill({keeps});
    gert::InferShapeContext context(call);
    Ops::Base::InferShape4Reduce(&context);
    return piton_project::Registry::Get().last_error;
}

}  // namespace

int main() {
    piton_project::Call call;
    call.type = "Probe";
    gert::TilingContext context(call);
    fe::PlatFormInfos *chip = context.GetPlatformInfo();
    uint64_t bytes = 0;
    chip->GetLocalMemSize(fe::LocalMemType::UB, bytes);
    Say("ub", std::to_string(bytes));
    Say("cores", std::to_string(chip->GetCoreNumByType("VectorCore")) + " " + std::to_string(chip->GetCoreNumByType("AiCore")));
    Say("apart", Entry(*chip, "SoCInfo", "cube_vector_combine"));
    Say("count", Entry(*chip, "SoCInfo", "ai_core_cnt"));
    Say("mmad", Entry(*chip, "AICoreintrinsicDtypeMap", "Intrinsic_mmad"));
    Say("frequency", Entry(*chip, "AICoreSpec", "cube_freq"));
    Say("arch", std::to_string(static_cast<uint32_t>(platform_ascendc::PlatformAscendC(chip).GetCurNpuArch())));
    Say("refused", std::to_string(Refuse(&context, {2, -1}) == ge::GRAPH_FAILED) + " " + piton_project::Registry::Get().last_error);
    Say("accepted", std::to_string(Refuse(&context, {2, 3, 4}) == ge::GRAPH_SUCCESS));
    Say("selected", Combinations("Probe"));
    Say("shared", Combinations("Shared"));
    Say("first row", RowFor(ge::DT_FLOAT));
    Say("second row", RowFor(ge::DT_INT32));
    Say("no row", RowFor(ge::DT_INT64));
    Say("followed", Followed());
    Say("left out", LeftOut());
    Say("short_axes", ReducedByShort());
    const int32_t axes[] = {-1, 0}, far[] = {3, 0};
    Say("like", Inferred(Ops::Base::InferShape4Elewise, {3, 4}, {1}));
    Say("stretched", Inferred(Ops::Base::InferShape4Broadcast, {4, 1, 3}, {2, 1}));
    Say("apart_shapes", Inferred(Ops::Base::InferShape4Broadcast, {4, 3}, {4, 2}));
    Say("reduced", Inferred(Ops::Base::InferShape4Reduce, {5, 6, 7}, {2}, axes));
    Say("no_axis", Inferred(Ops::Base::InferShape4Reduce, {5, 6, 7}, {2}, far));
    Say("hidden_axes", Inferred(Ops::Base::InferShape4Reduce, {5, 6, 7}, {2}));
    Say("without", WithoutAxes({5, 6, 7}, {-1, 0}) + " " + WithoutAxes({5, 6}, {}) + " " + WithoutAxes({5}, {-2}));
    Say("type", ge::TypeUtils::DataTypeToSerialString(ge::DT_BF16) + " " + Ops::Base::ToString(ge::FORMAT_FRACTAL_NZ));
}
