#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fetches the oldest Linux that the driver supports, 6.1, from Debian 12's packages to the user's cache, without root.
# Prints
#   build=PATH       the folder to build modules against
#   release=VERSION  its version
#   kernel=PATH      its image     } not with the argument `headers`, which fetches only the headers (16 MB)
#   modules=PATH     its modules   }
# Exit: 0; 2 apt does not have it.
set -eu
cache=${XDG_CACHE_HOME:-$HOME/.cache}/anemone/oldest
only=${1:-}

stop() {
    printf 'oldest kernel: %s\n' "$*" >&2
    exit 2
}

# Makes $cache/NAME from packages, as a whole or not at all.
unpacked() {
    name=$1
    shift
    if [ -d "$cache/$name" ]; then return 0; fi
    printf 'oldest kernel: fetching %s into %s (once)\n' "$*" "$cache/$name" >&2
    work=$(mktemp -d "$cache/.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    if ! (cd "$work" && apt-get -q download "$@") >"$cache/$name.log" 2>&1; then
        # The archive may have a newer version than these headers, so they are fetched again next time.
        if [ "$name" = image ]; then rm -rf "$cache/headers"; fi
        stop "apt does not have $* (Debian 12 does; apt-get update, and again?), see $cache/$name.log"
    fi
    for deb in "$work"/*.deb; do dpkg-deb -x "$deb" "$work" || exit 1; done
    rm "$work"/*.deb
    # The Makefile includes the other package by its absolute path.
    for makefile in "$work"/usr/src/*/Makefile; do
        if [ -e "$makefile" ]; then sed -i "s,^include /usr/src/,include $cache/$name/usr/src/," "$makefile"; fi
    done
    mv "$work" "$cache/$name"
    trap - EXIT
}

mkdir -p "$cache"
exec 9>"$cache/.lock"
flock 9 # two test workers may fetch at the same time
if ! [ -d "$cache/headers" ]; then
    command -v apt-get >/dev/null || stop "there is no apt to fetch Linux 6.1"
    # The newest version that is still available.
    names=$(apt-cache pkgnames linux-headers-6.1.0- | grep -E '^linux-headers-6\.1\.0-[0-9]+-amd64$' | sort -V -r)
    for headers in $names; do
        case $(apt-cache policy "$headers") in *"Candidate: 6.1"*) break ;; esac
        headers=
    done
    [ -n "${headers:-}" ] || stop "apt has no linux-headers-6.1.0-N-amd64 (Debian 12 has)"
    unpacked headers "$headers" "${headers%-amd64}-common" linux-kbuild-6.1
fi
build=$(echo "$cache"/headers/usr/src/linux-headers-6.1.0-*-amd64)
release=${build##*/linux-headers-}
printf '%s\n' "build=$build" "release=$release"
if [ "$only" != headers ]; then
    unpacked image "linux-image-$release"
    printf '%s\n' "kernel=$cache/image/boot/vmlinuz-$release" "modules=$cache/image/lib/modules/$release/kernel"
fi
