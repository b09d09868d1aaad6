#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes .venv-synth/NAME from a lock (default: fpga/synth/tools/NAME.lock; $2: another one), if it is missing or the
# lock has changed.
set -eu
cd "$(dirname "$0")/.."
lock=${2:-fpga/synth/tools/$1.lock}
venv=$PWD/.venv-synth/$1
mkdir -p .venv-synth
exec 9>".venv-synth/.$1.lock"
flock 9 # two test workers may install at the same time
stamp() { { pwd && cat "$lock"; } | sha256sum; }
if [ "$(cat "$venv/.stamp" 2>/dev/null)" = "$(stamp)" ]; then exit 0; fi
echo "installing the packages of $lock in .venv-synth/$1"
rm -rf "$venv"
.venv/bin/python -m venv "$venv"
"$venv/bin/python" -m pip --disable-pip-version-check install -q --no-deps --require-hashes --only-binary :all: -r "$lock"
stamp >"$venv/.stamp"
