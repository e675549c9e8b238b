#!/bin/sh
# The panel's files (agents/api/panel/built) from its sources:
#   deploy/panel/build.sh          builds them anew
#   deploy/panel/build.sh --check  says whether they are what the sources make; without Node it compares a digest of the sources
set -eu
cd "$(dirname "$0")"
built=../../agents/api/panel/built

sources() { # all that decides what is built; types of the API are checked, and leave nothing in what is built
    find package.json package-lock.json tsconfig.json vite.config.ts index.html public src -type f ! -name '*.gen.ts' | LC_ALL=C sort
}
digest() { sources | xargs sha256sum | sha256sum | cut -d ' ' -f 1; }

if [ "${1:-}" != --check ]; then
    npm ci --silent
    npm run --silent build
    digest >built.sha256
    exit
fi

if [ "$(digest)" != "$(cat built.sha256)" ]; then
    echo "deploy/panel: its sources changed since it was built: run \`make panel\`" >&2
    exit 1
fi
skip() { echo "deploy/panel: $1: the panel was not built again to compare"; exit; }
command -v npm >/dev/null || skip "there is no Node on this machine"
node -e 'const [major, minor] = process.versions.node.split("."); process.exit(+(major < 20 || (major == 20 && minor < 19)))' ||
    skip "Node is older than 20.19"
npm ping >/dev/null 2>&1 || skip "the packages cannot be fetched"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
npm ci --silent
npm run --silent check
npx vite build --logLevel error --outDir "$scratch/built"
diff -r "$built" "$scratch/built" || {
    echo "deploy/panel: what is committed is not what its sources make: run \`make panel\`" >&2
    exit 1
}
