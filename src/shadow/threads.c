/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "threads.h"

#include "copy/hold.h"
#include "tuning.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>
#include <hpcprof/base/thread.h>
#include <hpcprof/base/vector.h>

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <time.h>

static bool clock_ns(clockid_t clock, uint64_t *ns)
{
	struct timespec time;

	if (clock_gettime(clock, &time) < 0)
		return false;
	*ns = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
	return true;
}

static bool add(struct target *target, pid_t pid, pid_t only_tid, bool is_descendant)
{
	struct target_process process = { .pid = pid, .only_tid = only_tid };

	if (clock_getcpuclockid(pid, &process.clock) != 0 ||
	    !clock_ns(process.clock, &process.cpu_ns))
		return true;
	/* All CPU time of a descendant belongs to the target, also what it used before now. */
	if (!is_descendant)
		target->base_ns += process.cpu_ns;
	return hp_vector_push(target, process);
}

bool target_add(struct target *target, pid_t pid, pid_t only_tid)
{
	return add(target, pid, only_tid, false);
}

void target_clear(struct target *target)
{
	hp_vector_free(target);
}

static bool is_known(const struct target *target, pid_t pid)
{
	for (size_t i = 0; i < target->count; i++) {
		if (target->at[i].pid == pid && !target->at[i].is_gone)
			return true;
	}
	return false;
}

/* Calls `each` for the threads of a process until it returns false. */
static void for_threads(pid_t pid, bool (*each)(pid_t tid, void *context), void *context)
{
	char path[64];
	DIR *directory;
	bool more = true;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	directory = opendir(path);
	if (!directory)
		return;
	for (const struct dirent *entry = readdir(directory); entry && more;
	     entry = readdir(directory)) {
		uint64_t tid;

		if (hp_parse_u64(entry->d_name, &tid) && tid <= INT_MAX)
			more = each((pid_t)tid, context);
	}
	closedir(directory);
}

/* --- descendants ------------------------------------------------------------------------------ */

struct descent {
	struct target *target;
	pid_t pid;
};

static bool add_children(pid_t tid, void *context)
{
	struct descent *descent = context;
	_cleanup_free_ char *text =
		hp_file_text("/proc/%d/task/%d/children", (int)descent->pid, (int)tid);
	const char *at;
	uint64_t child;

	at = text;
	while (at && hp_scan_u64(&at, &child) && child <= INT_MAX) {
		if (is_known(descent->target, (pid_t)child))
			continue;
		if (descent->target->count >= PROCESS_LIMIT ||
		    !add(descent->target, (pid_t)child, 0, true))
			return false;
	}
	return true;
}

static void find_descendants(struct target *target)
{
	/* The loop also reaches processes that it adds. */
	for (size_t i = 0; i < target->count; i++) {
		struct descent descent = { target, target->at[i].pid };

		if (!target->at[i].is_gone && !target->at[i].only_tid)
			for_threads(descent.pid, add_children, &descent);
	}
}

static void forget_ended(struct target *target)
{
	size_t kept = 0;

	for (size_t i = 0; i < target->count; i++) {
		if (target->at[i].is_gone)
			target->ended_ns += target->at[i].cpu_ns;
		else
			target->at[kept++] = target->at[i];
	}
	target->count = kept;
}

uint64_t target_cpu_ns(struct target *target, uint64_t now_ns)
{
	uint64_t total_ns = target->ended_ns;

	if (target->follows && now_ns >= target->look_ns) {
		uint64_t start_ns = hp_clock_monotonic_ns();
		uint64_t pause_ns;

		forget_ended(target);
		find_descendants(target);
		total_ns = target->ended_ns;
		pause_ns = LOOK_SHARE * (hp_clock_monotonic_ns() - start_ns);
		target->look_ns =
			now_ns + (pause_ns > SHORTEST_PAUSE_NS ? pause_ns : SHORTEST_PAUSE_NS);
	}
	for (size_t i = 0; i < target->count; i++) {
		struct target_process *process = &target->at[i];

		if (!process->is_gone && !clock_ns(process->clock, &process->cpu_ns))
			process->is_gone = true;
		total_ns += process->cpu_ns;
	}
	return total_ns > target->base_ns ? total_ns - target->base_ns : 0;
}

bool target_is_gone(const struct target *target)
{
	for (size_t i = 0; i < target->count; i++) {
		if (!target->at[i].is_gone)
			return false;
	}
	return true;
}

/* --- choosing --------------------------------------------------------------------------------- */

struct choosing {
	struct hp_random *random;
	pid_t pid;	     /* the current process */
	uint64_t in_process; /* its running threads so far */
	struct target_choice *choice;
};

/* Reservoir sampling: the nth running thread replaces the chosen one with a probability of 1 / n.
 */
static bool consider(pid_t tid, void *context)
{
	struct choosing *choosing = context;
	struct target_choice *choice = choosing->choice;

	if (!hold_is_running(tid))
		return true;
	choosing->in_process++;
	if (hp_random_between(choosing->random, 1, ++choice->running) == 1) {
		choice->pid = choosing->pid;
		choice->tid = tid;
	}
	return true;
}

void target_choose(struct target *target, struct hp_random *random, struct target_choice *choice)
{
	struct choosing choosing = { .random = random, .choice = choice };

	*choice = (struct target_choice){ 0 };
	for (size_t i = 0; i < target->count; i++) {
		const struct target_process *process = &target->at[i];

		choosing.pid = process->pid;
		choosing.in_process = 0;
		if (process->is_gone)
			continue;
		if (process->only_tid)
			consider(process->only_tid, &choosing);
		else
			for_threads(process->pid, consider, &choosing);
		if (choice->pid == process->pid)
			choice->in_process = choosing.in_process;
	}
}

/* --- waiting ---------------------------------------------------------------------------------- */

struct waiting {
	pid_t pid;
	uint64_t threads_left; /* that may still be read */
	uint64_t waited_ns;
};

static bool add_waiting(pid_t tid, void *context)
{
	struct waiting *waiting = context;

	struct hp_thread_times times = { 0 };

	(void)hp_thread_times(waiting->pid, tid, &times);
	waiting->waited_ns += times.delayed_ns;
	return --waiting->threads_left > 0;
}

uint64_t target_waited_ns(const struct target *target)
{
	struct waiting waiting = { .threads_left = WAITING_LIMIT };

	for (size_t i = 0; i < target->count && waiting.threads_left; i++) {
		const struct target_process *process = &target->at[i];

		waiting.pid = process->pid;
		if (process->is_gone)
			continue;
		if (process->only_tid)
			add_waiting(process->only_tid, &waiting);
		else
			for_threads(process->pid, add_waiting, &waiting);
	}
	return waiting.waited_ns;
}
