/*
 * The torch binding of an operator project: what torch hands over becomes a call of the project's operator, and its plan a launch.
 *
 * Problem: a project has no binding of its own; the signature that it is called with is the suite's.
 * Approach: a boxed function under that signature. Tensors go to the inputs of the definition and other values to its attributes, in their order; a value goes
 * to the attribute of its name if there is one. Outputs, workspace and tiling data are allocated on the device. Limits: an output with the name of an input is
 * that input's memory. Tiling data and other copies count as host copies of the call.
 */
#ifndef PITON_PROJECT_BINDING_H
#define PITON_PROJECT_BINDING_H

#include <array>

#include "piton_torch.h"
#include "plan.h"
#include "vnpu/host_abi.h"

namespace piton_project {

using Entry = void (*)(uint32_t blocks, uint64_t key, uint64_t tiling_bytes, void *const *arguments);

/* What the build has generated for one operator. */
struct Generated {
    const char *name;
    std::vector<std::string> arguments; /* of the suite's signature */
    std::vector<Entry> entries;         /* by row; one for all rows if the kernel does not depend on them */
};

inline ge::DataType TypeOf(at::ScalarType type) {
    static const std::map<at::ScalarType, ge::DataType> types = {
        {at::kFloat, ge::DT_FLOAT}, {at::kHalf, ge::DT_FLOAT16}, {at::kBFloat16, ge::DT_BF16}, {at::kInt, ge::DT_INT32}, {at::kLong, ge::DT_INT64},
        {at::kShort, ge::DT_INT16}, {at::kChar, ge::DT_INT8},    {at::kByte, ge::DT_UINT8},    {at::kBool, ge::DT_BOOL}, {at::kDouble, ge::DT_DOUBLE},
    };
    const auto found = types.find(type);
    return found == types.end() ? ge::DT_UNDEFINED : found->second;
}

inline at::ScalarType TorchTypeOf(ge::DataType type) {
    for (const at::ScalarType candidate :
         {at::kFloat, at::kHalf, at::kBFloat16, at::kInt, at::kLong, at::kShort, at::kChar, at::kByte, at::kBool, at::kDouble}) {
        if (TypeOf(candidate) == type) {
            return candidate;
        }
    }
    throw std::runtime_error("an output of type " + NameOf(type) + " has no torch type");
}

class BoundCall {
public:
    BoundCall(const Operator &op, const Generated &generated) : op_(op), generated_(generated) { call_.type = op.Definition().type; }

    void Take(const std::vector<c10::IValue> &values) {
        std::vector<std::pair<std::string, c10::IValue>> others;
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (values[i].isTensor() || values[i].isTensorList() || (values[i].isNone() && IsInput(i))) {
                TakeTensors(values[i]);
            } else {
                others.emplace_back(generated_.arguments[i], values[i]);
            }
        }
        const std::size_t expected = op_.Definition().inputs.size();
        if (call_.inputs.size() != expected) {
            op_.Fail("its OpDef has " + std::to_string(expected) + " inputs, the operator is called with " + std::to_string(call_.inputs.size()));
        }
        TakeAttributes(others);
    }

    std::vector<at::Tensor> Run() {
        const std::size_t row = op_.RowOf(call_);
        op_.Infer(call_, row);
        std::vector<at::Tensor> outputs = Allocated();
        const Plan plan = op_.Tile(call_, row);
        Launch(plan, outputs);
        return outputs;
    }

private:
    bool IsInput(std::size_t index) const {
        const auto &inputs = op_.Definition().inputs;
        return std::any_of(inputs.begin(), inputs.end(), [&](const auto &item) { return Folded(item.name) == Folded(generated_.arguments[index]); }) ||
               call_.inputs.size() < inputs.size();
    }

    void TakeTensors(const c10::IValue &value) {
        call_.inputs.emplace_back();
        tensors_.emplace_back();
        std::vector<at::Tensor> given;
        if (value.isTensor()) {
            given.push_back(value.toTensor());
        } else if (value.isTensorList()) {
            given = value.toTensorVector();
        }
        for (const at::Tensor &tensor : given) {
            gert::Shape shape;
            for (const int64_t size : tensor.sizes()) {
                shape.AppendDim(size);
            }
            call_.inputs.back().emplace_back(shape, TypeOf(tensor.scalar_type()));
            call_.present.push_back(call_.inputs.back().back());
            tensors_.back().push_back(tensor);
        }
    }

    void TakeAttributes(const std::vector<std::pair<std::string, c10::IValue>> &others) {
        const auto &attributes = op_.Definition().attributes;
        std::vector<AttrValue> values;
        for (const auto &attribute : attributes) {
            values.push_back(attribute.value);
        }
        for (std::size_t i = 0; i < others.size(); ++i) {
            const auto named = std::find_if(attributes.begin(), attributes.end(), [&](const auto &item) { return item.name == others[i].first; });
            const std::size_t index = named == attributes.end() ? i : static_cast<std::size_t>(named - attributes.begin());
            if (index >= attributes.size()) {
                op_.Fail("its OpDef has " + std::to_string(attributes.size()) + " attributes, the operator is called with " + std::to_string(others.size()));
            }
            Set(values[index], others[i].first, others[i].second);
        }
        call_.attributes.Fill(std::move(values));
    }

    void Set(AttrValue &to, const std::string &name, const c10::IValue &value) const {
        if (value.isNone()) {
            return;
        }
        if (to.kind == AttrKind::kInt && value.isInt()) {
            to.whole = value.toInt();
        } else if (to.kind == AttrKind::kFloat && (value.isDouble() || value.isInt())) {
            to.real = value.isInt() ? static_cast<float>(value.toInt()) : static_cast<float>(value.toDouble());
        } else if (to.kind == AttrKind::kBool && value.isBool()) {
            to.truth = value.toBool();
        } else if (to.kind == AttrKind::kString && value.isString()) {
            to.text = value.toStringRef();
        } else if (to.kind == AttrKind::kListInt && value.isIntList()) {
            to.wholes = value.toIntVector();
        } else if (to.kind == AttrKind::kListFloat && value.isDoubleList()) {
            const auto reals = value.toDoubleVector();
            to.reals.assign(reals.begin(), reals.end());
        } else if (to.kind == AttrKind::kListBool && value.isBoolList()) {
            to.wholes.clear();
            for (const bool truth : value.toBoolList()) {
                to.wholes.push_back(truth);
            }
        } else {
            op_.Fail("attribute " + name + " is a " + value.tagKind() + ", its OpDef has " + piton_project::NameOf(to.kind));
        }
    }

    std::vector<at::Tensor> Allocated() const {
        std::vector<at::Tensor> outputs;
        const auto &definition = op_.Definition();
        for (std::size_t i = 0; i < call_.output_types.size(); ++i) {
            const auto same =
                std::find_if(definition.inputs.begin(), definition.inputs.end(), [&](const auto &item) { return item.name == definition.outputs[i].name; });
            if (same != definition.inputs.end()) {
                outputs.push_back(tensors_[static_cast<std::size_t>(same - definition.inputs.begin())].at(0));
                continue;
            }
            std::vector<int64_t> sizes;
            for (std::size_t d = 0; d < call_.output_shapes[i].GetDimNum(); ++d) {
                sizes.push_back(call_.output_shapes[i].GetDim(d));
            }
            outputs.push_back(at::empty(sizes, at::TensorOptions().device(c10::DeviceType::PrivateUse1).dtype(TorchTypeOf(call_.output_types[i]))));
        }
        return outputs;
    }

    static at::Tensor Bytes(std::size_t count) {
        return at::empty({static_cast<int64_t>(count)}, at::TensorOptions().device(c10::DeviceType::PrivateUse1).dtype(at::kByte));
    }

    void Launch(const Plan &plan, const std::vector<at::Tensor> &outputs) const {
        std::vector<void *> arguments;
        for (std::size_t i = 0; i < tensors_.size(); ++i) {
            if (tensors_[i].size() > 1 || op_.Definition().inputs[i].kind == ops::DYNAMIC) {
                op_.Fail("input " + op_.Definition().inputs[i].name + " is a list of tensors, which is not supported yet");
            }
            arguments.push_back(tensors_[i].empty() ? nullptr : tensors_[i][0].data_ptr());
        }
        for (const at::Tensor &output : outputs) {
            arguments.push_back(output.data_ptr());
        }
        const at::Tensor workspace = Bytes(plan.workspace_bytes), tiling = Bytes(plan.tiling.size());
        if (!plan.tiling.empty()) {
            tiling.copy_(at::from_blob(const_cast<unsigned char *>(plan.tiling.data()), {static_cast<int64_t>(plan.tiling.size())}, at::kByte));
        }
        arguments.push_back(plan.workspace_bytes == 0 ? nullptr : workspace.data_ptr());
        arguments.push_back(plan.tiling.empty() ? nullptr : tiling.data_ptr());
        const std::size_t entry = generated_.entries.size() == 1 ? 0 : plan.row;
        generated_.entries.at(entry)(plan.blocks, plan.key, plan.tiling.size(), arguments.data());
    }

    const Operator &op_;
    const Generated &generated_;
    Call call_;
    std::vector<std::vector<at::Tensor>> tensors_;
};

inline void RunBoxed(const Generated &generated, torch::jit::Stack *stack) {
    Registry::Get().last_error.clear();
    const std::size_t count = generated.arguments.size();
    const std::vector<c10::IValue> values(stack->end() - static_cast<std::ptrdiff_t>(count), stack->end());
    torch::jit::drop(*stack, count);
    const Operator op(generated.name);
    BoundCall call(op, generated);
    call.Take(values);
    for (at::Tensor &output : call.Run()) {
        torch::jit::push(*stack, std::move(output));
    }
}

}  // namespace piton_project

#endif /* PITON_PROJECT_BINDING_H */
