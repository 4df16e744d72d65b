/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storms fork COUNT
 * storms exec COUNT PROGRAM
 * storms unload COUNT LIBRARY-A LIBRARY-B FILE
 *
 * Lives that are short:
 *  fork    COUNT children, one after the other, which work for about a millisecond and never exec
 *  exec    COUNT children, one after the other, which exec PROGRAM
 *  unload  opens, runs and closes two libraries in turn, COUNT times, B for four times as long as
 *          A, most often at the same address; writes the CPU time spent in A's and B's work() (ns)
 *          to FILE
 */
#include "self_timed.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEPS_A_MILLISECOND = 1000000, STEPS_OF_A = 500000 };

static int child(const char *program)
{
	if (!program)
		_exit(work_chain(1, STEPS_A_MILLISECOND) == 0);
	execl(program, program, (char *)NULL);
	_exit(127);
}

static int breed(unsigned long count, const char *program)
{
	for (unsigned long i = 0; i < count; i++) {
		pid_t pid = fork();
		int status;

		if (pid == 0)
			return child(program);
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
			return 1;
	}
	return 0;
}

static int unload(unsigned long count, char **libraries, const char *path)
{
	uint64_t spent_ns[2] = { 0, 0 };
	uint64_t value = 1;
	FILE *file;

	for (unsigned long i = 0; i < 2 * count; i++) {
		void *library = dlopen(libraries[i % 2], RTLD_NOW | RTLD_LOCAL);
		uint64_t (*work)(uint64_t, unsigned long);
		void *symbol = library ? dlsym(library, "work") : NULL;
		uint64_t start_ns;

		if (!symbol)
			return 1;
		memcpy(&work, &symbol, sizeof(work));
		start_ns = thread_cpu_ns();
		value = work(value, i % 2 ? 4 * STEPS_OF_A : STEPS_OF_A);
		spent_ns[i % 2] += thread_cpu_ns() - start_ns;
		dlclose(library);
	}
	file = fopen(path, "we");
	if (!file)
		return 1;
	fprintf(file, "%" PRIu64 " %" PRIu64 "\n", spent_ns[0], spent_ns[1]);
	return fclose(file) != 0 || value == 0;
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;

	if (argc == 3 && strcmp(argv[1], "fork") == 0)
		return breed(count, NULL);
	if (argc == 4 && strcmp(argv[1], "exec") == 0)
		return breed(count, argv[3]);
	if (argc == 6 && strcmp(argv[1], "unload") == 0)
		return unload(count, argv + 3, argv[5]);
	(void)work_twin;
	return 2;
}
