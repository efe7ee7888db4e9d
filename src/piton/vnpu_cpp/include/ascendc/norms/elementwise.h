/*
 * How many tensors of floats the elementwise functions keep in temporary memory.
 *
 * Problem: host code asks for that memory before there is a kernel. Approach: one list of the functions with what they keep and how many tensors they read,
 * which the headers of the functions say as kSlots and kSources; a test holds the list against them.
 * Limits: our needs, not the vendor's.
 */
#ifndef PITON_ASCENDC_NORMS_ELEMENTWISE_H
#define PITON_ASCENDC_NORMS_ELEMENTWISE_H

/* Name, function (its structure here without "Function"), slots, sources. */
#define PITON_ELEMENTWISE(X)  \
    X(Sigmoid, Sigmoid, 1, 1) \
    X(Tanh, Tanh, 1, 1)       \
    X(Sign, Sign, 0, 1)       \
    X(Erf, Erf, 4, 1)         \
    X(Erfc, Erfc, 3, 1)       \
    X(Log, Log, 0, 1)         \
    X(Log2, Log, 0, 1)        \
    X(Log10, Log, 0, 1)       \
    X(Frac, Frac, 1, 1)       \
    X(Fmod, Fmod, 1, 2)       \
    X(Sin, Sin, 4, 1)         \
    X(Cos, Sin, 4, 1)         \
    X(Tan, Tan, 4, 1)         \
    X(Asin, Asin, 3, 1)       \
    X(Acos, Acos, 4, 1)       \
    X(Atan, Atan, 4, 1)       \
    X(Sinh, Sinh, 4, 1) X(Cosh, Cosh, 2, 1) X(Asinh, Area, 2, 1) X(Acosh, Area, 2, 1) X(Atanh, Atanh, 2, 1) X(GeGLU, Geglu, 1, 2) X(ReGlu, Reglu, 1, 2)

#endif /* PITON_ASCENDC_NORMS_ELEMENTWISE_H */
