#!/bin/sh
# Prepares .venv for the Makefile. What the machine lacks is said in one line with its remedy, before anything happens.
#   deploy/setup.sh usable         whether there is a usable .venv
#   deploy/setup.sh check          a usable .venv, or a Python that can make one
#   deploy/setup.sh install LOCK   what LOCK pins, then the project itself
set -eu

python=${MEMSTREAM_SETUP_PYTHON:-python3}
chosen=${MEMSTREAM_SETUP_CHOSEN:-}
venv=.venv
oldest=3.11
newest=3.13

fail() {
    printf 'memstream: %s\n' "$*" >&2
    exit 1
}

# Written so that even Python 2 can run it.
version_of() {
    "$1" -c 'import sys; sys.stdout.write("%d.%d" % sys.version_info[:2])' 2>/dev/null
}

supported() {
    case $1 in 3.11 | 3.12 | 3.13) return 0 ;; *) return 1 ;; esac
}

usable() {
    version=$(version_of "$venv/bin/python") && supported "$version" || return 1
    [ -z "$chosen" ] || [ "$version" = "$(version_of "$python")" ]
}

check_python() {
    version=$(version_of "$python") ||
        fail "$python cannot be run; install Python $oldest to $newest, or name one: make PYTHON=/path/to/python3.12 ..."
    supported "$version" ||
        fail "$python is Python $version, and memstream needs $oldest to $newest; name another: make PYTHON=/path/to/python3.12 ..."
    "$python" -c 'import venv, ensurepip' 2>/dev/null ||
        fail "$python has no venv module; on Debian and Ubuntu: apt-get install python$version-venv"
}

make_venv() {
    printf 'memstream: making %s with Python %s\n' "$venv" "$(version_of "$python")"
    rm -rf "$venv"
    "$python" -m venv "$venv" || fail "$python could not make $venv; the lines above say why"
}

# Through pip itself, so that mirrors, proxies and local folders count as they will for the rest.
check_index() {
    setuptools=$(sed -n 's/^\(setuptools==[^ ;]*\).*/\1/p' "$1")
    probe=$(mktemp -d)
    trap 'rm -rf "$probe"' EXIT
    "$venv/bin/pip" --retries 1 --timeout 15 download --quiet --no-deps --dest "$probe" "$setuptools" >"$venv/install.log" 2>&1 ||
        fail "pip cannot fetch $setuptools; connect to the network, or set PIP_INDEX_URL to a mirror (details: $venv/install.log)"
}

# One line that moves on a terminal, one line in a log.
show_progress() {
    if [ -t 1 ]; then
        awk -v total="$1" '/^Collecting /{ printf "\r\033[K  %d of at most %d: %s", ++n, total, $2; fflush() } END { printf "\r\033[K" }'
    else
        cat >/dev/null
    fi
}

install_lock() {
    total=$(grep -c '^[a-z]' "$1")
    printf 'memstream: installing what %s pins (the first time some 170 MB are fetched)\n' "$1"
    {
        "$venv/bin/pip" install --progress-bar off --require-hashes -r "$1" 2>&1 || echo "pip failed"
    } | tee "$venv/install.log" | show_progress "$total"
    ! grep -q '^pip failed$' "$venv/install.log" ||
        fail "$(sed -n 's/^ERROR: *//p' "$venv/install.log" | head -n 1) (pip's whole output: $venv/install.log)"
}

install_project() {
    "$venv/bin/pip" install --quiet --no-deps --no-build-isolation -e . >"$venv/install.log" 2>&1 ||
        fail "the project itself could not be installed; pip's output is in $venv/install.log"
}

export PIP_DISABLE_PIP_VERSION_CHECK=1
case ${1:-} in
usable) usable ;;
check)
    usable || check_python
    ;;
install)
    if ! usable; then
        check_python
        make_venv
    fi
    [ -e "$venv/.runtime" ] || check_index "$2"
    install_lock "$2"
    install_project
    ;;
*) fail "usage: deploy/setup.sh usable | check | install LOCK" ;;
esac
