# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What tests of hpcprof stat share; read after live.sh.

XDG_CACHE_HOME=${scratch:?}/cache
export XDG_CACHE_HOME

# count [OPTION...] -- COMMAND...: the whole run's JSON object is in `counted`.
count() {
	"${hpcprof:?}" stat -q --format=json -o counted "$@" 2>said
}

# field EVENT NAME: of the last object in `counted`; null where there is none.
field() {
	tail -n 1 counted | sed 's/{"name":/\n&/g' | sed -n 's/,"metrics".*//; /^{"name":"'"$1"'"/p' |
		head -n 1 | sed 's/,"adjusted":{[^}]*}//' | grep -oE "\"$2\":(\"[^\"]*\"|[^,}]*)" |
		sed 's/^[^:]*://; s/"//g'
}
whole() {
	tail -n 1 counted | grep -oE "\"$1\":[^,}]*" | head -n 1 | sed 's/^[^:]*://'
}
is() {
	[ "$1" = "$2" ] || {
		echo "'$1' is not '$2'"
		cat said counted
		return 1
	}
}
# within FOUND LEAST MOST
within() {
	awk -v found="$1" -v least="$2" -v most="$3" 'BEGIN { exit !(found >= least && found <= most) }' || {
		echo "$1 is not within $2 and $3"
		cat said counted
		return 1
	}
}
