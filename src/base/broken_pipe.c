/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/base/broken_pipe.h>

#include <signal.h>
#include <stdbool.h>

static struct sigaction found;
static bool is_ignored;

void hp_broken_pipe_ignore(void)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };

	if (!is_ignored)
		is_ignored = sigaction(SIGPIPE, &ignore, &found) == 0;
}

void hp_broken_pipe_restore(void)
{
	if (is_ignored)
		sigaction(SIGPIPE, &found, NULL);
}
