# Runs nats-server with the arguments given, and has it read its certificates again when files in DIRECTORIES were replaced:
#
#   sh nats-run.sh DIRECTORIES --config nats.conf
#
# The server takes over the process id of this shell: signals of Kubernetes reach it. Files that it cannot use change nothing,
# and it says so in its log.
directories=$1
shift
server=$$

certificates() {
  for directory in $directories; do cat "$directory"/*; done | cksum
}

# Kubernetes itself takes a minute to bring a changed Secret to a node.
every=${PARLEY_NATS_CERTIFICATES_EVERY:-10}
known=$(certificates)
while sleep "$every" && kill -0 "$server"; do
  now=$(certificates)
  [ "$now" = "$known" ] && continue
  known=$now
  kill -HUP "$server"
done &

exec nats-server "$@"
