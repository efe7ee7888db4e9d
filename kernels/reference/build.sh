#!/usr/bin/env bash
# Builds a wheel on a machine with CANN 9, torch and torch_npu (not verified on hardware). The virtual NPU does not use this file.
set -euo pipefail
cd "$(dirname "$0")"
: "${ASCEND_HOME_PATH:?source the set_env.sh of the CANN toolkit first}"
python3 -m pip wheel --no-build-isolation --no-deps --wheel-dir dist .
echo "Built: $(ls dist/*.whl)"
