/* The vendor's name for the header with the Matmul object. */
#ifndef PITON_ADV_API_MATMUL_MATMUL_INTF_H
#define PITON_ADV_API_MATMUL_MATMUL_INTF_H

#include "ascendc/matmul/registration.h"
#include "kernel_operator.h"

#endif /* PITON_ADV_API_MATMUL_MATMUL_INTF_H */
