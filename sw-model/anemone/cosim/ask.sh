#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ask WORD...: says that to the host and prints its answer, "ok ..." or "error ..."; status by that.
exec 5<>/dev/ttyS1
echo "$*" >&5
read -r answer <&5
echo "$answer"
case $answer in ok*) ;; *) exit 1 ;; esac
