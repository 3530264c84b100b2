#!/usr/bin/env bash
# Installs what the end-to-end tests drain, where it is missing: Debian packages
# (as root, or by sudo) and npm packages (into the cache folder, without their
# scripts). It does nothing where all is there. With the name of a Debian package it looks after that one alone.
set -euo pipefail
only=${1:-}
cache=${LASTDROP_E2E_CACHE:-${TMPDIR:-/tmp}/lastdrop-e2e}
mkdir -p "$cache"
exec 9>"$cache/install.lock"
flock -w 300 9

say() { echo "e2e install: $*" >&2; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo -n "$@"
  else say "neither root nor sudo, needed for: $*"; return 1
  fi
}

# A package must not start a service of its own: dpkg asks policy-rc.d.
policy=/usr/sbin/policy-rc.d
hold_services() {
  [ -e "$policy" ] && return
  printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
  as_root chmod 755 "$policy"
  trap 'as_root rm -f "$policy"' EXIT
}

# need PACKAGE TEST...: notes the package where the test fails.
missing=()
need() {
  local package=$1; shift
  [ -z "$only" ] || [ "$only" = "$package" ] || return 0
  "$@" >/dev/null 2>&1 || missing+=("$package")
}
need nodejs node --version
need npm npm --version
need python3-djangorestframework /usr/bin/python3 -c 'import rest_framework'
need python3-django-filters /usr/bin/python3 -c 'import django_filters'
need etcd-server which etcd
need etcd-client which etcdctl
need docker-registry which docker-registry
need postgresql bash -c 'ls /usr/lib/postgresql/*/bin/initdb'
need strace strace -V
need chromium which chromium
if [ ${#missing[@]} -gt 0 ]; then
  say "apt-get install ${missing[*]}"
  hold_services
  apt=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=240)
  as_root "${apt[@]}" update >&2
  as_root "${apt[@]}" install -y --no-install-recommends "${missing[@]}" >&2
  for service in etcd docker-registry; do # nor with the next boot
    case " ${missing[*]} " in *" $service"*) as_root deb-systemd-helper disable "$service.service" >&2 || true ;; esac
  done
fi

[ -z "$only" ] || exit 0

# modules FOLDER PACKAGE@VERSION...: a folder of its own, made whole or not at all.
modules() {
  local dir=$cache/$1; shift
  [ "$(cat "$dir/installed" 2>/dev/null)" = "$*" ] && return
  say "npm install $*"
  rm -rf "$dir"
  mkdir -p "$dir"
  echo '{"private": true}' >"$dir/package.json"
  npm install --prefix "$dir" --ignore-scripts --no-audit --no-fund --no-package-lock --loglevel=error "$@" >&2
  echo "$*" >"$dir/installed"
}
modules json-server json-server@0.17.4
modules feathers @feathersjs/feathers@5.0.50 @feathersjs/express@5.0.50 feathers-nedb@7.0.1 @seald-io/nedb@4.1.2
modules postgraphile postgraphile@4.14.1
