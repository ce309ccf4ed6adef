#!/usr/bin/env bash
# The first process of a node, in its own network, mount, pid, ipc and host name namespaces (node.ts says who sets what).
# Gives the node its own /proc, /sys and state directories at their usual places, and keeps containerd, kubelet and
# kube-proxy running.
set -u

hostname "$NODE_NAME"
mount -t proc proc /proc

# The kubelet expects these settings of the whole kernel, which is shared with this machine: it sees files with the expected values.
mkdir -p "$NODE_DIR/sysctl"
for setting in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 \
  kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
  file=$NODE_DIR/sysctl/${setting%=*}
  mkdir -p "$(dirname "$file")"
  echo "${setting#*=}" >"$file"
  mount --bind "$file" "/proc/sys/${setting%=*}"
done

# /sys of this network namespace, with the existing cgroups. Mounts are made shared afterwards only: the unmount would propagate to them too.
cgroups=$NODE_DIR/cgroups
mkdir -p "$cgroups"
mount --rbind /sys/fs/cgroup "$cgroups"
mount -t sysfs sysfs /sys
mount --rbind "$cgroups" /sys/fs/cgroup
umount -R "$cgroups"
mount --make-rshared /

own() {
  mkdir -p "$NODE_DIR/$1" "$2"
  mount --bind "$NODE_DIR/$1" "$2"
  mount --make-shared "$2"
}
rm -rf "${NODE_DIR:?}"/run/*
own run /run
own containerd /var/lib/containerd
own kubelet /var/lib/kubelet
own cni /var/lib/cni
own networks /etc/cni/net.d
own pods /var/log/pods
own containers /var/log/containers
mkdir -p /run/lock

# Does the work of systemd. A kubelet that starts before containerd's CRI plugin exits once.
keep() {
  local log=$NODE_DIR/log/$1.log
  shift
  : >"$log"
  while :; do
    "$@" >>"$log" 2>&1
    sleep 0.5
  done
}
mkdir -p "$NODE_DIR/log"
keep containerd containerd --config "$NODE_DIR/containerd.toml" &
until ctr version >/dev/null 2>&1; do sleep 0.1; done
keep kubelet "$KUBERNETES/kubelet" --config="$NODE_DIR/kubelet.yaml" --kubeconfig="$NODE_KUBECONFIG" \
  --hostname-override="$NODE_NAME" --node-ip="$NODE_ADDRESSES" --node-labels="$NODE_LABELS" &
keep kube-proxy "$KUBERNETES/kube-proxy" --kubeconfig="$PROXY_KUBECONFIG" --hostname-override="$NODE_NAME" \
  --proxy-mode=iptables --cluster-cidr="$POD_NETWORKS" --conntrack-max-per-core=0 --conntrack-tcp-timeout-established=0 \
  --conntrack-tcp-timeout-close-wait=0 --metrics-bind-address=127.0.0.1:10249 &
wait
