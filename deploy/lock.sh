#!/bin/sh
# Writes the lock files from pyproject.toml: deploy/lock.sh UV_VERSION RUNTIME_LOCK EXTRAS_LOCK DEV_LOCK
# Universal: one file for every platform and Python that pyproject.toml allows. UPGRADE=1 takes the newest versions.
set -eu

uv_version=$1 runtime_lock=$2 extras_lock=$3 dev_lock=$4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"${MEMSTREAM_SETUP_PYTHON:-python3}" -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet --disable-pip-version-check "uv==$uv_version"

compile() {
    "$scratch/venv/bin/uv" pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes \
        --no-emit-index-url --no-emit-find-links --no-annotate --no-header ${UPGRADE:+--upgrade} "$@" >/dev/null
}

compile --extra build --output-file "$runtime_lock"
compile --extra build --extra msk --extra schema-registry --constraint "$runtime_lock" --output-file "$extras_lock"
compile --extra build --extra dev --constraint "$extras_lock" --output-file "$dev_lock"
grep -c '^[a-z]' "$runtime_lock" "$extras_lock" "$dev_lock"
