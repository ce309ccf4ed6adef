#!/bin/sh
# Starts Chromium among the people, see makePeople in src/cgroups.ts. Version 1 of cgroups has a hierarchy for processors.
for procs in /sys/fs/cgroup/parley-people/cgroup.procs /sys/fs/cgroup/cpu*/parley-people/cgroup.procs; do
  [ ! -w "$procs" ] || echo $$ >"$procs"
done
exec "${PARLEY_CHROMIUM:-/usr/bin/chromium}" "$@"
