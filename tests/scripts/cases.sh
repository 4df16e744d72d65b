# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cases FILE: the cases of this Python file beside it (cases.py) are tests. Read after tests/support.sh.
command -v python3 >/dev/null || skip_all 'python3 is not installed'

cases() {
	PYTHONDONTWRITEBYTECODE=1 python3 "${top_srcdir:?}/tests/scripts/$1" >cases.out 2>cases.err ||
		not_ok "$1 runs to its end" "$(cat cases.err)"
	while IFS= read -r line_; do
		case $line_ in
		'ok '*) ok "${line_#ok }" ;;
		'not ok '*) not_ok "${line_#not ok }" ;;
		*) printf '%s\n' "$line_" ;;
		esac
	done <cases.out
}
