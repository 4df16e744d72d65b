/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * show_table FILE
 *
 * Makes the unwind table of a program or library, for scripts/bench/call-paths, and prints what it
 * took in one line: ms of CPU time, rows, different ones, those that cannot be followed, bytes; ms and
 * bytes of an index alone, 0 if there is none; bytes of the sections that it was made from.
 */
#include <hpcprof/unwind/table.h>

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	_cleanup_(hp_unwind_table_destroy_scope) struct hp_unwind_table *table = NULL;
	_cleanup_(hp_unwind_table_destroy_scope) struct hp_unwind_table *indexed = NULL;
	_cleanup_close_ int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	double begin_ms = cpu_ms();
	double made_ms;
	double indexed_ms;
	struct hp_unwind_facts facts;
	struct hp_error *error;

	if (fd < 0) {
		perror(argc == 2 ? argv[1] : "show_table FILE");
		return 2;
	}
	error = hp_unwind_table_of_fd(fd, &table);
	if (error) {
		fprintf(stderr, "show_table: %s: %s\n", argv[1], error->message);
		hp_error_destroy(error);
		return 1;
	}
	made_ms = cpu_ms() - begin_ms;
	begin_ms = cpu_ms();
	hp_error_destroy(hp_unwind_table_of_index(fd, 0, &indexed));
	indexed_ms = indexed ? cpu_ms() - begin_ms : 0;
	facts = hp_unwind_table_facts(table);
	printf("ms %.1f rows %zu recipes %zu unsupported %zu bytes %zu index_ms %.2f index_bytes "
	       "%zu "
	       "of %zu\n",
	       made_ms, facts.rows, facts.recipes, facts.unsupported, facts.bytes, indexed_ms,
	       indexed ? hp_unwind_table_facts(indexed).bytes : 0, facts.source_bytes);
	return 0;
}
