#!/bin/bash
# Builds the package: build_out/custom_opp_<system>_<processor>.run. Source CANN's set_env.sh first.
set -e
cd "$(dirname "$0")"
if [ -z "$ASCEND_HOME_PATH" ]; then
    echo "ASCEND_HOME_PATH is not set: source the set_env.sh of CANN first" >&2
    exit 1
fi
cmake -S . -B build_out --preset=default -DASCEND_CANN_PACKAGE_PATH="$ASCEND_HOME_PATH"
cmake --build build_out --target binary package -j"$(nproc)"
ls build_out/custom_opp_*.run
