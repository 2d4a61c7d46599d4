#!/usr/bin/env bash
# Unpacks valkey-server from Debian's packages (the release's own, or its backports) into the folder that is named, without
# installing it. Exit 1 where this system, or its Debian, does not have it.
set -euo pipefail
target=$1

[ -x "$target/usr/bin/valkey-server" ] && exit 0
for tool in apt-get dpkg; do command -v "$tool" >/dev/null 2>&1 || exit 1; done
codename=$(. /etc/os-release && [ "${ID:-}" = debian ] && echo "${VERSION_CODENAME:-}")
[ -n "$codename" ] || exit 1

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir -p "$place/lists/partial" "$place/cache/archives/partial"
for suite in "$codename" "$codename-backports"; do
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $suite main"
done >"$place/sources.list"
apt() {
  apt-get -qq -o Dir::Etc::SourceList="$place/sources.list" -o Dir::Etc::SourceParts=- \
    -o Dir::State::lists="$place/lists" -o Dir::Cache="$place/cache" -o APT::Sandbox::User=root "$@"
}
apt update
cd "$place"
# the program is in valkey-tools; valkey-server is a link to it
apt -t "$codename-backports" download valkey-tools || apt download valkey-tools
mkdir -p "$target"
dpkg -x valkey-tools_*.deb "$target"
ln -sf valkey-check-rdb "$target/usr/bin/valkey-server"
"$target/usr/bin/valkey-server" --version >/dev/null
