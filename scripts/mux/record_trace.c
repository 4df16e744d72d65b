/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_trace OUT TICK_US EVENT… -- COMMAND…
 *
 * Counts every event all the time, over the command with its threads and children, and writes what
 * they counted in each tick (the format is replay.c's). An event is NAME:TYPE:CONFIG, both numbers
 * as perf_event_open(2) has them ("page-faults:1:2"; a tracepoint is NAME:2:ID), or *NAME:… for one
 * with a fixed counter. `enabled_ns` is the CPU time of all threads; so is the reference, unless
 * the first event's name is "reference" (cycles or instructions, where there is a PMU:
 * reference:0:0).
 *
 * All are one group and read by one call: of each thread they tell one moment. Read one after
 * another they would be up to a tenth of a millisecond apart, and short ticks look wild that are
 * not. What a tick really took is written too: a sleeper is woken when it is.
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

#define MAX_EVENTS 126

/* Column 0 leads: CPU time. */
struct counters {
	pid_t pid;
	int leader;
	size_t count;
	char names[MAX_EVENTS][64];
	uint64_t last[MAX_EVENTS];
	uint64_t last_ns;
};

/* As the kernel writes a group. */
struct reading {
	uint64_t count, enabled_ns, running_ns, values[MAX_EVENTS];
};

static int open_event(struct perf_event_attr *attr, const struct counters *counters)
{
	return (int)syscall(SYS_perf_event_open, attr, counters->pid, -1, counters->leader,
			    PERF_FLAG_FD_CLOEXEC);
}

static bool add(struct counters *counters, const char *name, uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.disabled = counters->leader < 0,
		.inherit = 1,
		.enable_on_exec = counters->leader < 0,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	int fd = open_event(&attr, counters);

	/* An ordinary user counts what happens in user mode. */
	if (fd < 0 && errno == EACCES) {
		attr.exclude_kernel = 1;
		fd = open_event(&attr, counters);
	}
	if (fd < 0)
		return false;
	if (counters->leader < 0)
		counters->leader = fd;
	snprintf(counters->names[counters->count++], sizeof(counters->names[0]), "%s", name);
	return true;
}

/* NAME:TYPE:CONFIG */
static bool parse(struct counters *counters, const char *text)
{
	char copy[128], *type, *config;
	uint64_t type_number, config_number;

	errno = EINVAL;
	if (strlen(text) >= sizeof(copy) || counters->count >= MAX_EVENTS)
		return false;
	strcpy(copy, text);
	config = strrchr(copy, ':');
	if (!config)
		return false;
	*config++ = '\0';
	type = strrchr(copy, ':');
	if (!type || type - copy >= (ptrdiff_t)sizeof(counters->names[0]))
		return false;
	*type++ = '\0';
	return hp_parse_u64(type, &type_number) && hp_parse_u64(config, &config_number) &&
	       add(counters, copy, (uint32_t)type_number, config_number);
}

/* While a child is being made or goes away, a group cannot be read (ECHILD; Linux 6.18). */
static bool read_group(const struct counters *counters, struct reading *now)
{
	ssize_t size = (ssize_t)((3 + counters->count) * sizeof(uint64_t)), got;

	do
		got = read(counters->leader, now, sizeof(*now));
	while (got < 0 && errno == ECHILD);
	return got == size && now->running_ns >= now->enabled_ns - now->enabled_ns / 100;
}

/* A line of what happened since the last. False: the counters cannot be read, or had to wait. */
static bool write_tick(FILE *out, struct counters *counters)
{
	struct reading now;
	uint64_t now_ns;

	if (!read_group(counters, &now))
		return false;
	now_ns = hp_clock_monotonic_ns();
	fprintf(out, "%lu", now_ns - counters->last_ns);
	for (size_t i = 0; i < counters->count; i++)
		fprintf(out, " %lu", now.values[i] - counters->last[i]);
	fputc('\n', out);
	memcpy(counters->last, now.values, counters->count * sizeof(uint64_t));
	counters->last_ns = now_ns;
	return true;
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

static bool record(FILE *out, struct counters *counters, uint64_t tick_ns)
{
	uint64_t next = hp_clock_monotonic_ns();
	int status;

	counters->last_ns = next;
	while (waitpid(counters->pid, &status, WNOHANG) == 0) {
		struct timespec until;

		/* Late: the next tick is a whole one again. */
		next = next + 2 * tick_ns < hp_clock_monotonic_ns() ? hp_clock_monotonic_ns()
								    : next;
		next += tick_ns;
		until.tv_sec = (time_t)(next / 1000000000);
		until.tv_nsec = (long)(next % 1000000000);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		if (!write_tick(out, counters))
			return false;
	}
	return true;
}

static void write_header(FILE *out, const struct counters *counters, uint64_t tick_ns)
{
	fprintf(out, "hpcprof-mux-trace/2 %lu\nwall_ns", tick_ns);
	for (size_t i = 0; i < counters->count; i++)
		fprintf(out, " %s", counters->names[i]);
	fputc('\n', out);
}

int main(int argc, char **argv)
{
	static struct counters counters = { .leader = -1 };
	int dashes = 3, go = -1;
	bool ok;
	uint64_t tick_us;
	FILE *out;

	while (dashes < argc && strcmp(argv[dashes], "--") != 0)
		dashes++;
	if (dashes + 1 >= argc || dashes - 3 > MAX_EVENTS - 2 || !hp_parse_u64(argv[2], &tick_us) ||
	    tick_us == 0) {
		fprintf(stderr, "usage: record_trace OUT TICK_US EVENT... -- COMMAND...\n");
		return 2;
	}
	counters.pid = spawn(argv + dashes + 1, &go);
	out = fopen(argv[1], "we");
	if (counters.pid < 0 || !out)
		return 1;
	ok = add(&counters, "enabled_ns", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	if (dashes == 3 || strncmp(argv[3], "reference:", 10) != 0)
		ok = ok &&
		     add(&counters, "reference", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	for (int i = 3; i < dashes && ok; i++) {
		if (!parse(&counters, argv[i]))
			fprintf(stderr, "record_trace: %s: %s\n", argv[i], strerror(errno));
	}
	write_header(out, &counters, tick_us * 1000);
	if (!ok || write(go, "g", 1) != 1 || !record(out, &counters, tick_us * 1000)) {
		fprintf(stderr, "record_trace: the counters cannot be read, or are too few\n");
		kill(counters.pid, SIGKILL);
		return 1;
	}
	return fclose(out) != 0;
}
