#!/usr/bin/env bash
# Installs tools on Debian or Ubuntu: packages by apt, everything else into a cache outside the clone. Needs bash and apt
# only, and does nothing when all tools are installed. The functions are in tools/*.sh.
#
#   run      what the local stack needs: coturn, Node.js, nats-server, Envoy
#   test     the same, and browsers, nftables, Xvfb, a sound server and Prometheus for the tests
#   rust     the Rust toolchain that rust-toolchain.toml names
#   load     k6; needs Go
#   chart    Helm, helm-unittest, kubeconform and schemas, promtool, which check the chart; needs Go
#   cluster  the programs of the Kubernetes lab; needs Go unless prebuilt copies exist
#   stock    clients of MoQ that others wrote
#   livekit  the SFU of LiveKit, which a bench compares; needs Go
#   deny     cargo-deny, which checks the crates
#   sbom     the tools that build images and list their contents; needs Go
#   programs what compiles the programs of a release
#   release  what builds, packs, copies and signs the other parts of a release; needs Go
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=versions.env
source "$here/versions.env"
tools=${PARLEY_CACHE:-$HOME/.cache/parley}/tools
# Since this release Node.js runs TypeScript sources directly.
node_major=24

say() { printf 'tools: %s\n' "$*"; }
fail() {
  printf 'tools: %s\n' "$*" >&2
  exit 1
}

for file in "$here"/tools/*.sh; do
  # shellcheck source=/dev/null
  source "$file"
done

main() {
  case ${1:-run} in
    run | test) ;;
    load)
      fetch_k6
      return
      ;;
    rust)
      fetch_rust
      claim_target_directory
      return
      ;;
    chart)
      fetch_helm
      fetch_helm_unittest
      fetch_go_tool kubeconform "$KUBECONFORM_VERSION" github.com/yannh/kubeconform/cmd/kubeconform
      fetch_kubernetes_schemas
      fetch_prometheus
      return
      ;;
    cluster)
      install_cluster_packages
      fetch_helm
      fetch_kubectl
      fetch_kubernetes
      fetch_coredns
      fetch_go_tool nats "$NATS_CLI_VERSION" github.com/nats-io/natscli/nats
      return
      ;;
    stock)
      fetch_rust
      # Without gateways to other systems, and without its lock file: that names versions of crates which not every registry has.
      fetch_cargo_tool moq-cli "$MOQ_CLI_VERSION" moq --no-default-features --features noq,websocket
      return
      ;;
    livekit)
      fetch_go_tool livekit-server "$LIVEKIT_VERSION" github.com/livekit/livekit-server/cmd/server
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
      fetch_syft
      return
      ;;
    programs)
      fetch_compilers
      return
      ;;
    release)
      install_image_packages
      install_copy_packages
      fetch_helm
      fetch_syft
      fetch_go_tool cosign "$COSIGN_VERSION" github.com/sigstore/cosign/v3/cmd/cosign \
        "-X sigs.k8s.io/release-utils/version.gitVersion=v$COSIGN_VERSION"
      return
      ;;
    *) fail "usage: tools.sh [run|test|load|rust|chart|cluster|stock|livekit|deny|sbom|programs|release]" ;;
  esac
  refuse_macos
  command -v apt-get >/dev/null || fail "this script knows apt (Debian, Ubuntu). Elsewhere install coturn, openssl and \
Node.js $node_major or later, and put nats-server $NATS_VERSION and envoy $ENVOY_VERSION into PATH."

  install_packages "${1:-run}"
  command -v node >/dev/null && [ "$(node -p 'process.versions.node.split(".")[0]')" -ge "$node_major" ] || fetch_node
  fetch_nats
  fetch_envoy
  if [ "${1:-run}" = test ]; then
    fetch_prometheus
    check_chromium
  fi
}

# The documents name the version that made them.
fetch_syft() {
  fetch_go_tool syft "$SYFT_VERSION" github.com/anchore/syft/cmd/syft "-X main.version=$SYFT_VERSION"
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

main "$@"
