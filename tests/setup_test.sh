#!/usr/bin/env bash
# scripts/setup.sh before it installs anything: what it says and asks, with programs that stand in for apt, dpkg and sudo.
#     tests/setup_test.sh
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

stand_in() { printf '#!/bin/sh\n%s\n' "$2" >"$work/bin/$1" && chmod +x "$work/bin/$1"; }
mkdir -p "$work/bin"
# Two packages are missing, and bring a third.
stand_in dpkg-query 'for name; do case $name in -*|*{*|libfmt-dev|gnuplot-nox) ;; *) echo "installed $name" ;; esac; done'
stand_in apt-get 'echo "apt-get $*" >>"$LOG"
case "$*" in *--print-uris*)
    echo "'"'"'http://x/libfmt-dev.deb'"'"' libfmt-dev.deb 1500000 MD5Sum:0"
    echo "'"'"'http://x/libfmt9.deb'"'"' libfmt9.deb 500000 MD5Sum:0"
    echo "'"'"'http://x/gnuplot-nox.deb'"'"' gnuplot-nox.deb 3000000 MD5Sum:0" ;;
esac'
stand_in sudo 'echo "sudo $*" >>"$LOG"; [ "$1" = -v ] || "$@"'

# attempt ROOT TERMINAL ANSWER: runs the installation; what was said is in $said, what was called in $called.
attempt() {
    local root_user=$1 terminal=$2 answer=$3
    cat >"$work/run.sh" <<SCRIPT
set -euo pipefail
root=$work
source "$here/../scripts/setup.sh"
is_root() { $root_user; }
at_terminal() { $terminal; }
set_up run
SCRIPT
    : >"$work/log"
    status=0
    said=$(printf '%s\n' "$answer" | LOG="$work/log" PATH="$work/bin:$PATH" bash "$work/run.sh" 2>&1) || status=$?
    called=$(cat "$work/log")
}
expect() {
    if ! eval "$2"; then
        printf 'FAILED: %s\n  said: %s\n  called: %s\n' "$1" "$said" "$called"
        failed=1
    fi
}

attempt true false ''
expect 'root installs without a question' '[[ $status == 0 && $called == *"install -y"* && $called != *sudo* ]]'
expect 'what is installed, and how large it is' '[[ $said == *"2 system packages"*"libfmt-dev gnuplot-nox"*"3 packages"*"5 MB"* ]]'

attempt false true n
expect 'a person is asked, and may refuse' '[[ $status == 1 && $said == *"[Y/n]"* && $called != *"install -y"* && $called != *sudo* ]]'
expect 'the command is left to the person' '[[ $said == *"apt-get install"* ]]'

attempt false true y
expect 'a person may agree' '[[ $status == 0 && $called == *"sudo"*"install -y"* ]]'

attempt false true ''
expect 'Enter agrees' '[[ $status == 0 && $called == *"install -y"* ]]'

attempt false false ''
expect 'where nobody can be asked, sudo decides' '[[ $status == 0 && $called == *"sudo"*"install -y"* ]]'

((failed)) || echo "setup: all as it should be"
exit $failed
