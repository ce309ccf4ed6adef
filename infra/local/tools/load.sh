# The load generator.
# Sourced by tools.sh.
# shellcheck shell=bash disable=SC2154 # tools.sh sets here, tools and the versions

# k6 has no package in apt or at PyPI. A prebuilt binary is taken from the directory named by PARLEY_LAB_CACHE if it has
# one; otherwise Go builds it, which takes some minutes.
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
