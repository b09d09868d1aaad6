#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fetches the missing tools of the co-simulation to the user's cache, without root, and prints the paths of all:
#   qemu=COMMAND     a QEMU for x86-64 with vfio-user-pci (10.1 or newer)
#   busybox=PATH     a static busybox, for the guest
#   kernel=PATH      a Linux 6.12 whose headers are installed
#   release=VERSION  its version; the headers are in /lib/modules/VERSION/build
#   modules=PATH     the folder of its modules
# Exit: 0 all is there; 2 something is missing that this script cannot fetch.
set -eu
TOPIC=cosim
# The Debian of the fetched QEMU and its libraries. The QEMU on PATH is used if it is new enough.
SUITE=trixie
. "$(dirname "$0")/fetch.sh"

fetch_busybox() {
    mkdir debs
    (cd debs && apt-get -q download busybox-static)
    unpack debs
    rm -r debs
}

# Not installed, because that needs root, and a minute for an unused initramfs.
fetch_image() {
    mkdir debs
    (cd debs && apt-get -q download "linux-image-$release")
    unpack debs
    rm -r debs
    test -r "boot/vmlinuz-$release"
}

fetch_qemu() {
    download qemu-system-x86 "$SUITE-backports"
    unpack apt/archives
    rm -r apt
    has_vfio_user "$(qemu_of "$PWD")"
}

# The command of the QEMU in a folder, with the folder's libraries and firmware.
qemu_of() {
    lib=$1/usr/lib/x86_64-linux-gnu
    echo "$lib/ld-linux-x86-64.so.2 --library-path $lib:$1/usr/lib $1/usr/bin/qemu-system-x86_64" \
        "-L $1/usr/share/qemu -L $1/usr/share/seabios"
}

# shellcheck disable=SC2086 # the command has several words
has_vfio_user() { $1 -device help 2>/dev/null | grep -q '"vfio-user-pci"'; }

prepare
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
# Exactly this version, because the driver is built with its headers.
kernel=/boot/vmlinuz-$release modules=/lib/modules/$release/kernel
if ! [ -r "$kernel" ] || ! [ -d "$modules" ]; then
    if ! [ -r "$CACHE/image/boot/vmlinuz-$release" ]; then rm -rf "$CACHE/image"; fi
    cached image "fetching Linux $release into $CACHE/image (100 MB; once)" "install linux-image-$release"
    kernel=$CACHE/image/boot/vmlinuz-$release
    modules=$(find "$CACHE/image" -path "*/lib/modules/$release/kernel" -prune)
fi

printf '%s\n' "qemu=$qemu" "busybox=$busybox" "kernel=$kernel" "release=$release" "modules=$modules"
