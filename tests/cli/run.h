/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands as somebody types them. */
#ifndef TESTS_CLI_RUN_H
#define TESTS_CLI_RUN_H

#include "../support.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

/* Runs "hpcprof COMMAND ARGUMENTS" on the database "db" in `directory`; it must exit with `status`.
 * Both streams come into `output`. */
static inline void run_hpcprof(const char *directory, const char *command, const char *arguments,
			       int status, char *output, size_t room)
{
	const char *build = getenv("top_builddir");
	char *line;
	size_t size;
	FILE *pipe;
	int exited;

	ck_assert(asprintf(&line, "HPCPROF_DB='%s/db' '%s/hpcprof' %s %s 2>&1", directory,
			   build ? build : ".", command, arguments) > 0);
	pipe = popen(line, "r");
	free(line);
	ck_assert_ptr_nonnull(pipe);
	size = fread(output, 1, room - 1, pipe);
	output[size] = 0;
	exited = WEXITSTATUS(pclose(pipe));
	ck_assert_msg(exited == status, "%s %s: exited with %d: %s", command, arguments, exited,
		      output);
}

#endif
