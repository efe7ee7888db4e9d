/*
 * ASCENDC_TPL_*: tiling keys as template arguments.
 *
 * Problem: one header, included by the tiling function and by the kernel, lists the template parameters of the kernel and the combinations to compile.
 * Approach: for host code the list becomes a table; a tiling key is the place of a combination in it. The build reads the table and writes one call of the
 * kernel per combination. For kernels the macros say nothing.
 * Limits: keys are not the numbers that the vendor's encoding gives. Determinism and structures per combination are read over. One table per source file.
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
#define C_DT_COMPLEX64 16
#define C_DT_COMPLEX128 17
#define C_DT_BF16 27
#define C_DT_INT4 29
#define C_DT_UINT1 30
#define C_DT_INT2 31
#define C_DT_UINT2 32
#define C_DT_COMPLEX32 33
#define C_DT_HIFLOAT8 34
#define C_DT_FLOAT8_E5M2 35
#define C_DT_FLOAT8_E4M3FN 36
#define C_DT_FLOAT8_E8M0 37
#define C_DT_FLOAT4_E2M1 40
#define C_DT_FLOAT4_E1M2 41
#define C_FORMAT_NCHW 0
#define C_FORMAT_NHWC 1
#define C_FORMAT_ND 2
#define C_FORMAT_NC1HWC0 3
#define C_FORMAT_FRACTAL_Z 4
#define C_FORMAT_NC1C0HWPAD 5
#define C_FORMAT_NHWC1C0 6
#define C_FORMAT_FSR_NCHW 7
#define C_FORMAT_FRACTAL_DECONV 8
#define C_FORMAT_C1HWNC0 9
#define C_FORMAT_NC1HWC0_C04 12
#define C_FORMAT_FRACTAL_Z_C04 13
#define C_FORMAT_CHWN 14
#define C_FORMAT_HWCN 16
#define C_FORMAT_C1HWNCoC0 25
#define C_FORMAT_MD 26
#define C_FORMAT_NDHWC 27
#define C_FORMAT_FRACTAL_ZZ 28
#define C_FORMAT_FRACTAL_NZ 29
#define C_FORMAT_NCDHW 30
#define C_FORMAT_DHWCN 31
#define C_FORMAT_NDC1HWC0 32
#define C_FORMAT_FRACTAL_Z_3D 33
#define C_FORMAT_CN 34
#define C_FORMAT_NC 35
#define C_FORMAT_DHWNC 36
#define C_FORMAT_NCL 47
#define C_FORMAT_FRACTAL_NZ_C0_16 50
#define C_FORMAT_FRACTAL_NZ_C0_32 51
#define C_FORMAT_FRACTAL_NZ_C0_2 52
#define C_FORMAT_FRACTAL_NZ_C0_4 53
#define C_FORMAT_FRACTAL_NZ_C0_8 54

#define ASCENDC_TPL_1_BW 1
#define ASCENDC_TPL_2_BW 2
#define ASCENDC_TPL_4_BW 4
#define ASCENDC_TPL_8_BW 8
#define ASCENDC_TPL_UI_RANGE 0
#define ASCENDC_TPL_UI_LIST 1
#define ASCENDC_TPL_UI_MIX 2

/* As KernelMetaType numbers them. */
#define ASCENDC_TPL_AIV_ONLY 0
#define ASCENDC_TPL_AIC_ONLY 1
#define ASCENDC_TPL_MIX_AIV_1_0 2
#define ASCENDC_TPL_MIX_AIC_1_0 3
#define ASCENDC_TPL_MIX_AIC_1_1 4
#define ASCENDC_TPL_MIX_AIC_1_2 5
#define ASCENDC_TPL_AICORE 6
#define ASCENDC_TPL_VECTORCORE 7
#define ASCENDC_TPL_MIX_AICORE 8
#define ASCENDC_TPL_MIX_VECTOR_CORE 9

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
#define ASCENDC_TPL_KERNEL_TYPE_DECL(name, ...) ::piton_project::KernelTypeParameter(#name, {__VA_ARGS__})
#define ASCENDC_TPL_KERNEL_TYPE_SEL(...) ::piton_project::KernelTypeParameter("", {__VA_ARGS__})
#define ASCENDC_TPL_SHARED_KERNEL_TYPE_SEL(name, ...) ::piton_project::KernelTypeParameter(#name, {__VA_ARGS__})
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
