/*
 * The combinations of element types that a definition allows, and which one a call has.
 *
 * Problem: DataType lists of all parameters are read side by side, DataTypeList ones multiply, Follow takes another parameter's type; a chip's configuration
 * may replace some. Formats stand beside the types. The kernel is compiled once per combination. Approach: the rows are written out once, inputs before
 * outputs, without repetitions; build and call take them in the same order. Limits: kMaxRows.
 */
#ifndef PITON_PROJECT_ROWS_H
#define PITON_PROJECT_ROWS_H

#include <algorithm>

#include "registry.h"

namespace piton_project {

/* Of inputs and then outputs. */
struct Row {
    std::vector<ge::DataType> types;
    std::vector<ge::Format> formats;
};
constexpr std::size_t kMaxRows = 64;

/* Inputs and then outputs, as they are on the chip that is simulated. */
inline std::vector<ops::OpParamDef> Parameters(const ops::OpDef &definition) {
    std::vector<ops::OpParamDef> found;
    const auto add = [&found](const auto &general, const auto &own) {
        for (const ops::OpParamDef &parameter : general) {
            const auto replaced = std::find_if(own.begin(), own.end(), [&](const ops::OpParamDef &item) { return item.name == parameter.name; });
            found.push_back(replaced == own.end() ? parameter : *replaced);
        }
    };
    add(definition.inputs, definition.core.own.inputs);
    add(definition.outputs, definition.core.own.outputs);
    return found;
}

/* A layout whose bytes are those of a dense tensor; the others are tiles. */
inline bool IsDense(ge::Format format) {
    constexpr ge::Format kDense[] = {ge::FORMAT_ND,    ge::FORMAT_NCHW,  ge::FORMAT_NHWC,  ge::FORMAT_CHWN, ge::FORMAT_HWCN, ge::FORMAT_NDHWC,
                                     ge::FORMAT_NCDHW, ge::FORMAT_DHWCN, ge::FORMAT_DHWNC, ge::FORMAT_CN,   ge::FORMAT_NC,   ge::FORMAT_NCL};
    return std::find(std::begin(kDense), std::end(kDense), format) != std::end(kDense);
}

inline bool IsDense(const Row &row) {
    return std::all_of(row.formats.begin(), row.formats.end(), [](ge::Format format) { return IsDense(format); });
}

/* Rows with every type of the free parameter `index`. */
inline std::vector<Row> Multiplied(const std::vector<Row> &rows, std::size_t index, const std::vector<ge::DataType> &types) {
    std::vector<Row> found;
    for (const Row &row : rows) {
        for (const ge::DataType type : types) {
            found.push_back(row);
            found.back().types[index] = type;
        }
    }
    return found;
}

inline void Follow(const std::vector<ops::OpParamDef> &parameters, Row &row) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        for (std::size_t j = 0; j < parameters.size() && !parameters[i].follows.empty(); ++j) {
            if (parameters[j].name == parameters[i].follows) {
                row.types[i] = row.types[j];
                break; /* the input, where an output has the same name */
            }
        }
    }
}

/* The n-th entries of all lists side by side; a list of one format is meant for every row. */
inline Row Beside(const std::vector<ops::OpParamDef> &parameters, std::size_t n) {
    Row row;
    for (const auto &parameter : parameters) {
        row.types.push_back(!parameter.is_free && n < parameter.types.size() ? parameter.types[n] : ge::DT_UNDEFINED);
        const auto &formats = parameter.formats;
        const auto dense = std::find_if(formats.begin(), formats.end(), [](ge::Format format) { return IsDense(format); });
        row.formats.push_back(n < formats.size() && formats.size() == parameter.types.size() ? formats[n] : dense != formats.end() ? *dense : ge::FORMAT_ND);
    }
    return row;
}

/* Adds a row; of those with equal types the first dense one stays, since a call brings dense tensors. */
inline void Collect(std::vector<Row> &rows, const Row &row) {
    const auto same = std::find_if(rows.begin(), rows.end(), [&](const Row &item) { return item.types == row.types; });
    if (same == rows.end()) {
        rows.push_back(row);
    } else if (!IsDense(*same) && IsDense(row)) {
        *same = row;
    }
}

inline std::vector<Row> Rows(const ops::OpDef &definition) {
    const std::vector<ops::OpParamDef> parameters = Parameters(definition);
    std::size_t count = 1;
    for (const auto &parameter : parameters) {
        count = parameter.is_free ? count : std::max(count, parameter.types.size());
    }
    std::vector<Row> rows;
    for (std::size_t n = 0; n < count; ++n) {
        rows.push_back(Beside(parameters, n));
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        rows = parameters[i].is_free ? Multiplied(rows, i, parameters[i].types) : rows;
    }
    std::vector<Row> distinct;
    for (Row &row : rows) {
        Follow(parameters, row);
        Collect(distinct, row);
    }
    distinct.resize(std::min(distinct.size(), kMaxRows));
    return distinct;
}

inline std::string NameOf(ge::DataType type) {
    static const std::map<ge::DataType, std::string> names = {
        {ge::DT_FLOAT, "DT_FLOAT"},
        {ge::DT_FLOAT16, "DT_FLOAT16"},
        {ge::DT_INT8, "DT_INT8"},
        {ge::DT_INT32, "DT_INT32"},
        {ge::DT_UINT8, "DT_UINT8"},
        {ge::DT_INT16, "DT_INT16"},
        {ge::DT_UINT16, "DT_UINT16"},
        {ge::DT_UINT32, "DT_UINT32"},
        {ge::DT_INT64, "DT_INT64"},
        {ge::DT_UINT64, "DT_UINT64"},
        {ge::DT_DOUBLE, "DT_DOUBLE"},
        {ge::DT_BOOL, "DT_BOOL"},
        {ge::DT_BF16, "DT_BF16"},
        {ge::DT_INT4, "DT_INT4"},
        {ge::DT_COMPLEX64, "DT_COMPLEX64"},
        {ge::DT_COMPLEX32, "DT_COMPLEX32"},
        {ge::DT_COMPLEX128, "DT_COMPLEX128"},
        {ge::DT_UNDEFINED, "DT_UNDEFINED"},
    };
    const auto found = names.find(type);
    return found == names.end() ? "DT_" + std::to_string(static_cast<int>(type)) : found->second;
}

/* Does a call with these inputs fit the row? What is left out fits, and so does what has no type yet: a number of the call. */
inline bool Fits(const Row &row, const std::vector<std::vector<gert::Tensor>> &inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        for (const gert::Tensor &tensor : inputs[i]) {
            if (tensor.GetDataType() != row.types[i] && tensor.GetDataType() != ge::DT_UNDEFINED) {
                return false;
            }
        }
    }
    return true;
}

/* Do outputs with these types, `counts` of each parameter one after another, fit the row? What the row gives no type may have any. */
inline bool FitsOutputs(const Row &row, std::size_t inputs, const std::vector<std::size_t> &counts, const std::vector<ge::DataType> &types) {
    std::size_t place = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        for (std::size_t j = 0; j < counts[i]; ++j, ++place) {
            if (row.types[inputs + i] != types[place] && row.types[inputs + i] != ge::DT_UNDEFINED) {
                return false;
            }
        }
    }
    return true;
}

}  // namespace piton_project

#endif /* PITON_PROJECT_ROWS_H */
