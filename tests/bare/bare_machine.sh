#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The commands of README's set-up on a machine that has nothing: a minimal Debian root from this machine's own package
# sources, a clone of what is committed inside, nothing else. ./dev bare runs it.
#   bare_machine.sh [--no-npm] [--fresh] [--ccache] [-- COMMAND...]     default: "./dev run" "./dev test --quick"
# --no-npm  npm's registry takes connections and never answers, which is what a firewall that drops packets looks like
# --fresh   makes the minimal root anew; otherwise one that is at most a week old is used again
# --ccache  compiles through this machine's ccache: it takes an object when compiler, flags and every header are the same, so that
#           a header which is missing inside is missed as without it
# Exit status: that of the first command that failed; 77 and one line with the reason where this machine cannot do it.
# Mounts live in a mount namespace of their own: they end with the last process inside, however that ends.
set -euo pipefail

project=$(readlink -f "$(dirname "$(readlink -f "$0")")/../..")
cache=${STICTION_BARE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/stiction-bare}
most_days=7         # the minimal root is made anew when it is older
needed_gb=8         # root, packages, build
packages=ca-certificates,git

say() { echo "bare: $*" >&2; }
skip() {
    say "skipped: $*"
    exit 77
}

# One-line and deb822 sources of this machine, without those for other suites: their keys are not in a minimal root.
debian_sources() {
    local suite=$1 file
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ ! -r "$file" ] || awk -v suite="$suite" '
            { line = $0; sub(/\[[^]]*\]/, ""); if ($1 == "deb" && index($3, suite) == 1) print line }' "$file"
    done
    for file in /etc/apt/sources.list.d/*.sources; do
        [ ! -r "$file" ] || awk -v suite="$suite" '
            BEGIN { RS = ""; FS = "\n" }
            /(^|\n)Enabled: *no/ { next }
            { kept = ""; uris = suites = components = keys = ""
              for (i = 1; i <= NF; i++) {
                  name = value = $i; sub(/:.*/, "", name); sub(/^[^:]*: */, "", value)
                  if (name == "Types" && value !~ /(^| )deb( |$)/) next
                  if (name == "URIs") uris = value
                  if (name == "Suites") suites = value
                  if (name == "Components") components = value
                  if (name == "Signed-By" && value ~ /^\//) keys = "[signed-by=" value "] "
              }
              n = split(uris, uri, " "); m = split(suites, name_of, " ")
              for (i = 1; i <= n; i++) for (k = 1; k <= m; k++)
                  if (index(name_of[k], suite) == 1) print "deb " keys uri[i] " " name_of[k] " " components }' "$file"
    done
}

check_machine() {
    local free
    [ "$(id -u)" = 0 ] || skip "needs root (mounts, chroot)"
    [ -r /etc/os-release ] || skip "no /etc/os-release, so no Debian"
    # shellcheck source=/dev/null
    suite=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
    sources=$(debian_sources "$suite")
    [ -n "$suite" ] && [ -n "$sources" ] || skip "no package sources of Debian here"
    git -C "$project" rev-parse --verify -q HEAD >/dev/null || skip "no git repository at $project"
    if ! command -v mmdebstrap >/dev/null; then
        say "installing: mmdebstrap"
        { DEBIAN_FRONTEND=noninteractive apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends mmdebstrap; } >/dev/null 2>&1 ||
            skip "mmdebstrap is not installed, and apt-get cannot install it"
    fi
    mkdir -p "$cache"
    free=$(df -Pk "$cache" | awk 'NR == 2 { print int($4 / 1048576) }')
    [ "$free" -ge "$needed_gb" ] || skip "$cache has $free GB free, $needed_gb GB are needed"
    unshare --mount --pid --fork --kill-child bash -c 'mount -t tmpfs none /mnt && chroot / true' 2>/dev/null ||
        skip "mount or chroot is not permitted here"
}

# What apt is told about proxies, by its configuration or by the environment.
apt_proxies() {
    apt-config dump 2>/dev/null | grep -E '^Acquire::[a-z]+::Proxy "[^"]' || true
}

# The minimal root as a tar archive, kept with its checksum under a name that changes with the sources and with this list
# of packages. It takes its name when it is whole.
make_base() {
    local key line options=()
    key=$(printf '%s\n' "$suite" "$packages" "$sources" "$(apt_proxies)" | sha256sum | cut -c 1-16)
    base=$cache/base-$key.tar
    if ! $fresh && [ -e "$base" ] && [ -z "$(find "$base" -mtime +"$((most_days - 1))")" ] && (cd "$cache" && sha256sum --status -c "$base.sha256" 2>/dev/null); then
        return
    fi
    rm -f "$cache"/base-*
    while IFS= read -r line; do
        [ -z "$line" ] || options+=(--aptopt="$line")
    done < <(apt_proxies)
    local part
    part=$(mktemp "$cache/part.XXXXXX")
    printf '%s\n' "$sources" >"$part.list"
    say "making a minimal root of $suite"
    if ! mmdebstrap --quiet --variant=minbase --include="$packages" --format=tar "${options[@]}" "$suite" "$part" "$part.list" >"$part.log" 2>&1; then
        tail -n 20 "$part.log" >&2
        rm -f "$part" "$part.list" "$part.log"
        skip "mmdebstrap could not make a minimal root from this machine's package sources"
    fi
    rm -f "$part.list" "$part.log"
    (cd "$cache" && sha256sum "$(basename "$part")" | sed "s|$(basename "$part")|$(basename "$base")|" >"$base.sha256")
    mv "$part" "$base"
}

# Folders of runs that were killed: theirs is the one lock that can be taken.
remove_left() {
    local folder
    for folder in "$cache"/run.*; do
        [ -d "$folder" ] || continue
        if flock -n "$folder" true; then
            rm -rf --one-file-system "$folder"
        fi
    done
    find "$cache" -maxdepth 1 -name 'part.*' -mmin +120 -delete
}

# A port that takes connections and never answers; ends with this script. Debian always has perl.
dead_port() {
    # shellcheck disable=SC2016
    exec perl -MIO::Socket::INET -e '
        my $s = IO::Socket::INET->new(Listen => 100, LocalAddr => "127.0.0.1") or die;
        $| = 1; print $s->sockport, "\n"; sleep'
}

fill_root() {
    local registry name
    tar -C "$work" -xf "$base"
    git clone -q "$project" "$work/home/newcomer/project"
    if $no_npm; then
        exec {dead}< <(dead_port)
        listener=$!
        read -r registry <&"$dead"
        echo "registry=http://127.0.0.1:$registry/" >"$work/root/.npmrc"
    elif command -v npm >/dev/null; then
        registry=$(npm config get registry 2>/dev/null) && echo "registry=$registry" >"$work/root/.npmrc"
    fi
    if [ -n "$objects" ]; then
        mkdir -p "$objects" "$work/root/.cache/ccache"
        environment+=(CCACHE_BASEDIR=/home/newcomer/project CCACHE_NOHASHDIR=1 CCACHE_COMPILERCHECK=content)
    fi
    # certificates of a mirror, names of hosts, proxies
    [ ! -e /etc/ssl/certs/ca-certificates.crt ] || install -D -m 644 /etc/ssl/certs/ca-certificates.crt "$work/etc/ssl/certs/ca-certificates.crt"
    [ ! -e /etc/resolv.conf ] || cp -L /etc/resolv.conf "$work/etc/resolv.conf"
    [ ! -e /etc/hosts ] || cp -L /etc/hosts "$work/etc/hosts"
    apt_proxies >"$work/etc/apt/apt.conf.d/99proxies"
    for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
        [ -z "${!name-}" ] || environment+=("$name=${!name}")
    done
}

# inside COMMAND: runs it in the root, with mounts that nobody else sees.
inside() {
    # shellcheck disable=SC2016
    unshare --mount --pid --fork --kill-child --propagation private bash -c '
        set -e
        mount -t proc proc "$1/proc"
        mount --rbind /dev "$1/dev"
        mount -t sysfs -o ro sys "$1/sys" || true
        [ -z "$2" ] || mount --bind "$2" "$1/root/.cache/ccache"
        root=$1
        shift 2
        exec chroot "$root" /usr/bin/env -i "$@"' inside "$work" "$objects" "${environment[@]}" bash -c "cd /home/newcomer/project && $1" </dev/null
}

no_npm=false fresh=false objects='' listener='' commands=()
while [ $# -gt 0 ]; do
    case $1 in
    --no-npm) no_npm=true ;;
    --fresh) fresh=true ;;
    --ccache) ! command -v ccache >/dev/null || objects=$(ccache --get-config cache_dir) ;;
    --)
        shift
        commands=("$@")
        break
        ;;
    *)
        say "unknown option $1; see ./dev help"
        exit 2
        ;;
    esac
    shift
done
[ ${#commands[@]} -gt 0 ] || commands=("./dev run" "./dev test --quick")
environment=(HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb LANG=C.UTF-8
    NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt)

check_machine
remove_left
make_base
[ -z "$(git -C "$project" status --porcelain 2>/dev/null)" ] || say "what is not committed is left out"
work=$(mktemp -d "$cache/run.XXXXXX")
exec {lock}<"$work"
flock "$lock"
trap '[ -z "$listener" ] || kill "$listener"; rm -rf --one-file-system "$work"' EXIT
trap 'exit 130' INT TERM HUP
fill_root
for command in "${commands[@]}"; do
    begin=$SECONDS status=0
    say "$command$($no_npm && echo ' (npm reaches no registry)' || true)"
    inside "$command" || status=$?
    if [ "$status" != 0 ]; then
        say "FAILED with status $status after $((SECONDS - begin)) s: $command"
        exit "$status"
    fi
    say "ok, $((SECONDS - begin)) s: $command"
done
