# The Rust toolchain, and the tools that cargo builds.
# Sourced by tools.sh.
# shellcheck shell=bash disable=SC2154 # tools.sh sets here, tools and the versions

# Uses the system's Rust if rustup has the version; otherwise rustup installs it into the cache and changes no shell profile.
fetch_rust() {
  local version to
  version=$(sed -n 's/^channel = "\(.*\)"/\1/p' "$here/../../rust-toolchain.toml")
  to=$tools/rust-$version
  [ -x "$to/bin/cargo" ] && return 0
  if [ "$(cd "$here/../.." && cargo --version 2>/dev/null | cut -d ' ' -f 2)" = "$version" ] &&
    cargo clippy --version >/dev/null 2>&1 && cargo fmt --version >/dev/null 2>&1; then
    return 0
  fi
  # Rust links with the system's compiler.
  command -v cc >/dev/null || { as_root apt-get update -qq && apt_install gcc libc6-dev; }
  say "fetching Rust $version into $to"
  mkdir -p "$tools"
  local dir
  dir=$(mktemp -d "$tools/.fetch-XXXXXX")
  python3 - "$RUSTUP_VERSION" "$(uname -m)" "$dir/rustup-init" <<'PYTHON' || { rm -rf "$dir"; fail "could not fetch rustup"; }
import sys, urllib.request
version, machine, to = sys.argv[1:]
base = f"https://static.rust-lang.org/rustup/archive/{version}/{machine}-unknown-linux-gnu/rustup-init"
urllib.request.urlretrieve(base, to)
PYTHON
  chmod 755 "$dir/rustup-init"
  RUSTUP_HOME=$dir/rustup CARGO_HOME=$dir/cargo RUSTUP_INIT_SKIP_PATH_CHECK=yes "$dir/rustup-init" -y --quiet \
    --no-modify-path --profile minimal --component rustfmt --component clippy --default-toolchain "$version" >/dev/null ||
    { rm -rf "$dir"; fail "rustup could not install Rust $version: see above"; }
  into_place "$dir" "rustup/toolchains/$version-$(uname -m)-unknown-linux-gnu" "$to"
}

# Cargo identifies a crate of the workspace by its path within the clone, and compiles it again only if a source is newer than the result.
# Of two clones that share a target directory, one would run what the other compiled; so the sources of a clone become new when it was the other's turn.
claim_target_directory() {
  local clone stamp=${CARGO_TARGET_DIR:-}/clone.txt
  [ -n "${CARGO_TARGET_DIR:-}" ] || return 0
  clone=$(cd "$here/../.." && pwd)
  [ "$(cat "$stamp" 2>/dev/null)" = "$clone" ] && return 0
  find "$clone" -name node_modules -prune -o -name '*.rs' -exec touch {} +
  mkdir -p "$CARGO_TARGET_DIR"
  printf '%s\n' "$clone" >"$stamp"
}

# fetch_cargo_tool CRATE VERSION [PROGRAM [FLAGS...]]: builds it with little optimisation, as these tools run for seconds. The flags are those of
# `cargo install`; without any, with the lock file of the crate.
fetch_cargo_tool() {
  local crate=$1 version=$2 program=${3:-$1} to=$tools/$1-$2
  shift 2
  shift $(($# > 0 ? 1 : 0))
  [ $# -gt 0 ] || set -- --locked
  [ -x "$to/$program" ] && return 0
  say "building $crate $version with cargo, some minutes"
  mkdir -p "$tools"
  local dir
  dir=$(mktemp -d "$tools/.fetch-XXXXXX")
  (
    cd "$here"
    PATH=$tools/rust-$(sed -n 's/^channel = "\(.*\)"/\1/p' ../../rust-toolchain.toml)/bin:$PATH
    CARGO_TARGET_DIR=$dir/target CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_OPT_LEVEL=1 \
      CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_DEBUG=0 \
      nice cargo install --quiet --no-track --root "$dir" "$@" "$crate@$version"
  ) || { rm -rf "$dir"; fail "cargo could not build $crate: see above"; }
  into_place "$dir" bin "$to"
}
