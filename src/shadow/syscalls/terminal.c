/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "terminal.h"

#include <asm/termbits.h>
#include <sys/sysmacros.h>
#include <unistd.h>

_Static_assert(sizeof(struct termios2) == sizeof(((struct terminal *)0)->settings),
	       "the size of the kernel's settings");

/* Devices such as /dev/tty, which mean another terminal in each session. */
enum { MAJOR_OF_WHO_ASKS = 5 };

static bool is_same(const struct stat *left, const struct stat *right)
{
	return S_ISCHR(left->st_mode) && left->st_rdev == right->st_rdev &&
	       left->st_dev == right->st_dev && left->st_ino == right->st_ino;
}

bool terminal_ask(const struct stat *status, struct terminal *terminal)
{
	if (major(status->st_rdev) == MAJOR_OF_WHO_ASKS)
		return false;
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		struct stat own;

		if (fstat(fd, &own) == 0 && is_same(&own, status))
			return ioctl(fd, TCGETS2, terminal->settings) == 0 &&
			       ioctl(fd, TIOCGWINSZ, &terminal->size) == 0;
	}
	return false;
}

size_t terminal_answer(const struct terminal *terminal, uint64_t request, const void **bytes)
{
	*bytes = terminal->settings;
	switch ((uint32_t)request) {
	case TCGETS:
		return sizeof(struct termios);
	case TCGETS2:
		return sizeof(struct termios2);
	case TIOCGWINSZ:
		*bytes = &terminal->size;
		return sizeof(terminal->size);
	default:
		return 0;
	}
}
