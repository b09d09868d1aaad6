#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes requirements.lock, and the locks of tools with separate environments: one version of each package for all
# supported Pythons, with hashes.
# Needs no .venv, so that it can repair a broken lock. It keeps the versions of the present lock if possible;
# `mk/lock.sh --upgrade` takes the newest.
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
