#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs driver/kunit under user-mode Linux with the kernel's kunit.py. The kernel tree consists of links to its source
# (kernel-source.sh), with this checkout's driver/ as drivers/anemone. Tree and build are in the user's cache, for all
# checkouts: the first run builds a kernel (minutes), later runs build only changes.
# Writes build/test/kunit.log and build/test/kunit.xml (JUnit). Exit: 0; 1 a test failed; 77 there is no kernel source.
#   kunit.sh [GLOB]     GLOB: only these suites or suite.tests
set -eu
cd "$(dirname "$0")/.."
root=$(pwd)
glob=${1:-}
source=$(mk/kernel-source.sh) || exit $(($? == 2 ? 77 : 1))
place=${XDG_CACHE_HOME:-$HOME/.cache}/anemone/kunit
mkdir -p "$place" build/test
exec 9>"$place/.lock"
flock 9 # all checkouts share the tree

# Everything is a link to the source, except drivers/, which is changed, and the folder of kunit.py, which searches for
# the kernel above its real path.
opened() { # replaces the link to a folder by a folder of links
    rm -f "$place/tree/$1"
    mkdir -p "$place/tree/$1"
    for entry in "$source/$1"/*; do ln -s "$entry" "$place/tree/$1/"; done
}
graft() {
    rm -rf "$place/tree"
    for folder in . drivers tools tools/testing; do opened $folder; done
    rm "$place/tree/tools/testing/kunit" "$place/tree/drivers/Kconfig" "$place/tree/drivers/Makefile"
    cp -R "$source/tools/testing/kunit" "$place/tree/tools/testing/"
    cp "$source/drivers/Kconfig" "$source/drivers/Makefile" "$place/tree/drivers/"
    echo 'source "drivers/anemone/kunit/Kconfig"' >>"$place/tree/drivers/Kconfig"
    echo 'obj-$(CONFIG_KUNIT) += anemone/kunit/' >>"$place/tree/drivers/Makefile"
    cat "$source/.anemone-stamp" mk/kunit.sh >"$place/stamp"
}
cat "$source/.anemone-stamp" mk/kunit.sh | cmp -s - "$place/stamp" || graft

# Another checkout's objects may be newer than this one's sources.
if [ "$(readlink "$place/tree/drivers/anemone" || :)" != "$root/driver" ]; then
    rm -rf "$place/build/drivers/anemone"
    ln -sfn "$root/driver" "$place/tree/drivers/anemone"
fi
exec python3 mk/kunit.py "$place/tree" "$place/build" $glob
