/*
 * One call of an operator project's operator, and what every context answers about it.
 *
 * Problem: on the chip's host the contexts are views into the graph engine's memory; tensors are counted by parameter of the definition and by instance, since
 * a parameter may be a list or left out.
 * Approach: the call is plain data by parameter; the contexts view it with the vendor's names and count instances from it.
 * Limits: a tensor has values on the host only if the definition says that they are read there.
 */
#ifndef PITON_PROJECT_CALL_H
#define PITON_PROJECT_CALL_H

#include "attributes.h"
#include "platform/platform_resources.h"
#include "tensors.h"
#include "tiling_data.h"

namespace piton_project {

struct Call {
    std::string type;                              /* of the operator, such as AddCustom */
    std::vector<std::vector<gert::Tensor>> inputs; /* by parameter: none for an optional one that is left out, several for a list */
    std::vector<gert::Tensor> present;             /* the same, one after another */
    std::vector<std::size_t> output_counts;        /* by parameter */
    std::vector<gert::Shape> output_shapes;        /* of all of them, one after another */
    std::vector<ge::DataType> output_types;
    std::vector<ge::Format> output_formats;
    gert::RuntimeAttrs attributes;
    fe::PlatFormInfos platform;
};

class Context {
public:
    explicit Context(Call &call) : call_(call) {
        for (const gert::Tensor &tensor : call.present) {
            input_descs_.emplace_back(tensor.GetDataType(), tensor.GetOriginFormat());
        }
        for (std::size_t i = 0; i < call.output_types.size(); ++i) {
            output_descs_.emplace_back(call.output_types[i], i < call.output_formats.size() ? call.output_formats[i] : ge::FORMAT_ND);
        }
        std::size_t start = 0;
        for (const auto &tensors : call.inputs) {
            input_places_.emplace_back(start, tensors.size());
            start += tensors.size();
        }
        start = 0;
        for (const std::size_t count : call.output_counts) {
            output_places_.emplace_back(start, count);
            start += count;
        }
    }

    const char *GetNodeName() const { return call_.type.c_str(); }
    const char *GetNodeType() const { return call_.type.c_str(); }
    const gert::RuntimeAttrs *GetAttrs() const { return &call_.attributes; }
    const Context *GetComputeNodeInfo() const { return this; }
    std::size_t GetInputsNum() const { return call_.present.size(); }
    std::size_t GetOutputsNum() const { return call_.output_types.size(); }
    std::size_t GetComputeNodeInputNum() const { return GetInputsNum(); }
    std::size_t GetComputeNodeOutputNum() const { return GetOutputsNum(); }
    std::size_t GetIrInputsNum() const { return call_.inputs.size(); }
    std::size_t GetIrOutputsNum() const { return call_.output_counts.size(); }
    /* Atomic additions of the engine happen in one order, so that every kernel is deterministic without being asked. */
    int32_t GetDeterministic() const { return 0; }
    int32_t GetDeterministicLevel() const { return 0; }

    /* By parameter: which instances it has. */
    const gert::AnchorInstanceInfo *GetInputInstanceInfo(std::size_t index) const { return At(input_places_, index); }
    const gert::AnchorInstanceInfo *GetIrInputInstanceInfo(std::size_t index) const { return At(input_places_, index); }
    const gert::AnchorInstanceInfo *GetOutputInstanceInfo(std::size_t index) const { return At(output_places_, index); }
    const gert::AnchorInstanceInfo *GetIrOutputInstanceInfo(std::size_t index) const { return At(output_places_, index); }

    /* The plain names count instances; those with Optional, Required and Dynamic count parameters. */
    const gert::Tensor *GetInputTensor(std::size_t index) const { return At(call_.present, index); }
    const gert::Tensor *GetOptionalInputTensor(std::size_t index) const { return Slot(index, 0); }
    const gert::Tensor *GetRequiredInputTensor(std::size_t index) const { return Slot(index, 0); }
    const gert::Tensor *GetDynamicInputTensor(std::size_t index, std::size_t relative) const { return Slot(index, relative); }
    const gert::CompileTimeTensorDesc *GetInputDesc(std::size_t index) const { return At(input_descs_, index); }
    const gert::CompileTimeTensorDesc *GetOptionalInputDesc(std::size_t index) const { return At(input_descs_, Present(index, 0)); }
    const gert::CompileTimeTensorDesc *GetRequiredInputDesc(std::size_t index) const { return At(input_descs_, Present(index, 0)); }
    const gert::CompileTimeTensorDesc *GetDynamicInputDesc(std::size_t index, std::size_t relative) const { return At(input_descs_, Present(index, relative)); }
    const gert::CompileTimeTensorDesc *GetOutputDesc(std::size_t index) const { return At(output_descs_, index); }
    const gert::CompileTimeTensorDesc *GetInputTdInfo(std::size_t index) const { return GetInputDesc(index); }
    const gert::CompileTimeTensorDesc *GetOutputTdInfo(std::size_t index) const { return GetOutputDesc(index); }

protected:
    template <typename T>
    static const T *At(const std::vector<T> &values, std::size_t index) {
        return index < values.size() ? &values[index] : nullptr;
    }
    const gert::Tensor *Slot(std::size_t index, std::size_t relative) const {
        return index < call_.inputs.size() ? At(call_.inputs[index], relative) : nullptr;
    }
    /* Which instance that tensor of a parameter is; a number that none has if it is not there. */
    std::size_t Present(std::size_t index, std::size_t relative) const {
        return Slot(index, relative) == nullptr ? call_.present.size() : input_places_[index].GetInstanceStart() + relative;
    }

    Call &call_;

private:
    std::vector<gert::CompileTimeTensorDesc> input_descs_, output_descs_;
    std::vector<gert::AnchorInstanceInfo> input_places_, output_places_;
};

}  // namespace piton_project

namespace gert {

using ComputeNodeInfo = piton_project::Context;
using ExtendedKernelContext = piton_project::Context;

}  // namespace gert

#endif /* PITON_PROJECT_CALL_H */
