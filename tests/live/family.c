/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes that start processes, and programs that are not what or where they were:
 *
 *	family fork MS			in burn_in_parent, and in burn_in_child of a forked child
 *	family vfork PROGRAM ARGS	runs it in a child made by vfork
 *	family spawn PROGRAM ARGS	by posix_spawn
 *	family exec MS PROGRAM ARGS	after MS in burn_before_exec, becomes it
 *	family grand PROGRAM ARGS	in an orphaned grandchild, waiting for it through a pipe
 *	family many N PROGRAM ARGS	N of it one after the other, two at a time
 *	family interruptible PROGRAM ARGS
 *		becomes it with no signal ignored: shells ignore some for what is in the background,
 *		nohup and those who run the tests others
 *	family memfd PROGRAM ARGS	becomes a copy of it that is in no directory
 *	family plugins MS A B
 *		loads A, calls its `work`, unloads it, the same with B, again and again for MS each;
 *		prints "same" when both were at one address
 *	family unlink MS		removes its own file, then burns in burn_deleted
 */
#include "burn.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

BURNER(burn_in_parent);
BURNER(burn_in_child);
BURNER(burn_before_exec);
BURNER(burn_deleted);

static int wait_for(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		die("starting a process");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int by_fork(unsigned cpu_ms)
{
	pid_t pid = fork();

	if (pid == 0) {
		burn_in_child(cpu_ms);
		_exit(EXIT_SUCCESS);
	}
	burn_in_parent(cpu_ms);
	return wait_for(pid);
}

static pid_t start_by_vfork(char **argv)
{
	pid_t pid = vfork();

	if (pid == 0) {
		execv(argv[0], argv);
		_exit(127);
	}
	return pid;
}

static int by_spawn(char **argv)
{
	pid_t pid;

	if (posix_spawn(&pid, argv[0], NULL, NULL, argv, environ))
		die(argv[0]);
	return wait_for(pid);
}

static int by_exec(unsigned cpu_ms, char **argv)
{
	burn_before_exec(cpu_ms);
	execv(argv[0], argv);
	die(argv[0]);
}

/* The pipe closes when the grandchild ends: its parent, in between, has long left. */
static int by_grandchild(char **argv)
{
	int ends[2];
	char byte;
	pid_t pid;

	if (pipe(ends) < 0)
		die("pipe");
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		if (fork() != 0)
			_exit(EXIT_SUCCESS);
		execv(argv[0], argv);
		_exit(127);
	}
	close(ends[1]);
	wait_for(pid);
	while (read(ends[0], &byte, 1) > 0)
		;
	return EXIT_SUCCESS;
}

static int by_many(unsigned count, char **argv)
{
	int failures = 0;

	for (unsigned i = 0; i < count; i += 2) {
		pid_t first = start_by_vfork(argv);
		pid_t second = i + 1 < count ? start_by_vfork(argv) : 0;

		failures += wait_for(first) != 0;
		failures += second && wait_for(second) != 0;
	}
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int by_memfd(char **argv)
{
	int from = open(argv[0], O_RDONLY | O_CLOEXEC);
	int to = memfd_create("in-memory", MFD_CLOEXEC);
	char buffer[8192];
	ssize_t got;

	if (from < 0 || to < 0)
		die(argv[0]);
	while ((got = read(from, buffer, sizeof(buffer))) > 0)
		if (write(to, buffer, (size_t)got) != got)
			die("memfd");
	fexecve(to, argv, environ);
	die("fexecve");
}

static uintptr_t run_plugin(const char *path, unsigned cpu_ms)
{
	void *plugin = dlopen(path, RTLD_NOW);
	void (*work)(unsigned) = NULL;
	struct link_map *map;
	uintptr_t base;

	if (plugin)
		*(void **)&work = dlsym(plugin, "work");
	if (!plugin || !work || dlinfo(plugin, RTLD_DI_LINKMAP, &map)) {
		fprintf(stderr, "%s\n", dlerror());
		exit(EXIT_FAILURE);
	}
	base = (uintptr_t)map->l_addr;
	work(cpu_ms);
	dlclose(plugin);
	return base;
}

static int by_plugins(unsigned cpu_ms, const char *first, const char *second)
{
	enum { ROUNDS = 10 };
	unsigned same = 0;

	for (unsigned i = 0; i < ROUNDS; i++)
		same += run_plugin(first, cpu_ms / ROUNDS) == run_plugin(second, cpu_ms / ROUNDS);
	puts(same == ROUNDS ? "same" : "different");
	return EXIT_SUCCESS;
}

static int unlinked(unsigned cpu_ms)
{
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (length < 0)
		die("/proc/self/exe");
	path[length] = 0;
	if (unlink(path) < 0)
		die(path);
	burn_deleted(cpu_ms);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[1] : "";

	if (strcmp(how, "fork") == 0)
		return by_fork(number(argv[2]));
	if (strcmp(how, "vfork") == 0)
		return wait_for(start_by_vfork(argv + 2));
	if (strcmp(how, "spawn") == 0)
		return by_spawn(argv + 2);
	if (strcmp(how, "exec") == 0 && argc > 3)
		return by_exec(number(argv[2]), argv + 3);
	if (strcmp(how, "grand") == 0)
		return by_grandchild(argv + 2);
	if (strcmp(how, "many") == 0 && argc > 3)
		return by_many(number(argv[2]), argv + 3);
	if (strcmp(how, "memfd") == 0)
		return by_memfd(argv + 2);
	if (strcmp(how, "plugins") == 0 && argc > 4)
		return by_plugins(number(argv[2]), argv[3], argv[4]);
	if (strcmp(how, "interruptible") == 0) {
		for (int number = 1; number < NSIG; number++)
			signal(number, SIG_DFL); /* what cannot be set was never ignored */
		return by_exec(0, argv + 2);
	}
	if (strcmp(how, "unlink") == 0)
		return unlinked(number(argv[2]));
	return 2;
}
