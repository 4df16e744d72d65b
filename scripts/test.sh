#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# test.sh [--quick | --sanitize | --fuzz [SECONDS]]
#
# Installs what testing needs, builds with warnings as errors, and runs every test: those of the PMU and of
# Yama in emulated machines (made in build/guest and build/guest-x86; the first time that downloads
# some 70 MB of packages); the live ones, when root runs this, as an ordinary user, and as root, too,
# where root's rights make a difference.
# --quick builds what changed since the last commit (with a clean tree: since the one before) and runs
# the unit tests of these folders and the checks of the whole tree; it takes a minute.
# --sanitize does it under AddressSanitizer and UndefinedBehaviorSanitizer, and again under
# ThreadSanitizer. --fuzz runs each fuzz target for that long, 60 s unless told, under the first two
# (with clang; inputs that fail stay in build-fuzz/tests/fuzz/found). The last line is
#
#	N passed, N failed, N skipped
#
# and before it stands each test that failed or was skipped, and why. Exit status 1 when any failed
# or none ran. A live test that fails is run again, alone, as what else the machine does may be the
# cause; FAILED ONCE says what it was. How long each phase took stands before the totals.

set -u
cd "$(dirname "$0")/.." || exit 1
. scripts/dependencies.sh

usage() {
	say 'usage: scripts/test.sh [--quick | --sanitize | --fuzz [SECONDS]]'
	exit 2
}

quick=
sanitize=
fuzz_seconds=
case ${1:-} in
'') ;;
--quick) quick=yes ;;
--sanitize) sanitize=yes ;;
--fuzz)
	fuzz_seconds=${2:-60}
	case $fuzz_seconds in
	0* | *[!0-9]*) usage ;;
	esac
	;;
*) usage ;;
esac

# Where the results lie: DIRECTORY holds *.log and *.trs of one run of the tests.
results=
# Runs a script, which is ended with all that it has started, and has failed, if it hangs. None takes half as
# long; under sanitizers they take many times as long.
guard="timeout -k 10 $([ -z "$sanitize" ] && echo 400 || echo 7200)"
# For this run: what broke down, and what nobody is given.
stage=$(mktemp -d) || exit 1
trap 'rm -rf "$stage"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# A run that broke down before it had results.
broken() {
	say "FAIL: $1"
	echo "FAIL: $1" >>"$stage/trouble"
}

# phase [NAME]: what begins; how many seconds each took is said at the end.
phases=
phase_now=
phase() {
	phase_end=$(date +%s)
	[ -z "$phase_now" ] || phases="$phases${phases:+, }$phase_now $((phase_end - phase_began)) s"
	phase_now=${1:-}
	phase_began=$phase_end
}

# of_makefile NAME DIRECTORY: what it has there.
of_makefile() {
	sed -n "s/^$1 = //p" "$2/Makefile"
}

# test_flags CFLAGS|LDFLAGS DIRECTORY: for make. Nobody looks at variables here, so there is no debugging
# information of them. Unit tests are compiled in half the time so, and linked in half, and run hardly longer.
test_flags() {
	everywhere=
	case $1 in
	CFLAGS)
		everywhere=-g1
		faster=-O1
		;;
	*)
		for faster in -fuse-ld=lld -fuse-ld=gold ''; do
			# shellcheck disable=SC2046,SC2086 # a command with its options; nothing
			! echo 'int main(void) { return 0; }' |
				$(of_makefile CC "$2") $faster -x c -o "$stage/linked" - 2>/dev/null || break
		done
		;;
	esac
	# shellcheck disable=SC2016 # for make
	printf '%s=%s %s $(if $(findstring /test_,$@)$(findstring /fuzz_,$@),%s)' "$1" "$(of_makefile "$1" "$2")" \
		"$everywhere" "$faster"
}

# build_and_check DIRECTORY OPTION...
build_and_check() {
	build=$1
	jobs=$(nproc 2>/dev/null || echo 2)
	phase "$build: configure"
	{ make_configure && as_owner mkdir -p "$build"; } || {
		broken 'autoreconf'
		return 1
	}
	find "$build" \( -name '*.trs' -o -name '*.log' \) ! -name config.log -type f -delete
	# They are downloaded, and made, while others are.
	[ -n "$sanitize" ] || make_guests "$build" &
	prepare "$@" || {
		broken "$build: configure"
		wait
		return 1
	}
	phase build
	# Tests that a sanitizer's runtime would fail know by SANITIZED. Addresses that the kernel
	# spreads too widely are more than ThreadSanitizer can map.
	fixed=
	case "$*" in
	*--enable-asan*) export SANITIZED=address ;;
	*--enable-tsan*)
		export SANITIZED=thread TSAN_OPTIONS=die_after_fork=0
		setarch "$(uname -m)" -R true 2>/dev/null && fixed="setarch $(uname -m) -R"
		;;
	esac
	# In units, unless files were compiled one by one here before.
	makefile=Makefile
	targets=check-build
	[ -n "$sanitize" ] || [ -e "$build/src/base/error.o" ] || {
		makefile=$PWD/tests/units.mk
		targets='check-build files-alone'
	}
	# shellcheck disable=SC2086 # nothing, or a command with its options; words
	as_owner $fixed make -s -C "$build" -f "$makefile" -j"$jobs" $targets "$(test_flags CFLAGS "$build")" \
		"$(test_flags LDFLAGS "$build")" </dev/null
	built=$?
	wait
	[ "$built" -eq 0 ] || {
		broken "$build: the build"
		return 1
	}
	mkdir -p "$stage/log"
	phase 'tests beside each other'
	can_be_nobody && copy_for_nobody "$build"
	# As nobody they run beside the others: live tests wait as long as they run.
	[ ! -d "$stage/build" ] || live_tests beside nobody | run_as_nobody "$jobs" &
	# The longest first; those that measure programs come later, since they need a CPU.
	all=$(make -s -C "$build" list-tests | tr ' ' '\n')
	run_tests "$jobs" "$(printf '%s\n' "$all" | grep /guest/
		live_tests beside
		printf '%s\n' "$all" | grep -v -e /guest/ -e /live/ -e /attack/)"
	wait
	for way in each alone; do
		phase "$way"
		[ "$way" = each ] || jobs=1
		# In one queue, so that no CPU waits for the last of one user's before those of the other.
		{
			live_tests "$way" | sed 's/^/self /'
			[ ! -d "$stage/build" ] || live_tests "$way" nobody | sed 's/^/nobody /'
		} | run_as "$jobs"
	done
	phase again
	try_again
	phase
	results="$results $build"
	[ -n "$(find "$build" -name '*.trs' -print -quit)" ] || broken "$build: make check"
	[ ! -d "$stage/build" ] || {
		cp "$stage"/log/*.log "$stage"/log/*.trs "$build/nobody" 2>/dev/null
		rm -rf "$stage/source" "$stage/build" "$stage/log"
	}
}

# Folders of src/ and tests/ whose files changed. What profile and infer do is tested through reports.
changed_folders() {
	{
		git diff --name-only HEAD
		git ls-files --others --exclude-standard
	} >build/changed
	[ -s build/changed ] || git diff --name-only HEAD~1 HEAD >build/changed
	awk -F / '
		/^(src|tests)\/[^\/]*\// { print $2 }
		/^include\/hpcprof\// { print $3 }
		/^scripts\// { print "scripts" }
		/\/(profile|infer)\// { print "report" }' build/changed | sort -u
}

# The unit tests of what changed, and what looks at the whole tree.
check_quickly() {
	jobs=$(nproc 2>/dev/null || echo 2)
	prepare build --enable-werror || {
		broken 'build: configure'
		return
	}
	find build \( -name '*.trs' -o -name '*.log' \) ! -name config.log -type f -delete
	changed=$(changed_folders | tr '\n' ' ')
	# shellcheck disable=SC2046,SC2086 # lists of names
	tests=$(make -s -C build list-tests | tr ' ' '\n' | grep -v -e /live/ -e /guest/ -e /attack/ |
		grep -e '^scripts/check-layers' -e '^tests/cli/readmes' -e '^tests/cli/words' \
			$(printf ' -e ^tests/%s/' $changed))
	# shellcheck disable=SC2046,SC2086 # as above
	helpers=$(make -s -C build list-helpers | tr ' ' '\n' | while read -r helper; do
		echo "$helper" | grep -e '^tests/can_sample$' $(printf ' -e ^tests/%s/' $changed) ||
			! grep -qsF "/$helper" $tests || echo "$helper"
	done)
	say "Testing: $changed"
	# Each log is a target that needs its test alone, not what the test runs.
	# shellcheck disable=SC2086 # as above
	as_owner make -s -C build -k -j"$jobs" hpcprof $helpers \
		"$(test_flags CFLAGS build)" "$(test_flags LDFLAGS build)" </dev/null 2>&1
	# shellcheck disable=SC2046,SC2086 # as above
	as_owner make -s -C build -k -j"$jobs" $(printf '%s.log ' $tests | sed 's/\.test\.log/.log/g') \
		"$(test_flags CFLAGS build)" "$(test_flags LDFLAGS build)" </dev/null 2>&1 | grep -v '^PASS: '
	results=build
}

# Every fuzz target for its time.
fuzz() {
	command -v clang >/dev/null || {
		broken 'clang is missing: the fuzz targets need its libFuzzer'
		return
	}
	prepare build-fuzz --enable-fuzz --enable-asan --enable-ubsan CC=clang || {
		broken 'build-fuzz: configure'
		return
	}
	# Not in one call: Automake's `all` is a make of its own, and both would build the same files.
	for target in all fuzz-targets; do
		as_owner make -s -C build-fuzz -j"$(nproc 2>/dev/null || echo 2)" "$target" </dev/null || {
			broken 'build-fuzz: the build'
			return
		}
	done
	{
		as_owner make -s -C build-fuzz fuzz "FUZZ_SECONDS=$fuzz_seconds" </dev/null 2>&1 ||
			echo 'STOPPED: make fuzz'
	} | tee build-fuzz/fuzz.log
}

# live_tests alone|each|beside|'*' [nobody]: those that say in their first lines that they measure, and so
# want the machine for themselves; that they want a CPU each; or the others. What says that it does not
# depend on who runs it runs once, where both are possible: as nobody, or as root if it says that.
live_tests() {
	for test in tests/live/*.test tests/shadow/attack/*.test; do
		case $(head -n 5 "$test") in
		*'# Measures.'*) wants=alone ;;
		*'# Measures, on one CPU.'*) wants=each ;;
		*) wants=beside ;;
		esac
		[ "$1" = "*" ] || [ "$wants" = "$1" ] || continue
		case ${2:-}$([ -d "$stage/build" ] && head -n 5 "$test" | grep '^# [A-Z][a-z]* user\.') in
		'# Any user.'* | 'nobody# Root user.'*) continue ;;
		esac
		echo "$test"
	done
}

# run_tests JOBS TESTS
run_tests() {
	# shellcheck disable=SC2086 # as above
	$fixed make -s -C "$build" -f "$makefile" -k -j"$1" check TESTS="$(echo "$2" | tr '\n' ' ')" \
		TEST_LOG_COMPILER="$guard" </dev/null 2>&1 | grep -v '^PASS: '
}

# those_that_failed LOG: of the tests that standard input names; `LOG TEST` prints the path of its log without
# the ending.
those_that_failed() {
	while read -r test; do
		log=$("$1" "$test")
		grep -q '^:recheck: yes' "$log.trs" 2>/dev/null || continue
		sed -n 's/^\(FAIL\|ERROR\): /FAILED ONCE: /p' "$log.log" >>"$stage/once"
		echo "$test"
	done
}
log_of() {
	echo "$build/${1%.test}"
}
log_of_nobody() {
	echo "$stage/log/$(echo "$1" | tr / -)"
}

# What else a machine does may spoil a recording. Live tests run once more, alone, if they failed: what a
# defect breaks fails again. The first failure is printed at the end, too. An attack need succeed only once.
try_again() {
	failed=$(live_tests '*' | grep -v /attack/ | those_that_failed log_of)
	[ -z "$failed" ] || run_tests 1 "$failed"
	[ -d "$stage/build" ] || return 0
	failed=$(live_tests '*' nobody | grep -v /attack/ | those_that_failed log_of_nobody)
	[ -z "$failed" ] || echo "$failed" | run_as_nobody 1
}

# What tests/guest boots. Where it cannot be had they are skipped.
make_guests() {
	install_guest_dependencies || return 0
	say "Building for the emulated Arm machine in $1/guest"
	make_guest tests/guest/build "$1/guest"
	make_guest tests/guest/fetch-kernel "$1/guest-x86"
}

# make_guest SCRIPT DIRECTORY
make_guest() {
	as_owner "$1" "$2" </dev/null >"$2.log" 2>&1
	case $? in
	0) ;;
	77) tail -n 1 "$2.log" >&2 ;;
	*)
		tail -n 30 "$2.log" >&2
		broken "$2: what tests/guest boots"
		;;
	esac
}

# Live tests run once more as `nobody`, who may not even reach this directory: from a copy.
can_be_nobody() {
	[ "$(id -u)" -eq 0 ] || return 1
	runuser -u nobody -- true 2>/dev/null && return
	say "the live tests cannot be run as nobody: runuser does not work here"
	return 1
}
copy_for_nobody() {
	mkdir -p "$stage/source" "$stage/build" "$1/nobody"
	cp -R tests scripts "$stage/source"
	# What scripts run, not the unit tests.
	tar -c -C "$1" --exclude='test_*' --exclude='fuzz_*' --exclude='*.[ao]' tests hpcprof |
		tar -x -C "$stage/build"
	cp build-aux/tap-driver.sh "$stage"
	chmod -R a+rX "$stage"
	chown nobody "$stage/log"
}

# run_as JOBS: standard input has lines `self TEST` and `nobody TEST`.
run_as() {
	top=$PWD
	# shellcheck disable=SC2016,SC2086 # for the shell that is started; as above
	(cd "$stage/log" && xargs -n 2 -P "$1" $fixed sh -c '
		[ "$5" = nobody ] || exec make -s -C "$2" -f "$4" TEST_LOG_COMPILER="$3" "${6%.test}.log" </dev/null
		name=$(echo "$6" | tr / -)
		exec runuser -u nobody -- env "top_srcdir=$1/source" "top_builddir=$1/build" \
			HOME=/nonexistent AM_TAP_AWK=awk sh "$1/tap-driver.sh" --test-name "nobody: $6" \
			--log-file "$name.log" --trs-file "$name.trs" -- $3 "$1/source/$6" </dev/null
		' run_as "$stage" "$top/$build" "$guard" "$makefile") 2>&1 | grep -v '^PASS: '
}
# run_as_nobody JOBS: the tests that standard input names.
run_as_nobody() {
	sed 's/^/nobody /' | run_as "$1"
}

# "PASSED FAILED SKIPPED" over every run. A test program that counts a failure also exits with 1,
# which the driver reports as an error: that is one failure, not two.
count() {
	# shellcheck disable=SC2086 # directories of ours
	find $results -name '*.trs' -exec awk '
		function add() {
			failed += fails + errors - (fails && errors)
			fails = errors = 0
		}
		FNR == 1 { add() }
		/^:test-result: (PASS|XFAIL)( |$)/ { passed++ }
		/^:test-result: (FAIL|XPASS)( |$)/ { fails++ }
		/^:test-result: ERROR( |$)/ { errors++ }
		/^:test-result: SKIP( |$)/ { skipped++ }
		END {
			add()
			print passed + 0, failed + 0, skipped + 0
		}' {} +
}

# The same of the fuzz targets.
count_fuzz() {
	awk '
		/^PASS: / { passed++ }
		/^FAIL: / { failed++ }
		/^STOPPED: / && !failed { failed++ }
		END { print passed + 0, failed + 0, 0 }' build-fuzz/fuzz.log
}

# Each failed and each skipped test by name, with what it said.
explain() {
	[ -n "$results" ] || return
	# shellcheck disable=SC2086
	find $results -name '*.trs' | sort | while read -r trs; do
		# Of several runs each says which it was.
		run=
		[ -z "$sanitize" ] || run="${trs%%/*}: "
		awk -v run="$run" '
			/^ERROR: .* exited with status 1$/ && failures { next }
			/^(FAIL|SKIP|XPASS|ERROR): / {
				# Check gives the path of the source file; the test has a name.
				gsub(/[^ ]*\/tests\//, "tests/")
				print run $0
				talking = /^(FAIL|XPASS)/
				failures += /^FAIL/
				errors += /^ERROR/
				next
			}
			/^(ok|not ok|PASS:)/ { talking = 0 }
			talking && /^#/ { print "    " $0 }
			{ last[NR % 10] = $0 }
			END {
				# A crash speaks last.
				for (i = NR + 1; errors && i <= NR + 10; i++)
					if (last[i % 10] != "")
						print "    | " last[i % 10]
			}' "${trs%.trs}.log"
	done
}

close_with_totals() {
	passed=0
	failed=0
	skipped=0
	if [ -n "$results" ]; then
		read -r passed failed skipped <<-END
			$(count)
		END
	elif [ -n "$fuzz_seconds" ] && [ -f build-fuzz/fuzz.log ]; then
		read -r passed failed skipped <<-END
			$(count_fuzz)
		END
	fi
	echo
	explain
	[ ! -s "$stage/once" ] || cat "$stage/once"
	if [ -s "$stage/trouble" ]; then
		cat "$stage/trouble"
		failed=$((failed + $(wc -l <"$stage/trouble")))
	fi
	[ -z "$phases" ] || echo "$phases"
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
	exit
}

install_dependencies build test || {
	broken 'what testing needs is missing'
	close_with_totals
}
# A python3 that is a script, as pyenv's, takes longer to find the real one than that takes to start.
case $(head -c 2 "$(command -v python3)" 2>/dev/null) in
'#!') PATH=$(dirname "$(python3 -c 'import sys; print(sys.executable)')"):$PATH ;;
esac
if [ -n "$fuzz_seconds" ]; then
	rm -f build-fuzz/fuzz.log
	fuzz
elif [ -n "$quick" ]; then
	check_quickly
elif [ -n "$sanitize" ]; then
	build_and_check build-asan --enable-werror --enable-asan --enable-ubsan \
		CFLAGS='-O1 -g'
	build_and_check build-tsan --enable-werror --enable-tsan CFLAGS='-O1 -g'
else
	build_and_check build --enable-werror
fi
close_with_totals
