/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints all that a program inherits and could notice: a run under hpcprof has to print what a
 * plain run prints. What differs between any two runs (process numbers, times) is left out.
 */
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

extern char **environ;

static void print_descriptors(void)
{
	for (int fd = 0; fd < 256; fd++) {
		char path[64];
		char target[PATH_MAX];
		ssize_t length;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		length = readlink(path, target, sizeof(target) - 1);
		if (length < 0)
			continue;
		target[length] = 0;
		printf("descriptor %d: %s\n", fd, target);
	}
}

/* Signals 32 and 33 are the C library's own, which takes them back from who ignores them as soon as
 * a program has a second thread: under ThreadSanitizer hpcprof has one. */
static void print_line(const char *line)
{
	static const char ignored[] = "SigIgn:";

	if (strncmp(line, ignored, strlen(ignored)) == 0)
		printf("%s %llx\n", ignored,
		       strtoull(line + strlen(ignored), NULL, 16) & ~(3ull << 31));
	else
		fputs(line, stdout);
}

static void print_status(void)
{
	static const char *const wanted[] = {
		"Umask",  "Uid",	"Gid",	   "Groups",	    "SigQ",
		"SigPnd", "ShdPnd",	"SigBlk",  "SigIgn",	    "SigCgt",
		"Cap",	  "NoNewPrivs", "Seccomp", "Cpus_allowed:", "TracerPid",
	};
	FILE *status = fopen("/proc/self/status", "re");
	char line[4096];

	while (status && fgets(line, sizeof(line), status))
		for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
			/* How many signals of this user are queued is not ours alone. */
			if (strncmp(line, wanted[i], strlen(wanted[i])) == 0 &&
			    strncmp(line, "SigQ", 4) != 0)
				print_line(line);
	if (status)
		fclose(status);
}

static void print_limits(void)
{
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		struct rlimit limit;

		if (getrlimit((__rlimit_resource_t)i, &limit) == 0)
			printf("limit %d: %llu %llu\n", i, (unsigned long long)limit.rlim_cur,
			       (unsigned long long)limit.rlim_max);
	}
}

static void print_rest(void)
{
	struct itimerval timer;
	int parent_death = 0;
	char *directory = getcwd(NULL, 0);

	getitimer(ITIMER_REAL, &timer);
	prctl(PR_GET_PDEATHSIG, &parent_death);
	printf("directory: %s\n", directory ? directory : "?");
	printf("process group is the parent's: %d\n", getpgrp() == getpgid(getppid()));
	printf("session is the parent's: %d\n", getsid(0) == getsid(getppid()));
	printf("nice: %d, policy: %d\n", getpriority(PRIO_PROCESS, 0), sched_getscheduler(0));
	printf("timer: %ld, parent-death signal: %d, dumpable: %d, subreaper of nobody\n",
	       timer.it_value.tv_sec, parent_death, prctl(PR_GET_DUMPABLE, 0, 0, 0, 0));
	free(directory);
}

int main(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		printf("argument: %s\n", argv[i]);
	for (char **variable = environ; *variable; variable++)
		printf("variable: %s\n", *variable);
	print_descriptors();
	print_status();
	print_limits();
	print_rest();
	return EXIT_SUCCESS;
}
