#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fetches what co-simulation needs and this machine lacks, without root, into the user's cache; says what there is:
#   qemu=COMMAND     a QEMU for x86-64 that has vfio-user-pci (10.1 or newer)
#   busybox=PATH     a static busybox, for the guest
#   kernel=PATH      a Linux 6.12, of which the headers are installed
#   release=VERSION  its version; the headers are in /lib/modules/VERSION/build
#   modules=PATH     the folder of its modules
# Exit: 0 all is there; 2 something is missing that this script cannot fetch.
set -eu
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/anemone/cosim
# QEMU is this Debian's, with all its libraries, unless the one on PATH is new enough.
SUITE=trixie
KEYS=/usr/share/keyrings/debian-archive-keyring.gpg

say() { printf 'cosim: %s\n' "$*" >&2; }
stop() {
    printf 'cosim: %s\n' "$*" >&2
    exit 2
}

# $CACHE/NAME, all of it or nothing: `fetch_NAME FOLDER` fills it. $1: NAME; $2: what is said; $3: what to do instead.
cached() {
    if [ -d "$CACHE/$1" ]; then return 0; fi
    command -v apt-get >/dev/null || stop "$1 is missing, and there is no apt to fetch it: $3"
    say "$2"
    rm -rf "$CACHE/$1.new"
    mkdir "$CACHE/$1.new"
    # A shell of its own: `set -e` does not hold within an `||`.
    (set -x && cd "$CACHE/$1.new" && "fetch_$1") >"$CACHE/$1.log" 2>&1 &
    wait $! || stop "$1 could not be fetched, see $CACHE/$1.log: $3"
    mv "$CACHE/$1.new" "$CACHE/$1"
}

unpack() { for deb in "$1"/*.deb; do dpkg-deb -x "$deb" .; done; }

fetch_busybox() {
    mkdir debs
    (cd debs && apt-get -q download busybox-static)
    unpack debs
    rm -r debs
}

# To install it takes root, and a minute for an initramfs that nobody needs.
fetch_image() {
    mkdir debs
    (cd debs && apt-get -q download "linux-image-$release")
    unpack debs
    rm -r debs
    test -r "boot/vmlinuz-$release"
}

# With an apt of its own, as if nothing were installed: the machine's server and settings, another suite.
fetch_qemu() {
    apt=$PWD/apt
    mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$apt/none"
    : >"$apt/status"
    here=$(. /etc/os-release && echo "$VERSION_CODENAME")
    site=$(apt-get indextargets --format '$(RELEASE) $(SITE)' 'Created-By: Packages' |
        awk -v here="$here" '$1 == here && !site { site = $2 } END { print site }')
    test -n "$site"
    for suite in $SUITE $SUITE-backports; do
        echo "deb [signed-by=$KEYS] $site $suite main"
    done >"$apt/sources.list"
    get() {
        apt-get -q -y --no-install-recommends -o Dir::State::status="$apt/status" \
            -o Dir::State::lists="$apt/lists" -o Dir::Cache="$apt" -o Dir::Cache::archives="$apt/archives" \
            -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts="$apt/none" \
            -o Dir::Etc::preferences="$apt/none/preferences" -o Dir::Etc::preferencesparts="$apt/none" \
            -o APT::Sandbox::User= -o Acquire::Languages=none "$@"
    }
    get update
    get --download-only -t "$SUITE-backports" install qemu-system-x86
    unpack "$apt/archives"
    rm -r "$apt"
    has_vfio_user "$(qemu_of "$PWD")"
}

# How to run the QEMU in a folder with the libraries and firmware beside it.
qemu_of() {
    lib=$1/usr/lib/x86_64-linux-gnu
    echo "$lib/ld-linux-x86-64.so.2 --library-path $lib:$1/usr/lib $1/usr/bin/qemu-system-x86_64" \
        "-L $1/usr/share/qemu -L $1/usr/share/seabios"
}

# shellcheck disable=SC2086 # the command is words
has_vfio_user() { $1 -device help 2>/dev/null | grep -q '"vfio-user-pci"'; }

case $CACHE in *[[:space:]]*) stop "the cache's path has blanks: $CACHE; set XDG_CACHE_HOME" ;; esac
mkdir -p "$CACHE"
exec 9>"$CACHE/.lock"
flock 9 # two workers of the tests at once

qemu=qemu-system-x86_64
if ! command -v $qemu >/dev/null || ! has_vfio_user $qemu; then
    cached qemu "fetching QEMU of $SUITE-backports into $CACHE/qemu (40 MB; once)" \
        "install QEMU 10.1 or newer"
    qemu=$(qemu_of "$CACHE/qemu")
fi
busybox=/usr/bin/busybox
if ! [ -x $busybox ] || ldd $busybox >/dev/null 2>&1; then
    cached busybox "fetching a static busybox into $CACHE/busybox (1 MB; once)" "install busybox-static"
    busybox=$(find "$CACHE/busybox" -path '*/bin/busybox')
fi
release=$(for folder in /lib/modules/6.12.*-amd64; do
    if [ -e "$folder/build/Makefile" ]; then basename "$folder"; fi
done | sort -V | tail -n 1)
[ -n "$release" ] || stop "no headers of a Linux 6.12 in /lib/modules: apt-get install linux-headers-6.12-amd64 \
(Debian 12) or linux-headers-amd64 (Debian 13), as root"
# Of exactly that version, as the driver is built with its headers.
kernel=/boot/vmlinuz-$release modules=/lib/modules/$release/kernel
if ! [ -r "$kernel" ] || ! [ -d "$modules" ]; then
    if ! [ -r "$CACHE/image/boot/vmlinuz-$release" ]; then rm -rf "$CACHE/image"; fi
    cached image "fetching Linux $release into $CACHE/image (100 MB; once)" "install linux-image-$release"
    kernel=$CACHE/image/boot/vmlinuz-$release
    modules=$(find "$CACHE/image" -path "*/lib/modules/$release/kernel" -prune)
fi

printf '%s\n' "qemu=$qemu" "busybox=$busybox" "kernel=$kernel" "release=$release" "modules=$modules"
