/*
 * The torch binding of an operator project: what torch hands over becomes a call of the project's operator, and its plan a launch.
 *
 * Problem: a project has no binding of its own; the signature that it is called with is the suite's.
 * Approach: a boxed function under that signature. The build has said which argument each input and attribute of the definition takes, and which output each
 * result is. Outputs, workspace and tiling data are allocated on the device; a list of tensors becomes a table of them there (arguments.h).
 * Limits: an output with the name of an input is that input's memory. Tiling data and other copies count as host copies of the call.
 */
#ifndef PITON_PROJECT_BINDING_H
#define PITON_PROJECT_BINDING_H

#include "arguments.h"
#include "plan.h"
#include "vnpu/host_abi.h"

namespace piton_project {

using Entry = void (*)(uint32_t blocks, uint64_t key, uint64_t tiling_bytes, void *const *arguments);
using Fill = void (*)(uint64_t bytes, uint64_t pattern, void *to); /* null if no output has an initial value */

constexpr int kNone = -1;

/* An argument of the suite's signature. */
struct Argument {
    std::string name;
    bool is_type; /* of elements, which torch counts in its own way */
};

/* What the build has generated for one operator. */
struct Generated {
    const char *name;
    std::vector<Argument> arguments;
    std::vector<int> inputs;     /* by input of the definition: its argument, or kNone */
    std::vector<int> attributes; /* the same */
    std::vector<int> results;    /* by result of the signature: its output in the definition */
    Fill fill;
    std::vector<Entry> entries; /* by row; one for all rows if the kernel does not depend on them */
};

class BoundCall {
public:
    BoundCall(const Operator &op, const Generated &generated) : op_(op), generated_(generated) { call_.type = op.Definition().type; }

    void Take(const std::vector<c10::IValue> &values) {
        TakeAttributes(values);
        const auto &inputs = op_.Definition().inputs;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            tensors_.push_back(generated_.inputs[i] == kNone ? std::vector<at::Tensor>() : Given(values[static_cast<std::size_t>(generated_.inputs[i])], i));
            if (tensors_.back().empty() && inputs[i].kind != ops::OPTIONAL) {
                op_.Fail("input " + inputs[i].name + " is left out, its OpDef does not say OPTIONAL");
            }
            call_.inputs.emplace_back();
            for (const at::Tensor &tensor : tensors_.back()) {
                call_.inputs.back().push_back(Described(tensor, i));
            }
        }
    }

    /* The results of the signature. */
    std::vector<c10::IValue> Run() {
        std::size_t row = op_.RowOf(call_);
        PlaceNumbers(row);
        op_.Settle(call_, row);
        row = op_.Infer(call_, row);
        std::vector<std::vector<at::Tensor>> outputs = Allocated();
        Launch(op_.Tile(call_, row), outputs);
        std::vector<c10::IValue> results;
        for (const int index : generated_.results) {
            const auto &found = outputs[static_cast<std::size_t>(index)];
            const bool is_list = op_.Definition().outputs[static_cast<std::size_t>(index)].kind == ops::DYNAMIC;
            results.push_back(is_list ? c10::IValue(found) : c10::IValue(found[0]));
        }
        return results;
    }

private:
    /* The tensors of one input; numbers stay on the host until the row says which type they have. */
    std::vector<at::Tensor> Given(const c10::IValue &value, std::size_t input) const {
        if (value.isNone() || (value.isTensor() && !value.toTensor().defined())) {
            return {};
        }
        if (value.isTensor()) {
            return {value.toTensor()};
        }
        if (value.isTensorList()) {
            return value.toTensorVector();
        }
        const at::Tensor numbers = Numbers(value);
        if (!numbers.defined()) {
            op_.Fail("input " + op_.Definition().inputs[input].name + " is a " + value.tagKind() + ", expected a tensor, a number or a list of numbers");
        }
        return {numbers};
    }

    gert::Tensor Described(const at::Tensor &tensor, std::size_t input) const {
        gert::Shape shape;
        for (const int64_t size : tensor.sizes()) {
            shape.AppendDim(size);
        }
        const ge::DataType type = tensor.is_cpu() ? ge::DT_UNDEFINED : TypeOf(tensor.scalar_type());
        if (!tensor.is_cpu() && type == ge::DT_UNDEFINED) { /* which is what fits every row */
            op_.Fail("input " + op_.Definition().inputs[input].name + " has elements of " + c10::toString(tensor.scalar_type()) +
                     ", which the chip does not have");
        }
        gert::Tensor described(shape, type);
        if (!tensor.is_cpu() && op_.Reads(input)) {
            described.SetValues(BytesOf(tensor.cpu()));
        }
        return described;
    }

    void PlaceNumbers(std::size_t row) {
        for (std::size_t i = 0; i < tensors_.size(); ++i) {
            for (std::size_t j = 0; j < tensors_[i].size(); ++j) {
                if (!tensors_[i][j].is_cpu()) {
                    continue;
                }
                const at::Tensor host = tensors_[i][j].to(TorchTypeOf(op_.TypeOf(row, i)));
                call_.inputs[i][j].SetDataType(op_.TypeOf(row, i));
                call_.inputs[i][j].SetValues(BytesOf(host));
                tensors_[i][j] = OnDevice(host);
            }
        }
    }

    void TakeAttributes(const std::vector<c10::IValue> &given) {
        const auto &attributes = op_.Definition().attributes;
        std::vector<AttrValue> values;
        for (std::size_t i = 0; i < attributes.size(); ++i) {
            values.push_back(attributes[i].value);
            const auto argument = static_cast<std::size_t>(generated_.attributes[i]);
            if (generated_.attributes[i] == kNone || given[argument].isNone()) {
                op_.RequireDefault(i);
            } else {
                Set(values.back(), generated_.arguments[argument], given[argument]);
            }
        }
        call_.attributes.Fill(std::move(values));
    }

    void Set(AttrValue &to, const Argument &argument, const c10::IValue &value) const {
        if (to.kind == AttrKind::kInt && value.isInt()) {
            to.whole = argument.is_type ? static_cast<int64_t>(TypeOf(static_cast<at::ScalarType>(value.toInt()))) : value.toInt();
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
            const auto truths = value.toBoolList();
            to.truths.assign(truths.begin(), truths.end());
        } else {
            op_.Fail("attribute " + argument.name + " is a " + value.tagKind() + ", its OpDef has " + piton_project::NameOf(to.kind));
        }
    }

    /* By output of the definition. */
    std::vector<std::vector<at::Tensor>> Allocated() const {
        const auto &definition = op_.Definition();
        std::vector<std::vector<at::Tensor>> outputs;
        std::size_t place = 0;
        for (std::size_t i = 0; i < call_.output_counts.size(); ++i) {
            const auto same =
                std::find_if(definition.inputs.begin(), definition.inputs.end(), [&](const auto &item) { return item.name == definition.outputs[i].name; });
            outputs.emplace_back();
            for (std::size_t j = 0; j < call_.output_counts[i]; ++j, ++place) {
                outputs.back().push_back(same == definition.inputs.end() ? Empty(definition.outputs[i], place)
                                                                         : tensors_[static_cast<std::size_t>(same - definition.inputs.begin())].at(j));
            }
        }
        return outputs;
    }

    at::Tensor Empty(const ops::OpParamDef &output, std::size_t place) const {
        std::vector<int64_t> sizes;
        for (std::size_t d = 0; d < call_.output_shapes[place].GetDimNum(); ++d) {
            sizes.push_back(call_.output_shapes[place].GetDim(d));
            if (sizes.back() < 0) {
                op_.Fail("its InferShape function leaves dimension " + std::to_string(d) + " of output " + output.name + " at " + std::to_string(sizes.back()));
            }
        }
        const at::ScalarType type = TorchTypeOf(call_.output_types[place]);
        const at::Tensor made = at::empty(sizes, at::TensorOptions().device(c10::DeviceType::PrivateUse1).dtype(type));
        if (output.has_initial && made.numel() != 0) {
            generated_.fill(made.nbytes(), Pattern(output, type), made.data_ptr());
        }
        return made;
    }

    /* The initial value of an output, repeated up to 32 bits. */
    uint64_t Pattern(const ops::OpParamDef &output, at::ScalarType type) const {
        const at::Tensor value = at::full({4}, output.initial, at::TensorOptions().dtype(type));
        if (value.element_size() > 4 && output.initial != 0) {
            op_.Fail("InitValue of output " + output.name + " is " + std::to_string(output.initial) + "; in elements of eight bytes only 0 is possible");
        }
        uint32_t pattern = 0;
        std::memcpy(&pattern, value.const_data_ptr(), sizeof pattern);
        return pattern;
    }

    void Launch(const Plan &plan, const std::vector<std::vector<at::Tensor>> &outputs) const {
        Arguments arguments;
        for (std::size_t i = 0; i < tensors_.size(); ++i) {
            arguments.Add(op_.Definition().inputs[i], tensors_[i]);
        }
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            arguments.Add(op_.Definition().outputs[i], outputs[i]);
        }
        arguments.AddBytes(plan.workspace_bytes);
        arguments.AddBytes(plan.tiling);
        const std::size_t entry = generated_.entries.size() == 1 ? 0 : plan.row;
        generated_.entries.at(entry)(plan.blocks, plan.key, plan.tiling.size(), arguments.Addresses().data());
    }

    const Operator &op_;
    const Generated &generated_;
    Call call_;
    std::vector<std::vector<at::Tensor>> tensors_; /* by input of the definition */
};

inline void RunBoxed(const Generated &generated, torch::jit::Stack *stack) {
    Registry::Get().last_error.clear();
    const std::size_t count = generated.arguments.size();
    const std::vector<c10::IValue> values(stack->end() - static_cast<std::ptrdiff_t>(count), stack->end());
    torch::jit::drop(*stack, count);
    const Operator op(generated.name);
    BoundCall call(op, generated);
    call.Take(values);
    for (c10::IValue &result : call.Run()) {
        stack->push_back(std::move(result));
    }
}

}  // namespace piton_project

#endif /* PITON_PROJECT_BINDING_H */
