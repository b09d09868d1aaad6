# SPDX-License-Identifier: Apache-2.0
# For scripts that fetch Debian packages without root to a folder of the user's cache. They source it, and set
#   TOPIC  name of the folder, and prefix of the messages
#   SUITE  the Debian release of the packages and all their libraries
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/anemone/$TOPIC
KEYS=/usr/share/keyrings/debian-archive-keyring.gpg

say() { printf '%s: %s\n' "$TOPIC" "$*" >&2; }
stop() {
    printf '%s: %s\n' "$TOPIC" "$*" >&2
    exit 2
}

# Makes $CACHE/NAME with `fetch_NAME`, as a whole or not at all. $1: NAME; $2: message; $3: advice on failure.
cached() {
    if [ -d "$CACHE/$1" ]; then return 0; fi
    command -v apt-get >/dev/null || stop "$1 is missing, and there is no apt to fetch it: $3"
    say "$2"
    rm -rf "$CACHE/$1.new"
    mkdir "$CACHE/$1.new"
    # A subshell, because `set -e` does not apply within an `||`.
    (set -x && cd "$CACHE/$1.new" && "fetch_$1") >"$CACHE/$1.log" 2>&1 &
    wait $! || stop "$1 could not be fetched, see $CACHE/$1.log: $3"
    mv "$CACHE/$1.new" "$CACHE/$1"
}

unpack() { for deb in "$1"/*.deb; do dpkg-deb -x "$deb" .; done; }

# Downloads packages of $SUITE and all their dependencies to ./apt/archives, from the machine's own server. It uses a
# separate apt state, as if nothing were installed. $1: the packages; $2: a suite to prefer, or nothing.
download() {
    apt=$PWD/apt
    mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$apt/none"
    : >"$apt/status"
    here=$(. /etc/os-release && echo "$VERSION_CODENAME")
    site=$(apt-get indextargets --format '$(RELEASE) $(SITE)' 'Created-By: Packages' |
        awk -v here="$here" '$1 == here && !site { site = $2 } END { print site }')
    test -n "$site"
    for suite in $SUITE ${2:-}; do
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
    # shellcheck disable=SC2086 # one word per package
    get --download-only -t "${2:-$SUITE}" install $1
}

# One fetch at a time, because two test workers may fetch the same.
prepare() {
    case $CACHE in *[[:space:]]*) stop "the cache's path has blanks: $CACHE; set XDG_CACHE_HOME" ;; esac
    mkdir -p "$CACHE"
    exec 9>"$CACHE/.lock"
    flock 9
}
