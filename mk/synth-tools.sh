#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes .venv-synth/NAME from a lock, fpga/synth/tools/NAME.lock unless a second word says otherwise, if it is not
# there or the lock has changed.
set -eu
cd "$(dirname "$0")/.."
lock=${2:-fpga/synth/tools/$1.lock}
venv=$PWD/.venv-synth/$1
mkdir -p .venv-synth
exec 9>".venv-synth/.$1.lock"
flock 9 # two workers of the tests at once
stamp() { { pwd && cat "$lock"; } | sha256sum; }
if [ "$(cat "$venv/.stamp" 2>/dev/null)" = "$(stamp)" ]; then exit 0; fi
echo "installing what is in $lock into .venv-synth/$1"
rm -rf "$venv"
.venv/bin/python -m venv "$venv"
"$venv/bin/python" -m pip --disable-pip-version-check install -q --no-deps --require-hashes --only-binary :all: -r "$lock"
stamp >"$venv/.stamp"
