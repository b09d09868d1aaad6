#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Unpacks the source of Linux 6.12 from Debian's package to the user's cache, and prints the folder.
#   kernel-source.sh [DEB]     DEB: a local package file; by default apt fetches it (150 MB, no root)
# A second run only prints the folder. Exit: 0; 2 the package is not available.
set -eu
NAME=linux-source-6.12
# Half of the files: folders that neither user-mode Linux nor a small x86 guest compiles. Their Kconfig files and
# Makefiles stay, because others include them.
UNUSED="drivers/gpu drivers/media drivers/staging drivers/infiniband drivers/accel sound tools/perf
tools/testing/selftests"
OTHER_ARCH="alpha arc arm arm64 csky hexagon loongarch m68k microblaze mips nios2 openrisc parisc powerpc riscv
s390 sh sparc xtensa"

say() { printf 'kernel source: %s\n' "$*" >&2; }
stop() {
    say "$@"
    exit 2
}

cache=${XDG_CACHE_HOME:-$HOME/.cache}/anemone
place=$cache/$NAME
mkdir -p "$cache"
exec 9>"$cache/.$NAME.lock"
flock 9 # two checkouts may unpack at the same time

# A change of this file may change the list of unused folders.
stamp=$(sha256sum <"$0")
if [ "$(cat "$place/.anemone-stamp" 2>/dev/null)" = "$stamp" ]; then
    echo "$place"
    exit 0
fi

work=$(mktemp -d "$cache/.$NAME.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
deb=${1:-}
if [ -z "$deb" ]; then
    command -v apt-get >/dev/null || stop "there is no apt to fetch $NAME; give its .deb: $0 FILE"
    say "fetching $NAME with apt (150 MB)"
    # As root, apt downloads as another user, which cannot write here; apt warns about this and goes on.
    if ! (cd "$work" && apt-get -q download "$NAME" >apt.log 2>&1); then
        cat "$work/apt.log" >&2
        stop "apt has no $NAME (Debian 12 and 13 do; apt-get update?); give a .deb: $0 FILE"
    fi
    deb=$(ls "$work"/*.deb)
fi
[ -r "$deb" ] || stop "$deb cannot be read; allowed: the package $NAME, a .deb file"

say "unpacking it into $place"
leave_out=$(
    for folder in $UNUSED $(printf 'arch/%s ' $OTHER_ARCH); do
        for suffix in '.[chS]' .sh .dts .dtsi _defconfig; do echo "--exclude=$NAME/$folder/*$suffix"; done
    done
    echo "--exclude=$NAME/Documentation/*/*"
)
set -f # the patterns are tar's
# shellcheck disable=SC2046,SC2086
if ! dpkg-deb --fsys-tarfile "$deb" | tar -x -O "./usr/src/$NAME.tar.xz" |
    xz -dc -T0 | tar -x -C "$work" $leave_out || [ ! -x "$work/$NAME/tools/testing/kunit/kunit.py" ]; then
    stop "$deb is not the package $NAME, or there is no room in $cache (1 GB)"
fi
printf '%s\n' "$stamp" >"$work/$NAME/.anemone-stamp"
rm -rf "$place"
mv "$work/$NAME" "$place"
echo "$place"
