#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a main class of the hardware (hw) or of its tests (hw.test). Compiles first if a source changed:
#
#     mk/scala.sh MODULE [CLASS ARGUMENT...]     without a class it only compiles
#
# Mill runs only after a change, because it starts slowly and only one Mill can run at a time. The classes run in
# parallel.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
module=$1
shift
case $module in
hw) sources="hw/src out/hw/compile.json" ;;
hw.test) sources="hw/src out/hw/compile.json hw/test out/hw/test/compile.json" ;;
*)
    echo "scala.sh: hw or hw.test, not $module" >&2
    exit 2
    ;;
esac
options=$here/out/$(echo "$module" | tr . /)/java.dest/options
stamp=$here/build/scala/$module
mkdir -p "$here/build/scala"
exec 9>"$stamp.lock"
flock 9
# A digest of the sources, and of Mill's last result, because Mill may also be run directly.
state() (
    cd "$here"
    find build.sc .mill-version $sources -type f -exec sha256sum {} + | sort | sha256sum
)
if ! [ -f "$options" ] || [ "$(state 2>/dev/null)" != "$(cat "$stamp" 2>/dev/null)" ]; then
    rm -f "$stamp"
    (cd "$here" && ./mill "$module.java") >&2
    state >"$stamp" 2>/dev/null
fi
[ $# != 0 ] || exit 0
# The first elaboration unpacks firtool to the user's cache. Two at once would disturb each other, so it keeps the lock.
[ -d "${XDG_CACHE_HOME:-$HOME/.cache}/llvm-firtool" ] || exec java "@$options" "$@"
exec 9>&-
exec java "@$options" "$@"
