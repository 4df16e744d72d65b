/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_trace OUT TICK_US EVENT… -- COMMAND…
 *
 * Counts every event all the time, over the command with its threads and children, and writes what
 * they counted in each tick (the format is replay.c's). An event is NAME:TYPE:CONFIG, both numbers
 * as perf_event_open(2) has them ("page-faults:1:2"; a tracepoint is NAME:2:ID), or *NAME:… for one
 * with a fixed counter. `enabled_ns` is the CPU time of all threads; so is the ruler, unless the
 * first event's name is "ruler" (cycles or instructions, where there is a PMU: ruler:0:0).
 *
 * An event that cannot be opened is left out, and said so. Nothing may be short of counters: with a
 * PMU, give it no more events than it has counters.
 */
#include <hpcprof/base/number.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_EVENTS 128

struct counter {
	char name[64];
	int fd;
	uint64_t last;
};

static int open_counter(uint32_t type, uint64_t config, pid_t pid)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.disabled = 1,
		.inherit = 1,
		.enable_on_exec = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* NAME:TYPE:CONFIG */
static int parse(const char *text, pid_t pid, struct counter *counter)
{
	char copy[128], *type, *config;
	uint64_t type_number, config_number;

	if (strlen(text) >= sizeof(copy))
		return -1;
	strcpy(copy, text);
	config = strrchr(copy, ':');
	if (!config)
		return -1;
	*config++ = '\0';
	type = strrchr(copy, ':');
	if (!type || type - copy >= (ptrdiff_t)sizeof(counter->name))
		return -1;
	*type++ = '\0';
	strcpy(counter->name, copy);
	if (!hp_parse_u64(type, &type_number) || !hp_parse_u64(config, &config_number))
		return -1;
	counter->fd = open_counter((uint32_t)type_number, config_number, pid);
	return counter->fd;
}

static uint64_t delta(struct counter *counter)
{
	uint64_t value = counter->last, before = counter->last;

	if (read(counter->fd, &value, sizeof(value)) != (ssize_t)sizeof(value))
		value = before;
	counter->last = value;
	return value - before;
}

/* A child that waits for a byte before it becomes the command. */
static pid_t spawn(char **command, int *go)
{
	int pipes[2];
	pid_t pid;

	if (pipe(pipes) != 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		char byte;

		close(pipes[1]);
		if (read(pipes[0], &byte, 1) == 1)
			execvp(command[0], command);
		_exit(127);
	}
	close(pipes[0]);
	*go = pipes[1];
	return pid;
}

static void record(FILE *out, struct counter *counters, size_t count, uint64_t tick_ns, pid_t pid)
{
	uint64_t next = hp_clock_monotonic_ns();
	int status;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		struct timespec until;

		next += tick_ns;
		until.tv_sec = (time_t)(next / 1000000000);
		until.tv_nsec = (long)(next % 1000000000);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		for (size_t i = 0; i < count; i++)
			fprintf(out, "%s%lu", i ? " " : "", delta(&counters[i]));
		fputc('\n', out);
	}
}

int main(int argc, char **argv)
{
	static struct counter counters[MAX_EVENTS];
	int dashes = 3, go = -1;
	size_t count = 0;
	uint64_t tick_us;
	FILE *out;
	pid_t pid;

	while (dashes < argc && strcmp(argv[dashes], "--") != 0)
		dashes++;
	if (dashes + 1 >= argc || dashes - 3 > MAX_EVENTS - 2 || !hp_parse_u64(argv[2], &tick_us) ||
	    tick_us == 0) {
		fprintf(stderr, "usage: record_trace OUT TICK_US EVENT... -- COMMAND...\n");
		return 2;
	}
	pid = spawn(argv + dashes + 1, &go);
	out = fopen(argv[1], "we");
	if (pid < 0 || !out)
		return 1;
	/* Time counted is what the rest is measured by. */
	counters[count].fd = open_counter(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, pid);
	strcpy(counters[count++].name, "enabled_ns");
	if (dashes == 3 || strncmp(argv[3], "ruler:", 6) != 0) {
		counters[count].fd =
			open_counter(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, pid);
		strcpy(counters[count++].name, "ruler");
	}
	for (int i = 3; i < dashes; i++) {
		if (parse(argv[i], pid, &counters[count]) >= 0)
			count++;
		else
			fprintf(stderr, "record_trace: %s: %s\n", argv[i], strerror(errno));
	}
	fprintf(out, "hpcprof-mux-trace/1 %lu\n", tick_us * 1000);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%s", i ? " " : "", counters[i].name);
	fputc('\n', out);
	if (counters[0].fd < 0 || counters[1].fd < 0 || write(go, "g", 1) != 1) {
		kill(pid, SIGKILL);
		return 1;
	}
	record(out, counters, count, tick_us * 1000, pid);
	return fclose(out) != 0;
}
