# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What a guest's script said, for the tests that boot one: each command's output stands on the
# console between "@ NAME" and "@ status N", and last "@ end N".

# take_apart CONSOLE: into said/NAME and said/NAME.status. False unless the script ended well.
take_apart() {
	mkdir said
	awk '
		/^@ end / { print $3 >"said/end"; next }
		/^@ status / { print $3 >(file ".status"); close(file); file = ""; next }
		/^@ / { file = "said/" $2; printf "" >file; next }
		file { print >file }' "$1"
	[ "$(cat said/end 2>/dev/null)" = 0 ] || {
		tail -n 30 "$1"
		return 1
	}
}

# exits STATUS NAME, for use with expect.
exits() {
	[ "$(cat "said/$2.status")" = "$1" ] || {
		echo "exited with $(cat "said/$2.status"), not $1:"
		cat "said/$2"
		return 1
	}
}
# says NAME TEXT, never_says NAME TEXT
says() {
	contains "said/$1" "$2"
}
never_says() {
	lacks "said/$1" "$2"
}
