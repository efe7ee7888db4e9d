/*
 * What a program asks of the Matmul tiling classes, in the vendor's names.
 *
 * Problem: host code describes matrices, shapes, limits and wishes by many calls before it asks for a tiling.
 * Approach: one structure per question; -1 and 0 mean "not said" as on the vendor's pages.
 * Limits: microscaling, sparse and weight-decompression settings are accepted and change nothing (they are not for the 910B).
 */
#ifndef PITON_MATMUL_REQUEST_H
#define PITON_MATMUL_REQUEST_H

#include <cstdint>

namespace matmul_tiling {

enum class DataType : int32_t {
    DT_FLOAT = 0,
    DT_FLOAT16 = 1,
    DT_INT8 = 2,
    DT_INT32 = 3,
    DT_UINT8 = 4,
    DT_INT16 = 6,
    DT_UINT16 = 7,
    DT_UINT32 = 8,
    DT_INT64 = 9,
    DT_UINT64 = 10,
    DT_DOUBLE = 11,
    DT_BOOL = 12,
    DT_BF16 = 27,
    DT_UNDEFINED = 28,
    DT_INT4 = 29,
    DT_BFLOAT16 = 33,
    DT_HIFLOAT8 = 34,
    DT_FLOAT8_E4M3FN = 35,
    DT_FLOAT8_E5M2 = 36,
    DT_FLOAT4_E2M1 = 37,
    DT_FLOAT8_E8M0 = 38,
    DT_FLOAT4_E1M2 = 39,
};

enum class TPosition : int32_t { GM, A1, A2, B1, B2, C1, C2, CO1, CO2, VECIN, VECOUT, VECCALC, LCM = VECCALC, SPM, SHM = SPM, TSCM, MAX };
enum class CubeFormat : int32_t { ND = 0, NZ, ZN, ZZ, NN, ND_ALIGN, SCALAR, VECTOR, ROW_MAJOR = ND, COLUMN_MAJOR = 8 };
enum class MatrixTraverse : int32_t { NOSET = 0, FIRSTM = 1, FIRSTN = 2 };
enum class MatrixMadType : int32_t { NORMAL = 0, HF32 = 1, MXMODE = 2 };
enum class DequantType : int32_t { SCALAR = 0, TENSOR = 1 };
enum class ScheduleType : int32_t { INNER_PRODUCT = 0, OUTER_PRODUCT = 1, N_BUFFER_33 = 2 };
enum class TilingPolicy : int32_t { FIXED_A_TSCM, FIXED_B_TSCM, FIXED_A_B_TSCM, NO_POLICY };

/* Bytes that a tiling uses. */
struct SysTilingTempBufSize {
    int32_t ubSize = 0;
    int32_t l1Size = 0;
    int32_t l0cSize = 0;
};

struct MatmulConfigParams {
    MatmulConfigParams(int32_t mmConfigTypeIn = 1, bool enableL1CacheUBIn = false, ScheduleType scheduleTypeIn = ScheduleType::INNER_PRODUCT,
                       MatrixTraverse traverseIn = MatrixTraverse::NOSET, bool enVecND2NZIn = false)
        : mmConfigType(mmConfigTypeIn), enableL1CacheUB(enableL1CacheUBIn), scheduleType(scheduleTypeIn), traverse(traverseIn), enVecND2NZ(enVecND2NZIn) {}

    int32_t mmConfigType;
    bool enableL1CacheUB;
    ScheduleType scheduleType;
    MatrixTraverse traverse;
    bool enVecND2NZ;
};

}  // namespace matmul_tiling

namespace piton_matmul {

struct Matrix {
    matmul_tiling::TPosition position = matmul_tiling::TPosition::GM;
    matmul_tiling::CubeFormat format = matmul_tiling::CubeFormat::ND;
    matmul_tiling::DataType type = matmul_tiling::DataType::DT_FLOAT;
    bool isTransposed = false;

    bool IsInL1() const { return position == matmul_tiling::TPosition::TSCM; }
    int32_t Bytes() const {
        using D = matmul_tiling::DataType;
        switch (type) {
            case D::DT_FLOAT:
            case D::DT_INT32:
            case D::DT_UINT32:
                return 4;
            case D::DT_INT8:
            case D::DT_UINT8:
            case D::DT_INT4: /* two in a byte, counted as one to be on the safe side */
                return 1;
            default:
                return 2;
        }
    }
};

/* Numbers along m, n and k; below 1: not said. */
struct Triple {
    int32_t m = -1;
    int32_t n = -1;
    int32_t k = -1;
};

/* Bytes of a core's memories. */
struct Room {
    int64_t l1 = 0;
    int64_t l0a = 0;
    int64_t l0b = 0;
    int64_t l0c = 0;
    int64_t biasTable = 0;
};

struct Request {
    Matrix a, b, c, bias;
    bool hasBias = false;
    Triple org;
    int32_t orgKb = -1;
    Triple shape;
    Triple single; /* of one core */
    Triple mostSingle, leastSingle, alignSingle;
    Triple base; /* fixed base block */
    Triple mostBase, leastBase;
    Room room;
    int32_t cores = 1;
    bool splitsK = false;
    bool isEven = false; /* all cores get the same part: programs with NBuffer33MatmulPolicy set no tails, those that split k neither */
    matmul_tiling::MatrixTraverse traverse = matmul_tiling::MatrixTraverse::NOSET;
};

}  // namespace piton_matmul

#endif /* PITON_MATMUL_REQUEST_H */
