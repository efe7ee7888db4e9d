/*
 * Numbers of element types and formats as macros, as a kernel of an operator project finds them.
 *
 * Problem: kernels compare DTYPE and FORMAT macros in `#if`, where enumerators mean nothing; the vendor's build defines these names for each kernel.
 * Approach: the numbers of ge::DataType and ge::Format (types.h), which host code has as enumerators.
 * Limits: for kernels only, since host code has the same names as enumerators.
 */
#ifndef PITON_PROJECT_KERNEL_NUMBERS_H
#define PITON_PROJECT_KERNEL_NUMBERS_H

#define DT_FLOAT 0
#define DT_FLOAT16 1
#define DT_INT8 2
#define DT_INT32 3
#define DT_UINT8 4
#define DT_INT16 6
#define DT_UINT16 7
#define DT_UINT32 8
#define DT_INT64 9
#define DT_UINT64 10
#define DT_DOUBLE 11
#define DT_BOOL 12
#define DT_STRING 13
#define DT_COMPLEX64 16
#define DT_COMPLEX128 17
#define DT_BF16 27
#define DT_UNDEFINED 28
#define DT_INT4 29
#define DT_UINT1 30
#define DT_INT2 31
#define DT_UINT2 32
#define DT_COMPLEX32 33
#define DT_HIFLOAT8 34
#define DT_FLOAT8_E5M2 35
#define DT_FLOAT8_E4M3FN 36
#define DT_FLOAT8_E8M0 37
#define DT_FLOAT4_E2M1 40
#define DT_FLOAT4_E1M2 41

#define FORMAT_NCHW 0
#define FORMAT_NHWC 1
#define FORMAT_ND 2
#define FORMAT_NC1HWC0 3
#define FORMAT_FRACTAL_Z 4
#define FORMAT_NC1C0HWPAD 5
#define FORMAT_NHWC1C0 6
#define FORMAT_FSR_NCHW 7
#define FORMAT_FRACTAL_DECONV 8
#define FORMAT_C1HWNC0 9
#define FORMAT_NC1HWC0_C04 12
#define FORMAT_FRACTAL_Z_C04 13
#define FORMAT_CHWN 14
#define FORMAT_HWCN 16
#define FORMAT_C1HWNCoC0 25
#define FORMAT_MD 26
#define FORMAT_NDHWC 27
#define FORMAT_FRACTAL_ZZ 28
#define FORMAT_FRACTAL_NZ 29
#define FORMAT_NCDHW 30
#define FORMAT_DHWCN 31
#define FORMAT_NDC1HWC0 32
#define FORMAT_FRACTAL_Z_3D 33
#define FORMAT_CN 34
#define FORMAT_NC 35
#define FORMAT_DHWNC 36
#define FORMAT_NCL 47
#define FORMAT_FRACTAL_NZ_C0_16 50
#define FORMAT_FRACTAL_NZ_C0_32 51
#define FORMAT_FRACTAL_NZ_C0_2 52
#define FORMAT_FRACTAL_NZ_C0_4 53
#define FORMAT_FRACTAL_NZ_C0_8 54

#endif /* PITON_PROJECT_KERNEL_NUMBERS_H */
