#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the Linux that `make cosim-kasan` boots: kernel-source.sh's source with mk/kernel/kasan.config. It is in the
# user's cache, for all checkouts, and done once for a version and a configuration (some minutes). Prints
#   kernel=PATH      its image
#   release=VERSION  its version
#   build=PATH       what modules are built against
#   modules=PATH     its own modules, somewhere below
# Exit: 0; 2 when there is no source or it does not build.
set -eu
cd "$(dirname "$0")/.."
config=$(pwd)/mk/kernel/kasan.config
source=$(mk/kernel-source.sh)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/anemone
version=$(make -s -C "$source" kernelversion)
place=$cache/kasan-$version-$(cat "$config" "$0" | sha256sum | cut -c 1-12)

say() { printf 'kasan kernel: %s\n' "$*" >&2; }
stop() {
    say "$@"
    exit 2
}

build() {
    mk="make -C $source O=$work ARCH=x86_64 KBUILD_BUILD_USER=anemone KBUILD_BUILD_HOST=cosim"
    KCONFIG_ALLCONFIG=$config $mk allnoconfig
    # What is asked for and not to be had is said, not left out.
    missing=$(grep -E '^CONFIG_' "$config" | grep -vxFf "$work/.config" || :)
    if [ -n "$missing" ]; then
        echo "not to be had: $missing"
        return 1
    fi
    nice $mk -j"$(nproc)" bzImage modules
}

exec 9>"$cache/.kasan.lock"
flock 9 # two makes at once, whichever checkouts they are of
if ! [ -e "$place/stamp" ]; then
    say "building Linux $version into $place (once; some minutes; $place.log)"
    work=$(mktemp -d "$cache/.kasan-XXXXXX")
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT TERM
    # A shell of its own: `set -e` does not hold within an `||`.
    (set -e; build) >"$place.log" 2>&1 &
    wait $! || stop "it does not build, see the end of $place.log"
    rm -rf "$place"
    touch "$work/stamp"
    mv "$work" "$place"
fi
printf '%s\n' "kernel=$place/arch/x86/boot/bzImage" "release=$(cat "$place/include/config/kernel.release")" \
    "build=$place" "modules=$place"
