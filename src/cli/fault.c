/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fault.h"

#include "command.h"

#include <hpcprof/base/proc_maps.h>

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* The size of a line buffer on the stack: a signal handler must not allocate. */
enum { LINE_BYTES = 8192 };

/* Reads the next line of the file, without its newline; false at the end. */
static bool next_line(int fd, char line[LINE_BYTES])
{
	size_t length = 0;
	char byte;

	while (read(fd, &byte, 1) == 1) {
		if (byte == '\n') {
			line[length] = '\0';
			return true;
		}
		if (length + 1 < LINE_BYTES)
			line[length++] = byte;
	}
	return false;
}

static void say(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		_exit(HP_EXIT_DAMAGED);
}

/* The path is not trusted: control characters are omitted. */
static void say_path(char *path)
{
	for (char *at = path; *at; at++) {
		if ((unsigned char)*at < 0x20 || (unsigned char)*at >= 0x7f)
			*at = '?';
	}
	say(path);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	uint64_t address = (uintptr_t)info->si_addr;
	int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	struct hp_proc_mapping mapping;
	char line[LINE_BYTES];

	(void)context;
	while (maps >= 0 && next_line(maps, line)) {
		if (!hp_proc_maps_parse_line(line, &mapping) || !mapping.inode ||
		    address < mapping.start || address >= mapping.end)
			continue;
		say("hpcprof: ");
		say_path(line + (mapping.path - line));
		say(" became shorter while it was read; try again when nobody writes to it\n");
		_exit(HP_EXIT_DAMAGED);
	}
	signal(number, SIG_DFL);
	raise(number);
}

void fault_name_files(void)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };

	sigaction(SIGBUS, &action, NULL);
}
