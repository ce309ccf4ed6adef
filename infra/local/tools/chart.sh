# What checks the Helm chart.
# Sourced by tools.sh.
# shellcheck shell=bash disable=SC2154 # tools.sh sets here, tools and the versions

# Helm and kubectl have no package in apt, and their downloads are at GitHub and Google; an npm package has both for x86-64.
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
