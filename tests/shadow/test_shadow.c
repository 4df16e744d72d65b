/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Windows of a real process, one after another. */
#include "../support.h"
#include "copied.h"

#include <hpcprof/shadow/shadow.h>

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void kill_target(void *pid)
{
	kill(*(pid_t *)pid, SIGKILL);
	waitpid(*(pid_t *)pid, NULL, 0);
}

static void destroy(void *shadow)
{
	hp_shadow_destroy(shadow);
}

static void start_target(pid_t *pid)
{
	*pid = fork();
	ck_assert_int_ge(*pid, 0);
	if (*pid == 0)
		for (volatile uint64_t i = 0;; i++)
			;
	at_end(kill_target, pid);
}

/* Its scheduling policy, of a child of ours that is called like a copy; -1: it is none. */
static int policy_of_copy(const char *pid)
{
	char path[300], name[17] = "";
	int parent = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return -1;
	if (fscanf(file, "%*d (%16[^)]) %*c %d", name, &parent) != 2)
		name[0] = '\0';
	fclose(file);
	return parent == getpid() && strcmp(name, "hpcprof-shadow") == 0
		       ? sched_getscheduler(atoi(pid))
		       : -1;
}

/* Of the copy that there is now; SCHED_OTHER until it has been given one. */
static int policy_now(void)
{
	DIR *processes = opendir("/proc");
	const struct dirent *entry;
	int found = -1;

	ck_assert_ptr_nonnull(processes);
	while (found < 0 && (entry = readdir(processes)))
		if (atoi(entry->d_name) > 0)
			found = policy_of_copy(entry->d_name);
	closedir(processes);
	return found < 0 ? SCHED_OTHER : found;
}

/* Beside programs that keep all CPUs busy it would not come to its end in time that is left
 * over. */
TEST_WHERE(can_copy(), an_urgent_copy_takes_its_share_of_busy_cpus)
{
	enum { PATIENCE_MS = 60000, WINDOW_NS = 50000000, ANY_COST_PERCENT = 10000 };
	static pid_t target;
	struct hp_shadow_options options = {
		.pids = &target,
		.pid_count = 1,
		.percent = ANY_COST_PERCENT,
		.window_ns = WINDOW_NS,
		.is_urgent = true,
	};
	struct hp_shadow *shadow;
	int policy = SCHED_OTHER;

	start_target(&target);
	hp_assert_ok(hp_shadow_create(&options, &shadow));
	at_end(destroy, shadow);
	hp_assert_ok(hp_shadow_start(shadow));
	for (int i = 0; i < PATIENCE_MS && policy == SCHED_OTHER; i++) {
		usleep(1000);
		policy = policy_now();
	}
	ck_assert_int_eq(policy, SCHED_BATCH);
}

HP_TEST_MAIN("shadow/shadow")
