#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fetches the tools of `anemone capture -- PROGRAM` to the user's cache, without root, and prints their paths:
#   qemu=COMMAND  QEMU's user mode for x86-64
#   zydis=FOLDER  include and lib of the library that decodes instructions
# For each named sample program (redis, rocksdb, gcc) it also prints NAME=FOLDER: a root with the program and all its
# libraries, the same on every machine.
# Exit: 0 all is there; 2 something is missing that this script cannot fetch.
set -eu
TOPIC=capture
# The last Debian whose user-mode QEMU (7.2) loads plugins. Later ones are linked statically.
SUITE=bookworm
. "$(dirname "$0")/fetch.sh"

LIB=usr/lib/x86_64-linux-gnu

# Uses the system's C library, because our plugin is built against it. It is as new as QEMU's, or newer.
qemu_of() { echo "/lib64/ld-linux-x86-64.so.2 --library-path $1/$LIB:$1/lib/x86_64-linux-gnu $1/usr/bin/qemu-x86_64"; }

fetch_qemu() {
    download "qemu-user libzydis-dev"
    rm apt/archives/libc6_* apt/archives/libgcc-s1_*
    unpack apt/archives
    rm -r apt usr/share
    find usr/bin -name 'qemu-*' ! -name qemu-x86_64 -delete
    # shellcheck disable=SC2046 # the command has several words
    $(qemu_of "$PWD") --help | grep -q -e '-plugin'
}

# $1: packages. The loader's absolute link is replaced by a relative one, into the same root.
fetch_root() {
    download "$1"
    unpack apt/archives
    rm -r apt usr/share
    ln -sf ../lib/x86_64-linux-gnu/ld-linux-x86-64.so.2 lib64/ld-linux-x86-64.so.2
}
fetch_redis() { fetch_root "redis-server redis-tools"; }
fetch_rocksdb() { fetch_root rocksdb-tools; }
fetch_gcc() { fetch_root cpp-12; }

prepare
cached qemu "fetching user-mode QEMU of Debian's $SUITE into $CACHE/qemu (22 MB; once)" \
    "a Debian whose server has $SUITE can"
printf '%s\n' "qemu=$(qemu_of "$CACHE/qemu")" "zydis=$CACHE/qemu"
for name in "$@"; do
    case $name in redis | rocksdb | gcc) ;; *) stop "no program $name: redis, rocksdb or gcc" ;; esac
    cached "$name" "fetching $name of Debian's $SUITE into $CACHE/$name (once)" "the other samples need no package"
    printf '%s\n' "$name=$CACHE/$name"
done
