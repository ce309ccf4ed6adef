# Packages of Debian and Ubuntu.
# Sourced by tools.sh.
# shellcheck shell=bash disable=SC2154 # tools.sh sets here, tools and the versions

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

# The tools that build images.
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

# What copies images between layouts and registries; for a test also a registry, otherwise qemu, in which the images of other
# machines are built.
install_copy_packages() {
  local missing=()
  command -v skopeo >/dev/null || missing+=(skopeo)
  if [ "${STAND_INS:-}" = 1 ]; then
    command -v docker-registry >/dev/null || missing+=(docker-registry)
  else
    command -v qemu-aarch64-static >/dev/null || missing+=(qemu-user-static)
  fi
  [ ${#missing[@]} -gt 0 ] || return 0
  say "installing with apt: ${missing[*]}"
  as_root apt-get update -qq
  without_services apt_install "${missing[@]}"
}

# The programs of the lab's nodes, and the tools that make their images and networks. None of them runs as a service of
# this machine.
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

# Debian's packages start their services: coturn a TURN server on 3478, docker-registry a registry. Parley runs its own:
# policy-rc.d forbids the start for the packages of this call.
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

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  else
    command -v sudo >/dev/null || fail "not root and no sudo: run as root once: $*"
    sudo "$@"
  fi
}

is_ubuntu() { grep -q '^ID=ubuntu' /etc/os-release 2>/dev/null; }
in_sbin() { command -v "$1" >/dev/null || [ -x "/usr/sbin/$1" ] || [ -x "/sbin/$1" ]; }

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
