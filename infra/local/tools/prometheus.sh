# Prometheus and promtool, which test alerts and dashboards.
# Sourced by tools.sh.
# shellcheck shell=bash disable=SC2154 # tools.sh sets here, tools and the versions

# Out of the package of Debian or Ubuntu, which is not installed, as it would run a service. Each release of them has one version.
fetch_prometheus() {
  local to=$tools/prometheus-$PROMETHEUS_OLDEST
  [ -x "$to/prometheus" ] && [ -x "$to/promtool" ] && return 0
  command -v apt-get >/dev/null || fail "put prometheus and promtool $PROMETHEUS_OLDEST or later into $to"
  say "fetching Prometheus into $to"
  mkdir -p "$tools"
  local dir found
  dir=$(mktemp -d "$tools/.fetch-XXXXXX")
  download_package prometheus "$dir" || { as_root apt-get update -qq && download_package prometheus "$dir"; } ||
    { rm -rf "$dir"; fail "apt could not download the package prometheus: 'apt-get download prometheus' says why"; }
  dpkg-deb --extract "$dir"/prometheus_*.deb "$dir/package"
  found=$("$dir/package/usr/bin/promtool" --version 2>&1 | sed -n 's/^promtool, version \([0-9.]*\).*/\1/p')
  dpkg --compare-versions "${found:-0}" ge "$PROMETHEUS_OLDEST" ||
    { rm -rf "$dir"; fail "apt has Prometheus ${found:-of an unknown version}, and tests need $PROMETHEUS_OLDEST or later: put prometheus and promtool into $to"; }
  into_place "$dir" package/usr/bin "$to"
}

# download_package NAME DIRECTORY. apt's own user cannot write there: without the sandbox it does not try.
download_package() { (cd "$2" && apt-get download -qq -o APT::Sandbox::User=root "$1" 2>/dev/null); }
