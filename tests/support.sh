# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What every test script shares; TAP on standard output. A script reads
#
#	#!/bin/sh
#	. "${top_srcdir:?}/tests/support.sh"
#	expect 'a sentence about one behaviour' COMMAND...     passes when COMMAND exits with 0
#	expect_status 2 'a sentence' COMMAND...                passes when it exits with that status
#	expect_said 'a sentence' TEXT                          passes when the last `expect` printed it
#	ok 'a sentence'; not_ok 'a sentence' 'what happened'   for tests of other shapes
#	skip 'a sentence' 'why this machine cannot'
#	finish
#
# $scratch is an empty directory of the script's own, removed when it ends; every script starts
# in it. $hpcprof is the program under test.
#
# Abilities, for `if`: is_root, can_be_nobody, can_sample [user|kernel|system|cycles],
# as_nobody can_sample. `require ABILITY... -- REASON` skips the whole script without it.

set -u
: "${top_srcdir:?run by make check}" "${top_builddir:?run by make check}"

tests_run=0
tests_failed=0
LC_ALL=C
export LC_ALL
# The build directory may be on a path that `nobody` cannot walk.
scratch=$(mktemp -d "${TMPDIR:-/tmp}/hpcprof-test.XXXXXX") || exit 99
trap 'rm -rf "$scratch"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
chmod 755 "$scratch"
cd "$scratch" || exit 99
# shellcheck disable=SC2034 # for the scripts
hpcprof=$top_builddir/hpcprof
# No setting of the person who runs the tests reaches them.
unset HPCPROF_DB DEBUGINFOD_URLS NO_COLOR 2>/dev/null
# Nor does what was measured on this machine for them. (Not even root can make that directory.)
export XDG_CACHE_HOME=/proc/nonexistent

ok() {
	tests_run=$((tests_run + 1))
	printf 'ok %d - %s\n' "$tests_run" "$1"
}

# not_ok SENTENCE [LINE...]: the lines say what was found instead.
not_ok() {
	tests_run=$((tests_run + 1))
	tests_failed=$((tests_failed + 1))
	printf 'not ok %d - %s\n' "$tests_run" "$1"
	shift
	for line_; do
		printf '%s\n' "$line_" | sed 's/^/# /'
	done
}

skip() {
	tests_run=$((tests_run + 1))
	printf 'ok %d - %s # SKIP %s\n' "$tests_run" "$1" "$2"
}

# For a script whose every test needs what is missing.
skip_all() {
	printf '1..0 # SKIP %s\n' "$1"
	exit 0
}

finish() {
	[ "$tests_run" -gt 0 ] || not_ok 'there is something to test'
	printf '1..%d\n' "$tests_run"
	[ "$tests_failed" -eq 0 ]
	exit
}

expect_status() {
	wanted_=$1
	sentence_=$2
	shift 2
	"$@" >"$scratch/.output" 2>&1 </dev/null
	status_=$?
	if [ "$status_" -eq "$wanted_" ]; then
		ok "$sentence_"
	else
		not_ok "$sentence_" "$* exited with $status_, not $wanted_" \
			"$(head -c 4000 "$scratch/.output")"
		return 1
	fi
}

expect() {
	expect_status 0 "$@"
}

expect_said() {
	if grep -qF -e "$2" "$scratch/.output"; then
		ok "$1"
	else
		not_ok "$1" "'$2' is not in:" "$(head -c 4000 "$scratch/.output")"
		return 1
	fi
}

# same FILE_WANTED FILE: for use with expect; shows the difference.
same() {
	diff -u "$1" "$2"
}

# contains FILE FIXED_STRING, lacks FILE FIXED_STRING: for use with expect.
contains() {
	grep -qF -e "$2" "$1" || {
		printf "no '%s' in:\n" "$2"
		cat "$1"
		return 1
	}
}
lacks() {
	! grep -F -e "$2" "$1"
}

is_root() {
	[ "$(id -u)" -eq 0 ]
}

# `nobody` gets copies of what is under test, since the build directory may be private.
public_=
make_public_() {
	[ -n "$public_" ] && return 0
	public_=$scratch/.public
	mkdir "$public_" && cp "$top_builddir/hpcprof" "$top_builddir/tests/can_sample" "$public_" &&
		chmod 755 "$public_" "$public_"/*
}

can_be_nobody() {
	is_root && command -v runuser >/dev/null &&
		runuser -u nobody -- true 2>/dev/null
}

# as_nobody COMMAND...: runs it as an ordinary user; when the tests run as one already, as that.
# hpcprof and can_sample are found by their bare names, in copies that `nobody` can read.
as_nobody() {
	if ! is_root; then
		PATH=$top_builddir:$top_builddir/tests:$PATH "$@"
		return
	fi
	make_public_ || return 99
	runuser -u nobody -- env "PATH=$public_:$PATH" HOME=/nonexistent "$@"
}

# A directory in $scratch that `nobody` may write to.
nobody_directory() {
	mkdir -p "$1" && { ! is_root || chown nobody "$1"; }
}

# Call as `can_sample [KIND]` for oneself or `as_nobody can_sample [KIND]`.
can_sample() {
	"$top_builddir/tests/can_sample" "$@" >"$scratch/.why"
}

paranoid() {
	cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null || echo none
}

# require ABILITY [ARGUMENT...] -- REASON
require() {
	ability_=
	while [ "$1" != -- ]; do
		ability_="$ability_ $1"
		shift
	done
	shift
	# shellcheck disable=SC2086 # split on purpose
	$ability_ >/dev/null 2>&1 || skip_all "$1"
}
