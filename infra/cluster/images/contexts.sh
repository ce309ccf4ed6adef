#!/usr/bin/env bash
# Makes what the stand-ins for public images are built from and no tool brings along: contexts.sh debian|pause DIRECTORY
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# A bare Debian, as the public image is one: without manuals and lists of packages.
debian() {
  debootstrap --variant=minbase --include=ca-certificates,libstdc++6 bookworm "$1/root" >"$1/debootstrap.log"
  rm -rf "$1"/root/var/cache/apt/archives/*.deb "$1"/root/var/lib/apt/lists/* "$1"/root/usr/share/{doc,man,locale}/*
  # Where packages come through a proxy with a CA of its own, this machine knows it; the Dockerfiles need not.
  cp /etc/ssl/certs/ca-certificates.crt "$1/root/etc/ssl/certs/"
  tar -C "$1/root" -cf "$1/root.tar" .
  rm -rf "$1/root"
}

pause() {
  cc -Os -static -s -o "$1/pause" "$here/pause.c"
}

rm -rf "$2"
mkdir -p "$2"
"$1" "$2"
