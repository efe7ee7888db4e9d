/*
 * From the inputs of a call to a launch: inference of outputs, tiling, and what they may say wrong.
 *
 * Problem: what the vendor's framework does between a call of an operator and the launch of its kernel, from the project's own functions.
 * Approach: the same steps in the same order. Every failure is an exception that names the operator, the function and where the operator is defined.
 * Limits: none of the framework's rewrites; shapes and types are what the project's functions make of them.
 */
#ifndef PITON_PROJECT_PLAN_H
#define PITON_PROJECT_PLAN_H

#include <cctype>

#include "rows.h"
#include "type_names.h"

namespace piton_project {

/* Equal for AddCustom and add_custom. */
inline std::string Folded(const std::string &name) {
    std::string folded;
    for (const char sign : name) {
        if (sign != '_') {
            folded += static_cast<char>(std::tolower(static_cast<unsigned char>(sign)));
        }
    }
    return folded;
}

/* What a call becomes. */
struct Plan {
    std::size_t row = 0;
    uint32_t blocks = 0;
    uint64_t key = 0;
    std::size_t workspace_bytes = 0;
    std::vector<unsigned char> tiling;
};

class Operator {
public:
    /* The definition for operator `name`: the one of that name, else the only one. */
    explicit Operator(const std::string &name) {
        const auto &definitions = Registry::Get().definitions;
        for (const auto &item : definitions) {
            if (Folded(item.first) == Folded(name) || definitions.size() == 1) {
                definition_ = item.second.make();
                title_ = item.first + " (OP_ADD at " + item.second.file + ":" + std::to_string(item.second.line) + ")";
            }
        }
        if (definition_ == nullptr) {
            throw std::runtime_error("no OP_ADD for operator " + name + " in op_host");
        }
        rows_ = Rows(*definition_);
    }

    const ops::OpDef &Definition() const { return *definition_; }

    [[noreturn]] void Fail(const std::string &text) const {
        const std::string said = Registry::Get().last_error;
        throw std::runtime_error("operator " + title_ + ": " + text + (said.empty() ? "" : "; it said: " + said));
    }

    /* Does host code read the values of that input? */
    bool Reads(std::size_t index) const {
        const auto &read = Found().read;
        return definition_->inputs[index].is_read || std::find(read.begin(), read.end(), static_cast<int32_t>(index)) != read.end();
    }

    /* For an attribute of which a call has no value: a 0 that nobody wrote would look like one. */
    void RequireDefault(std::size_t attribute) const {
        const ops::OpAttrDef &item = definition_->attributes[attribute];
        if (item.kind == ops::REQUIRED && !item.has_default) {
            Fail("attribute " + item.name +
                 " is REQUIRED and the call brings no value for it; give the case one, or make it AttrType(OPTIONAL) with a default");
        }
    }

    std::size_t RowOf(const Call &call) const {
        for (std::size_t row = 0; row < rows_.size(); ++row) {
            if (Fits(rows_[row], call.inputs)) {
                return row;
            }
        }
        std::string given;
        for (const auto &tensors : call.inputs) {
            for (const gert::Tensor &tensor : tensors) {
                given += (given.empty() ? "" : ", ") + NameOf(tensor.GetDataType());
            }
        }
        Fail("its DataType lists have no row for inputs of " + given + Cut());
    }

    /* Element type of an input in a row. */
    ge::DataType TypeOf(std::size_t row, std::size_t input) const { return rows_[row].types[input]; }

    /* What the row says about the inputs, and all inputs one after another. */
    void Settle(Call &call, std::size_t row) const {
        for (std::size_t i = 0; i < call.inputs.size(); ++i) {
            RequireDense(definition_->inputs[i].name, rows_[row].formats[i]);
            for (gert::Tensor &tensor : call.inputs[i]) {
                tensor.SetFormat(rows_[row].formats[i]);
                call.present.push_back(tensor);
            }
        }
    }

    /* Types and shapes of the outputs. The row that has these types: several may differ in them alone (a cast). */
    std::size_t Infer(Call &call, std::size_t row) const {
        CountOutputs(call, row);
        const auto infer_type = definition_->infer_type != nullptr ? definition_->infer_type : Found().infer_type;
        const auto infer_shape = definition_->infer_shape != nullptr ? definition_->infer_shape : Found().infer_shape;
        gert::InferDataTypeContext types(call);
        if (infer_type != nullptr && infer_type(&types) != ge::GRAPH_SUCCESS) {
            Fail("its InferDataType function failed");
        }
        row = RowWithOutputs(call, row);
        if (infer_shape == nullptr) {
            Fail("it has no InferShape function, so that the shapes of its outputs are not known: SetInferShape in the OpDef or IMPL_OP_INFERSHAPE(" +
                 definition_->type + ").InferShape(...)");
        }
        gert::InferShapeContext shapes(call);
        if (infer_shape(&shapes) != ge::GRAPH_SUCCESS) {
            Fail("its InferShape function failed");
        }
        return row;
    }

    Plan Tile(Call &call, std::size_t row) const {
        const Implementation found = Found();
        const auto tiling = definition_->core.tiling != nullptr ? definition_->core.tiling : found.tiling;
        if (tiling == nullptr) {
            Fail("it has no tiling function: AICore().SetTiling(...) in the OpDef or IMPL_OP_OPTILING(" + definition_->type + ").Tiling(...)");
        }
        std::shared_ptr<void> info;
        if (found.parse && found.parse(call, info) != ge::GRAPH_SUCCESS) {
            Fail("its TilingParse function failed");
        }
        auto context = std::make_unique<gert::TilingContext>(call);
        context->SetCompileInfo(info.get());
        if (tiling(context.get()) != ge::GRAPH_SUCCESS) {
            Fail("its tiling function failed");
        }
        return Checked(*context, row);
    }

private:
    const Implementation &Found() const { return Registry::Get().implementations[definition_->type]; }

    void RequireDense(const std::string &name, ge::Format format) const {
        if (!IsDense(format)) {
            Fail(name + " has format " + ge::TypeUtils::FormatToSerialString(format) +
                 " in every row of its element types; a call brings dense tensors, and nothing here converts them");
        }
    }

    void CountOutputs(Call &call, std::size_t row) const {
        const std::size_t inputs = definition_->inputs.size();
        for (std::size_t i = 0; i < definition_->outputs.size(); ++i) {
            const ops::OpParamDef &output = definition_->outputs[i];
            const std::size_t count = output.kind == ops::DYNAMIC ? ListLength(call, output) : 1;
            call.output_counts.push_back(count);
            call.output_types.insert(call.output_types.end(), count, rows_[row].types[inputs + i]);
        }
        call.output_shapes.assign(call.output_types.size(), gert::Shape());
        SetOutputFormats(call, row);
    }

    void SetOutputFormats(Call &call, std::size_t row) const {
        call.output_formats.clear();
        for (std::size_t i = 0; i < definition_->outputs.size(); ++i) {
            const ge::Format format = rows_[row].formats[definition_->inputs.size() + i];
            RequireDense(definition_->outputs[i].name, format);
            call.output_formats.insert(call.output_formats.end(), call.output_counts[i], format);
        }
    }

    /* From `row` on, the first that fits the inputs, the first that fits the inferred outputs too. */
    std::size_t RowWithOutputs(Call &call, std::size_t row) const {
        for (; row < rows_.size(); ++row) {
            if (Fits(rows_[row], call.inputs) && FitsOutputs(rows_[row], definition_->inputs.size(), call.output_counts, call.output_types)) {
                SetOutputFormats(call, row);
                return row;
            }
        }
        std::string given;
        for (const ge::DataType type : call.output_types) {
            given += (given.empty() ? "" : ", ") + NameOf(type);
        }
        Fail("its InferDataType function gives outputs of " + given + ", for which its DataType lists have no row with these inputs" + Cut());
    }

    /* What has to be said where a row is looked for in vain. */
    std::string Cut() const { return rows_.size() < kMaxRows ? "" : "; only its first " + std::to_string(kMaxRows) + " rows are there"; }

    /* Of a list of outputs: that of the input of its name, else of the first list of inputs, else what an attribute says. */
    std::size_t ListLength(const Call &call, const ops::OpParamDef &output) const {
        const auto &inputs = definition_->inputs;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            if (inputs[i].name == output.name) {
                return call.inputs[i].size();
            }
        }
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            if (inputs[i].kind == ops::DYNAMIC) {
                return call.inputs[i].size();
            }
        }
        for (std::size_t i = 0; i < definition_->attributes.size(); ++i) {
            const std::string &name = definition_->attributes[i].name;
            const int64_t *value = call.attributes.GetInt(i);
            if ((name == "num_split" || name == "num" || name == "N") && value != nullptr && *value > 0) {
                return static_cast<std::size_t>(*value);
            }
        }
        Fail("how many tensors output " + output.name + " has is not known: no list among the inputs, and no attribute num_split, num or N");
    }

    Plan Checked(gert::TilingContext &context, std::size_t row) const {
        Plan plan;
        plan.row = row;
        plan.blocks = context.GetBlockDim();
        plan.key = context.GetTilingKey();
        for (const std::size_t bytes : context.Workspaces()) {
            plan.workspace_bytes += bytes;
        }
        const gert::TilingData &data = *context.GetRawTilingData();
        if (plan.blocks == 0) {
            Fail("its tiling function asked for no blocks: SetBlockDim has to be called with 1 or more");
        }
        if (data.GetDataSize() > gert::TilingData::kCapacity) {
            Fail("its tiling data has " + std::to_string(data.GetDataSize()) + " bytes; at most " + std::to_string(gert::TilingData::kCapacity) +
                 " are possible");
        }
        const auto *bytes = static_cast<const unsigned char *>(data.GetData());
        plan.tiling.assign(bytes, bytes + data.GetDataSize());
        return plan;
    }

    std::shared_ptr<ops::OpDef> definition_;
    std::string title_;
    std::vector<Row> rows_;
};

}  // namespace piton_project

#endif /* PITON_PROJECT_PLAN_H */
