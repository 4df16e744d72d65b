#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# demo.sh
#
# Installs what building needs, builds hpcprof in build/, records a small program that has a
# problem (scripts/demo/wordcount.c), and prints where its time went. As root, through sudo, or as
# anybody when everything is installed.

set -u
cd "$(dirname "$0")/.." || exit 1
. scripts/dependencies.sh

install_dependencies build || exit 1

# However it is configured already, it will do.
if ! [ -e build/Makefile ]; then
	say 'Configuring in build/ ...'
	prepare build || exit 1
fi
say 'Building in build/ ...'
as_owner make -s -C build -j"$(nproc 2>/dev/null || echo 2)" hpcprof scripts/demo/wordcount \
	</dev/null || exit 1

run() {
	say
	say "\$ $*"
	"$@"
}

# Root may sample whatever the system forbids to others; the database is its owner's again.
run build/hpcprof record --db build/demo.db -- build/scripts/demo/wordcount
status=$?
if [ "$(id -u)" -eq 0 ] && [ -n "${SUDO_UID:-}" ] && [ -d build/demo.db ]; then
	chown -Rh "$SUDO_UID:${SUDO_GID:-$SUDO_UID}" build/demo.db
fi
if [ "$status" -ne 0 ]; then
	run build/hpcprof doctor
	exit "$status"
fi
run build/hpcprof report --db build/demo.db --percent-limit 1 || exit
say
say 'The same for your own program:'
say '  build/hpcprof record -- COMMAND...'
say '  build/hpcprof report'
