# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the live tests share beyond tests/support.sh; read after it. Recordings go to the database
# $db, in the script's scratch directory; what hpcprof said of the last one is in the file `said`.
#
#	record [OPTION...]       hpcprof record; exit status as it is
#	stamp                    of the epoch that `said` names: the one that all these look at
#	samples IMAGE            how many samples it has in images of that name (a glob)
#	samples_in PROCEDURE     the same of a procedure (the name, whole)
#	total, unattributed      of the epoch
#	attributed, is_complete  conditions: nearly no sample without an image; ended as it should
#	share LEAST PART WHOLE   for use as a condition: PART is at least LEAST % of WHOLE
#	among LEAST COUNT...     every count is at least LEAST
#	compile OUT FLAG... <C   with the compiler under test; says why and fails without one
#	compile_work OUT FLAG... another build of tests/live/work.c; without a compiler: $no_compiler
#	tells TEXT               condition: the last report, in `reported` and report.said, holds it

# shellcheck disable=SC2034 # for the scripts
live=${top_builddir:?}/tests/live
db=${scratch:?read tests/support.sh first}/db
# Elsewhere a default event, a rate, a terminal could differ; and nothing looks for debug files.
export HPCPROF_DB="$db"

record() {
	"${hpcprof:?}" record "$@" 2>said
}

# "… into DIRECTORY/STAMP" in the banner.
stamp() {
	sed -n 's|^hpcprof: sampling .* into .*/||p' said
}

# A report of the epoch as CSV without its header and carriage returns.
rows() {
	"$hpcprof" report --format=csv --no-debuginfo "$@" "$(stamp)" 2>report.said |
		tr -d '\r' | sed 1d
}

sum_() {
	awk -F, '{ n += $1 } END { print n + 0 }'
}

samples() {
	rows --images --image "$1" | sum_
}

samples_in() {
	rows --procedures | awk -F, -v name="$1" '$3 == name { n += $1 } END { print n + 0 }'
}

# event,unit,period,precision,coverage,instead_of,reason,samples,lost,unattributed,throttled; the reason may
# hold commas.
total() {
	rows --summary | awk -F, '{ n += $(NF - 3) } END { print n + 0 }'
}
unattributed() {
	rows --summary | awk -F, '{ n += $(NF - 1) } END { print n + 0 }'
}

is_complete() {
	# shellcheck disable=SC2015 # any of them
	"$hpcprof" epochs list --format=csv "$(stamp)" >listed 2>report.said &&
		"$hpcprof" epochs verify "$(stamp)" >>report.said 2>&1 &&
		grep -q ',"complete",' listed || {
		cat listed
		explain
		return 1
	}
}

# What the last tests found out, for a person who reads of a failure.
explain() {
	cat said report.said 2>/dev/null
	"$hpcprof" report --procedures "$(stamp)" 2>&1 | head -40
}

share() {
	awk -v least="$1" -v part="$2" -v whole="$3" \
		'BEGIN { exit !(whole > 0 && 100 * part >= least * whole) }' || {
		echo "$2 of $3 is less than $1 %"
		explain
		return 1
	}
}

among() {
	least_=$1
	shift
	for count_; do
		[ "$count_" -ge "$least_" ] || {
			echo "$count_ is less than $least_ (of $*)"
			explain
			return 1
		}
	done
}

# Nearly every sample has its place: under 0.1 %, and one is never too many.
attributed() {
	rows --summary | awk -F, '
		{ all += $(NF - 3); lost += $(NF - 1) }
		END { exit !(all > 0 && (lost <= 1 || lost * 1000 < all)) }' || {
		explain
		return 1
	}
}

compile() {
	out_=$1
	shift
	# shellcheck disable=SC2086 # a command with its options
	${CC:-cc} -O1 -g -x c -o "$out_" "$@" - 2>compile.said
}
can_compile() {
	echo 'int main(void) { return 0; }' | compile can_compile "$@" && ./can_compile
}

no_compiler='no C compiler, or not for this'
compile_work() {
	output_=$1
	shift
	# shellcheck disable=SC2086 # a command with its options
	${CC:-cc} -std=gnu11 -O1 -g -D_GNU_SOURCE -pthread "$@" -o "$output_" \
		"$top_srcdir/tests/live/work.c" 2>compile.said
}
tells() {
	grep -qF -e "$1" report.said reported || {
		echo "no '$1' in:"
		cat report.said reported
		return 1
	}
}

# begin COMMAND...: a process that prints its number and waits for a line from the pipe `gate`, which is there.
begin() {
	rm -f started
	"$@" <gate >started &
	target=$!
	exec 5>gate
	until [ -s started ]; do sleep 0.05; done
}

# Copies of this session's recorders; those that are dead and wait to be seen are none.
copies() {
	pgrep -s 0 -x -r D,I,R,S,T,t,W,P hpcprof-shadow
}

# Killed processes need a CPU to end on, and others may be busy.
no_copies() {
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		copies >left || return 0
		sleep 0.5
	done
	ps -o pid,ppid,stat,comm -p "$(tr '\n' , <left | sed 's/,$//')"
	return 1
}
