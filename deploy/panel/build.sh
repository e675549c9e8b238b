#!/bin/sh
# The panel's files (agents/api/panel/built) from its sources:
#   deploy/panel/build.sh          builds them anew
#   deploy/panel/build.sh --check  says whether they are what the sources make; without Node or network it compares digests of both.
#                                  What passed once is not built again until something of it changes
set -eu
cd "$(dirname "$0")"
built=../../agents/api/panel/built

sources() { # all that decides what is built; types of the API are checked, and leave nothing in what is built
    find package.json package-lock.json tsconfig.json vite.config.ts index.html src -type f ! -name '*.gen.ts' | LC_ALL=C sort
}
checked=node_modules/.checked
all() { # what a check reads: sources, types of the API, and what is committed of the build
    { sources; find src/api -name '*.gen.ts'; find "$built" -type f; echo ../../schemas/generated/openapi.json; } |
        xargs sha256sum | LC_ALL=C sort | sha256sum | cut -d ' ' -f 1
}
digest() { xargs sha256sum | sha256sum | cut -d ' ' -f 1; }
digests() { # of the sources, and of what they made
    echo "sources $(sources | digest)"
    echo "built $(find "$built" -type f | LC_ALL=C sort | digest)"
}

if [ "${1:-}" != --check ]; then
    npm ci --silent
    npm run --silent build
    digests >built.sha256
    exit
fi

if [ "$(digests)" != "$(cat built.sha256)" ]; then
    echo "deploy/panel: its sources or its built files changed since it was built: run \`make panel\`" >&2
    exit 1
fi
if [ "$(cat "$checked" 2>/dev/null)" = "$(all)" ]; then exit; fi
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
all >"$checked"
