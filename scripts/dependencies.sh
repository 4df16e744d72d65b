# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Shared by demo.sh and test.sh, which run in the top of the source tree: what is missing, and
# installing it. Says what it is about to do; does nothing when nothing is missing.
#
#	install_dependencies build          what building needs
#	install_dependencies build test     what testing needs, too
#	install_guest_dependencies          what the emulated guest needs; false where it cannot be
#	as_owner COMMAND...                 not as root when sudo brought us here
#	make_configure                      autoreconf, if something changed
#	prepare DIRECTORY [OPTION...]       the same, and configure in that directory

say() {
	printf '%s\n' "$*" >&2
}

# packages MANAGER KIND...: the table's packages of these kinds.
packages() {
	awk -v manager="$1" -v kinds=" ${2:-} ${3:-} " '
		$1 == "#" && $2 == "what" {
			for (i = 2; i < NF; i++)
				column[$(i + 1)] = i
		}
		/^[^#]/ && index(kinds, " " $2 " ") && !seen[$column[manager]]++ {
			print $column[manager]
		}' scripts/dependencies.txt
}

# Of the named Debian packages those that are not installed.
missing_of_apt() {
	for package_; do
		case $(dpkg-query -W -f '${Status}' "$package_" 2>/dev/null) in
		*' installed') ;;
		*) printf '%s\n' "$package_" ;;
		esac
	done
}

# How to become root without asking anybody who is not there; empty when there is no way.
root_prefix() {
	if [ "$(id -u)" -eq 0 ]; then
		echo env
	elif command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
		echo sudo
	fi
}

apt_updated=
# apt_install PACKAGE...
apt_install() {
	prefix_=$(root_prefix)
	[ -n "$prefix_" ] || return 1
	say "Installing with apt-get (as root): $*"
	if [ -z "$apt_updated" ]; then
		"$prefix_" apt-get -q -o DPkg::Lock::Timeout=300 update >&2 </dev/null ||
			say 'apt-get update failed; trying with the package lists there are'
		apt_updated=yes
	fi
	"$prefix_" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 \
		install --no-install-recommends "$@" >&2 </dev/null
}

# With apt, what is missing is installed; what only some tests want may fail.
install_with_apt() {
	# shellcheck disable=SC2046 # package names have no spaces
	missing_=$(missing_of_apt $(packages apt "$@"))
	if [ -n "$missing_" ]; then
		# shellcheck disable=SC2086
		apt_install $missing_ || {
			say 'These packages are missing. As root:'
			say "  apt-get install $(echo "$missing_" | tr '\n' ' ')"
			return 1
		}
	fi
	case " $* " in
	*' test '*) ;;
	*) return 0 ;;
	esac
	# shellcheck disable=SC2046
	missing_=$(missing_of_apt $(packages apt extra))
	[ -n "$missing_" ] || return 0
	# shellcheck disable=SC2086
	apt_install $missing_ ||
		say "Without these some tests are skipped: $(echo "$missing_" | tr '\n' ' ')"
}

install_guest_dependencies() {
	command -v apt-get >/dev/null || {
		say 'The emulated guest is made from packages for apt: its tests are skipped here'
		return 1
	}
	# shellcheck disable=SC2046 # package names have no spaces
	missing_=$(missing_of_apt $(packages apt guest))
	# shellcheck disable=SC2086
	[ -z "$missing_" ] || apt_install $missing_ || {
		say "Without these the emulated guest's tests are skipped: \
$(echo "$missing_" | tr '\n' ' ')"
		return 1
	}
}

# Elsewhere the list is printed; configure then says what of it is really missing.
print_list() {
	case $1 in
	dnf) command_='dnf install' ;;
	pacman) command_='pacman -S --needed' ;;
	zypper) command_='zypper install' ;;
	apk) command_='apk add' ;;
	esac
	list_=$(packages "$@" | tr '\n' ' ')
	say "hpcprof needs these packages. If something is missing below, as root:"
	say "  $command_ $list_"
}

have_tools() {
	for tool_ in autoreconf automake make cc pkg-config; do
		command -v "$tool_" >/dev/null || {
			say "$tool_ is missing"
			return 1
		}
	done
}

install_dependencies() {
	for manager_ in apt-get dnf pacman zypper apk; do
		command -v "$manager_" >/dev/null || continue
		if [ "$manager_" = apt-get ]; then
			install_with_apt "$@" || return 1
		else
			print_list "$manager_" "$@"
		fi
		break
	done
	have_tools
}

# Under sudo the tree belongs to somebody else: what is built there should be theirs, too.
as_owner() {
	if [ "$(id -u)" -eq 0 ] && [ -n "${SUDO_USER:-}" ] && [ "$SUDO_USER" != root ] &&
		command -v runuser >/dev/null; then
		runuser -u "$SUDO_USER" -- "$@"
	else
		"$@"
	fi
}

make_configure() {
	if ! [ -x configure ] || [ -n "$(find . -path './build*' -prune -o \
		\( -name configure.ac -o -name Makefile.am -o -name local.mk \) -newer configure -print)" ]; then
		as_owner autoreconf -fi
	fi
}

# Objects do not know the flags they were built with: other options, other objects.
prepare() {
	directory_=$1
	shift
	make_configure || return 1
	as_owner mkdir -p "$directory_" || return 1
	if [ -e "$directory_/Makefile" ] && [ "$(cat "$directory_/.options" 2>/dev/null)" = "$*" ]; then
		return 0
	fi
	if [ -e "$directory_/Makefile" ]; then
		as_owner make -s -C "$directory_" clean || return 1
	fi
	# shellcheck disable=SC2016 # $1 is the inner shell's
	as_owner sh -c 'cd "$1" && shift && CONFIG_SHELL=/bin/sh ../configure --quiet "$@" && echo "$*" >.options' \
		sh "$directory_" "$@"
}
