#!/usr/bin/env bash
# Make .venv and install Piton into it; says what is missing in one message. Usage: tools/venv.sh run|dev
# A stamp per kind remembers what was installed, so that a second call costs nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
kind=${1:-run}
venv=.venv
python=${PYTHON:-python3}
apt_line="apt-get install python3-venv python3-dev g++ make"

fail() {
    printf 'piton: %s\n  to do: %s\n' "$1" "$2" >&2
    exit 2
}

command -v "$python" >/dev/null || fail "no $python on PATH (Python 3.10 or newer is needed)" "$apt_line"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
    fail "$("$python" --version) is too old: 3.10 or newer is needed" "set PYTHON to a newer interpreter, for example: make demo PYTHON=python3.11"
"$python" -c 'import ensurepip, venv' 2>/dev/null || fail "the venv module of $python is missing" "$apt_line"
"$python" -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")))' ||
    fail "Python.h of $python is missing (needed to build the torch bindings of a submission)" "$apt_line"
command -v g++ >/dev/null || fail "no C++ compiler (g++ 10 or newer is needed)" "$apt_line"

wanted=$(cat pyproject.toml constraints.txt tools/venv.sh | sha256sum | cut -d' ' -f1)
stamp=$venv/.piton-$kind
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then exit 0; fi

if [ ! -x $venv/bin/python ]; then
    # An installed torch of a suitable version is used as it is.
    site=""
    if "$python" -c 'import re, torch, sys; sys.exit(tuple(map(int, re.findall(r"\d+", torch.__version__)[:2])) < (2, 10))' 2>/dev/null; then
        site=--system-site-packages
        echo "piton: using the installed torch"
    fi
    echo "piton: creating $venv"
    "$python" -m venv $site $venv
fi
extra=""
[ "$kind" = dev ] && extra="[dev]"
echo "piton: installing Piton and what it needs into $venv (torch is large: some minutes on a slow line)"
$venv/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".$extra"
printf '%s' "$wanted" >"$stamp"
echo "piton: installed"
