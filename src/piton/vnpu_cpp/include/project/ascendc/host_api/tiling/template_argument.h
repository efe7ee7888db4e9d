/*
 * ASCENDC_TPL_*: tiling keys as template arguments.
 *
 * Problem: one header, included by the tiling function and by the kernel, lists the template parameters of the kernel and the combinations to compile.
 * Approach: for host code the list becomes a table; a tiling key is the place of a combination in it. The build reads the table and writes one call of the
 * kernel per combination. For kernels the macros say nothing.
 * Limits: keys are not the numbers that the vendor's encoding gives. Kernel types, determinism and structures per combination are read over. One table per
 * source file.
 */
#ifndef PITON_PROJECT_TEMPLATE_ARGUMENT_H
#define PITON_PROJECT_TEMPLATE_ARGUMENT_H

#define C_DT_FLOAT 0
#define C_DT_FLOAT16 1
#define C_DT_INT8 2
#define C_DT_INT32 3
#define C_DT_UINT8 4
#define C_DT_INT16 6
#define C_DT_UINT16 7
#define C_DT_UINT32 8
#define C_DT_INT64 9
#define C_DT_UINT64 10
#define C_DT_DOUBLE 11
#define C_DT_BOOL 12
#define C_DT_BF16 27
#define C_DT_INT4 29
#define C_FORMAT_NCHW 0
#define C_FORMAT_NHWC 1
#define C_FORMAT_ND 2
#define C_FORMAT_FRACTAL_NZ 29

#define ASCENDC_TPL_1_BW 1
#define ASCENDC_TPL_2_BW 2
#define ASCENDC_TPL_4_BW 4
#define ASCENDC_TPL_8_BW 8
#define ASCENDC_TPL_UI_RANGE 0
#define ASCENDC_TPL_UI_LIST 1
#define ASCENDC_TPL_UI_MIX 2

#if defined(PITON_PROJECT_HOST)

#include "piton_project/templates.h"

#define ASCENDC_TPL_INPUT(index) ::piton_project::kTemplateTensor
#define ASCENDC_TPL_OUTPUT(index) ::piton_project::kTemplateTensor
#define ASCENDC_TPL_DATATYPE_DECL(name, ...) ::piton_project::TypeParameter(#name, {__VA_ARGS__})
#define ASCENDC_TPL_DATATYPE_SEL(name, ...) ::piton_project::TypeParameter(#name, {__VA_ARGS__})
#define ASCENDC_TPL_DTYPE_DECL(name, ...) ::piton_project::ListParameter(#name, {__VA_ARGS__})
#define ASCENDC_TPL_DTYPE_SEL(name, ...) ::piton_project::ListParameter(#name, {__VA_ARGS__})
#define ASCENDC_TPL_FORMAT_DECL(name, ...) ::piton_project::ListParameter(#name, {__VA_ARGS__})
#define ASCENDC_TPL_FORMAT_SEL(name, ...) ::piton_project::ListParameter(#name, {__VA_ARGS__})
#define ASCENDC_TPL_BOOL_DECL(name, ...) ::piton_project::ListParameter(#name, {__VA_ARGS__})
#define ASCENDC_TPL_BOOL_SEL(name, ...) ::piton_project::ListParameter(#name, {__VA_ARGS__})
#define ASCENDC_TPL_UINT_DECL(name, bits, ...) ::piton_project::NumberParameter(#name, {__VA_ARGS__})
#define ASCENDC_TPL_UINT_SEL(name, ...) ::piton_project::NumberParameter(#name, {__VA_ARGS__})
#define ASCENDC_TPL_KERNEL_TYPE_DECL(...) ::piton_project::IgnoredParameter()
#define ASCENDC_TPL_KERNEL_TYPE_SEL(...) ::piton_project::IgnoredParameter()
#define ASCENDC_TPL_SHARED_KERNEL_TYPE_SEL(...) ::piton_project::IgnoredParameter()
#define ASCENDC_TPL_DETERMINISTIC_SEL(...) ::piton_project::IgnoredParameter()
#define ASCENDC_TPL_TILING_STRUCT_SEL(...) ::piton_project::IgnoredParameter()

#define ASCENDC_TPL_ARGS_DECL(op, ...) static const ::piton_project::TemplateDeclaration piton_template_declaration(#op, {__VA_ARGS__})
#define ASCENDC_TPL_ARGS_SEL(...) \
    ::std::vector<::piton_project::TemplateParameter> { __VA_ARGS__ }
#define ASCENDC_TPL_SEL(...) \
    [[maybe_unused]] static const ::piton_project::TemplateSelection piton_template_selection(piton_template_declaration, {__VA_ARGS__})

#define GET_TPL_TILING_KEY(...) (piton_template_selection.Key({__VA_ARGS__}))
#define ASCENDC_TPL_SEL_PARAM(context, ...) (context)->SetTilingKey(piton_template_selection.KeyOf(__VA_ARGS__))

#else

#define ASCENDC_TPL_ARGS_DECL(...) static_assert(true, "")
#define ASCENDC_TPL_SEL(...) static_assert(true, "")

#endif

#endif /* PITON_PROJECT_TEMPLATE_ARGUMENT_H */
