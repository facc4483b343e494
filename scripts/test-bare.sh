#!/usr/bin/env bash
# As root: runs `npm ci && npm test` on a copy of HEAD where no database, ZooKeeper, browser or root right can be used.
# Usage: scripts/test-bare.sh [user]   (default: nobody)
set -euo pipefail
user=${1:-nobody}
cd "$(dirname "$0")/.."
export BARE_USER=$user BARE_FOLDER
BARE_FOLDER=$(mktemp -d)
trap 'rm -rf "$BARE_FOLDER"' EXIT
git archive HEAD | tar x -C "$BARE_FOLDER"
chown -R "$user" "$BARE_FOLDER"

# In a mount namespace of its own, files and folders of the services are hidden.
unshare --mount bash -euc '
  for tool in mariadbd mysqld pgbouncer redis-server haproxy nginx promtool psql chromium faketime java; do
    for path in {/usr,}/{bin,sbin}/$tool /usr/local/bin/$tool; do
      if [ -f "$path" ] && [ ! -L "${path%/*}" ]; then mount --bind /dev/null "$path"; fi
    done
  done
  for folder in /usr/lib/postgresql /usr/lib/chromium /usr/share/zookeeper; do
    if [ -d "$folder" ]; then mount -t tmpfs none "$folder"; fi
  done
  cd "$BARE_FOLDER"
  exec setpriv --reuid "$BARE_USER" --clear-groups env HOME="$BARE_FOLDER" bash -c "npm ci && npm test"
'
