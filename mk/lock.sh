#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes requirements.lock and the locks of tools with environments of their own: one version of every package for all Pythons that
# are supported, with hashes.
# Needs no .venv, so that a broken lock can be mended. Versions in the present lock are kept where they can be;
# `mk/lock.sh --upgrade` takes the newest of all.
set -eu
cd "$(dirname "$0")/.."
tool=build/lock-venv
[ -x $tool/bin/uv ] || { python3 -m venv $tool && $tool/bin/pip -q install uv==0.13.8; }
lock() { # $1 from $2
    lock=$1 source=$2
    shift 2
    $tool/bin/uv pip compile -q --universal --fork-strategy fewest --python-version 3.11 --generate-hashes \
        --no-annotate --no-header "$@" -o "$lock" "$source"
}
lock requirements.lock requirements.in "$@"
for source in fpga/synth/tools/*.in sw-model/anemone/*/*.in; do lock "${source%.in}.lock" "$source" "$@"; done
