#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the Linux that `make cosim-kasan` boots, from the source of kernel-source.sh with mk/kernel/kasan.config. The
# user's cache keeps it for all checkouts; it is built once for a version and configuration (some minutes). Prints
#   kernel=PATH      its image
#   release=VERSION  its version
#   build=PATH       the folder to build modules against
#   modules=PATH     a folder above its own modules
# Exit: 0; 2 there is no source, or it does not build.
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
    # An option that Kconfig drops is an error.
    missing=$(grep -E '^CONFIG_' "$config" | grep -vxFf "$work/.config" || :)
    if [ -n "$missing" ]; then
        echo "not available: $missing"
        return 1
    fi
    nice $mk -j"$(nproc)" bzImage modules
}

exec 9>"$cache/.kasan.lock"
flock 9 # two checkouts may build at the same time
if ! [ -e "$place/stamp" ]; then
    say "building Linux $version into $place (once; some minutes; $place.log)"
    work=$(mktemp -d "$cache/.kasan-XXXXXX")
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT TERM
    # A subshell, because `set -e` does not apply within an `||`.
    (set -e; build) >"$place.log" 2>&1 &
    wait $! || stop "it does not build, see the end of $place.log"
    rm -rf "$place"
    touch "$work/stamp"
    mv "$work" "$place"
fi
printf '%s\n' "kernel=$place/arch/x86/boot/bzImage" "release=$(cat "$place/include/config/kernel.release")" \
    "build=$place" "modules=$place"
