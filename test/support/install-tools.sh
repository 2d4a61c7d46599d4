#!/usr/bin/env bash
# Finds redis-server, curl and Chromium, which the tests need. On Debian and Ubuntu, as root, it installs what is missing;
# elsewhere it says what to install and stops. It is quiet when all is there.
set -euo pipefail

has_redis() { command -v redis-server >/dev/null 2>&1; }
has_curl() { command -v curl >/dev/null 2>&1; }

has_chromium() {
  if [ -n "${CHROMIUM_PATH:-}" ]; then
    [ -x "$CHROMIUM_PATH" ] && return 0
    echo "CHROMIUM_PATH is $CHROMIUM_PATH, which is not a program. Correct it, or unset it." >&2
    exit 1
  fi
  command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 ||
    command -v google-chrome >/dev/null 2>&1 ||
    [ -x '/Applications/Chromium.app/Contents/MacOS/Chromium' ] ||
    [ -x '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome' ]
}

missing=()
has_redis || missing+=(redis-server)
has_curl || missing+=(curl)
has_chromium || missing+=(chromium)
[ "${#missing[@]}" -eq 0 ] && exit 0

explain() {
  echo "The tests need: ${missing[*]}." >&2
  echo >&2
  echo "  Debian, Ubuntu   sudo apt-get install --no-install-recommends ${missing[*]}" >&2
  echo "  Fedora           sudo dnf install ${missing[*]/redis-server/redis}" >&2
  local brew=()
  for tool in "${missing[@]}"; do
    case "$tool" in
      redis-server) brew+=('brew install redis') ;;
      curl) brew+=('brew install curl') ;;
      chromium) brew+=('brew install --cask chromium') ;;
    esac
  done
  printf '  macOS            %s\n' "${brew[@]}" >&2
  echo >&2
  echo 'Another Chromium can be named with CHROMIUM_PATH=/path/to/chromium. Then run npm test again.' >&2
  exit 1
}

[ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1 || explain

install() {
  apt-get update -qq &&
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# The package may start a Redis of its own on port 6379. The tests start theirs on a free port, so that one is stopped.
stop_own_redis() {
  if [ -d /run/systemd/system ] && command -v systemctl >/dev/null 2>&1; then
    systemctl disable --now redis-server >/dev/null 2>&1 || true
  elif [ -x /etc/init.d/redis-server ]; then
    /etc/init.d/redis-server stop >/dev/null 2>&1 || true
  fi
}

echo "Installing ${missing[*]} with apt-get, for the tests." >&2
install || { echo 'apt-get failed; trying once more.' >&2; install; } || explain
case " ${missing[*]} " in *' redis-server '*) stop_own_redis ;; esac
hash -r
has_redis && has_curl && has_chromium || explain
