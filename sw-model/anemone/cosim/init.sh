#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The guest's first process. The second serial port is a line to the host: `ask` says a line and
# prints the answer. With `next STATUS` this asks for the next script to run: `script LINES`, and those.
/bin/busybox --install -s /bin
export PATH=/bin HOME=/
mkdir -p /proc /sys /tmp
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mkdir /dev/pts
mount -t devpts pts /dev/pts

# Set by the kernel from its command line.
if [ -n "$anemone_shell" ]; then
    setsid cttyhack sh
    poweroff -f
fi

exec 5<>/dev/ttyS1
stty -F /dev/ttyS1 raw -echo
status=0
while :; do
    echo "next $status" >&5
    word=
    until [ "$word" = script ]; do # an answer may come for one who has gone
        read -r word lines <&5 || poweroff -f
    done
    : >/tmp/script
    while [ "$lines" -gt 0 ]; do
        IFS= read -r line <&5
        printf '%s\n' "$line" >>/tmp/script
        lines=$((lines - 1))
    done
    sh /tmp/script </dev/null 5>&-
    status=$?
    stty sane # waits until all output is out
done
poweroff -f
