/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * measure [-p] [-c CPU] FILE COMMAND [ARGUMENT...]
 *
 * Runs COMMAND and writes one line to FILE: wall time, CPU time of COMMAND's own process, CPU time
 * of it and all its descendants that were waited for (ns each), peak resident memory of its own
 * process (KiB; 0 without -p), exit status. Exits as COMMAND did.
 *
 * The own CPU time is read from the process clock of the zombie, so it has what ending the process
 * cost and nothing of its children. The own peak is gone by then (and ru_maxrss is the children's
 * too), so with -p the process is traced, which stops it once, just before it ends. Do not trace
 * what is to be timed closely: a traced process stops for each signal it gets, too.
 *
 * With -c COMMAND runs on that CPU, or with a number below 0 on all but the CPU -1 - CPU, and finds its memory
 * at the same addresses each time: by chance alone, one run's addresses make it slower than the next by a
 * percent or two.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now) != 0)
		return 0;
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t timeval_ns(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

static unsigned long peak_kib(pid_t pid)
{
	unsigned long kib = 0;
	char path[64];
	char line[256];
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	status = fopen(path, "re");
	if (!status)
		return 0;
	while (fgets(line, sizeof(line), status)) {
		if (strncmp(line, "VmHWM:", 6) == 0)
			kib = strtoul(line + 6, NULL, 10);
	}
	fclose(status);
	return kib;
}

/* Lets the traced process run until it is about to end; the peak is then final. */
static unsigned long trace_to_end(pid_t pid)
{
	unsigned long peak = 0;

	for (;;) {
		siginfo_t info;
		int status;
		int signal_to_pass = 0;

		if (waitid(P_PID, (id_t)pid, &info, WEXITED | WSTOPPED | WNOWAIT) != 0 ||
		    (info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED))
			return peak;
		if (waitpid(pid, &status, WUNTRACED) != pid)
			return peak;
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXIT << 8))
			peak = peak_kib(pid);
		else if (status >> 16 == 0)
			signal_to_pass = WSTOPSIG(status);
		ptrace(PTRACE_CONT, pid, NULL, signal_to_pass);
	}
}

static void settle(const char *cpu)
{
	long count = sysconf(_SC_NPROCESSORS_ONLN);
	int number = atoi(cpu);
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	for (int i = 0; i < count; i++) {
		if (number < 0 ? i != -1 - number || count == 1 : i == number)
			CPU_SET(i, &cpus);
	}
	if (sched_setaffinity(0, sizeof(cpus), &cpus) != 0)
		perror("measure: cannot choose the CPU");
	if (number >= 0 && personality(ADDR_NO_RANDOMIZE) < 0)
		perror("measure: cannot choose addresses");
}

static pid_t start(char **command, bool traced, const char *cpu)
{
	int gate[2];
	char go = 0;
	pid_t pid;

	if (pipe(gate) != 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		close(gate[1]);
		/* The end of the pipe is as good as a byte. */
		if (read(gate[0], &go, 1) < 0)
			_exit(125);
		close(gate[0]);
		if (cpu)
			settle(cpu);
		execvp(command[0], command);
		fprintf(stderr, "measure: %s: %s\n", command[0], strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	close(gate[0]);
	if (pid > 0 && traced && ptrace(PTRACE_SEIZE, pid, NULL, PTRACE_O_TRACEEXIT) != 0)
		perror("measure: cannot trace, so there will be no peak memory");
	close(gate[1]);
	return pid;
}

int main(int argc, char **argv)
{
	bool traced = false;
	const char *cpu = NULL;
	struct rusage usage;
	unsigned long peak = 0;
	uint64_t start_ns;
	uint64_t wall_ns;
	uint64_t own_ns = 0;
	clockid_t clock;
	siginfo_t info;
	int status;
	FILE *file;
	pid_t pid;

	for (int option; (option = getopt(argc, argv, "+pc:")) != -1;) {
		traced |= option == 'p';
		if (option == 'c')
			cpu = optarg;
	}
	argv += optind - 1;
	argc -= optind - 1;
	if (argc < 3) {
		fputs("usage: measure [-p] [-c CPU] FILE COMMAND [ARGUMENT...]\n", stderr);
		return 125;
	}
	/* What the terminal or a parent sends is for COMMAND to act on. */
	start_ns = clock_ns(CLOCK_MONOTONIC);
	pid = start(argv + 2, traced, cpu);
	if (pid < 0) {
		perror("measure");
		return 125;
	}
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	if (traced)
		peak = trace_to_end(pid);
	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0)
		return 125;
	wall_ns = clock_ns(CLOCK_MONOTONIC) - start_ns;
	if (clock_getcpuclockid(pid, &clock) == 0)
		own_ns = clock_ns(clock);
	if (wait4(pid, &status, 0, &usage) != pid)
		return 125;
	status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	file = fopen(argv[1], "we");
	if (!file) {
		perror(argv[1]);
		return 125;
	}
	fprintf(file, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %lu %d\n", wall_ns, own_ns,
		timeval_ns(usage.ru_utime) + timeval_ns(usage.ru_stime), peak, status);
	if (fclose(file) != 0)
		return 125;
	return status;
}
