/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What hpcprof doctor says of shadow windows, by making one. */
#include <hpcprof/shadow/shadow.h>

#include "budget/spare_cpus.h"
#include "tuning.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const char topic[] = "shadow windows";
static const char without[] = "record without --shadow: executions are estimated from time";

/* --- one window of a child -------------------------------------------------------------------- */

static _Noreturn void work(pid_t parent)
{
	volatile uint64_t value = 1;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent)
		for (unsigned i = 0; i < (1U << 24); i++)
			value = value * 5 + i;
	_exit(0);
}

/* Whether windows are refused for a reason that does not pass. */
static bool is_refused(const struct hp_shadow_statistics *statistics)
{
	for (unsigned i = 0; i < HP_SHADOW_REFUSALS; i++) {
		if (statistics->refusals[i] && i != HP_SHADOW_IN_KERNEL && i != HP_SHADOW_BUDGET)
			return true;
	}
	return false;
}

/* Waits until there was a window or will be none. */
static void try_out(struct hp_shadow *shadow, struct hp_shadow_statistics *statistics)
{
	struct pollfd ready = { .fd = hp_shadow_fd(shadow), .events = POLLIN };

	for (int waited_ms = 0; waited_ms < TRIAL_PATIENCE_MS; waited_ms += TRIAL_LOOK_MS) {
		poll(&ready, 1, TRIAL_LOOK_MS);
		hp_shadow_statistics(shadow, statistics);
		if (statistics->windows || is_refused(statistics))
			break;
	}
	hp_shadow_stop(shadow);
	hp_shadow_statistics(shadow, statistics);
}

static struct hp_error *make_one(struct hp_shadow_statistics *statistics)
{
	_cleanup_(hp_shadow_destroy_scope) struct hp_shadow *shadow = NULL;
	struct hp_shadow_options options = {
		.pid_count = 1,
		.percent = TRIAL_PERCENT,
		.window_ns = TRIAL_WINDOW_NS,
		.is_urgent = true,
	};
	struct hp_error *error;
	pid_t parent = getpid();
	pid_t child = fork();

	if (child == 0)
		work(parent);
	if (child < 0)
		return hp_error_create(HP_ERROR_SYSTEM, "no process can be started");
	options.pids = &child;
	error = hp_shadow_create(&options, &shadow);
	if (!error)
		error = hp_shadow_start(shadow);
	if (!error)
		try_out(shadow, statistics);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return error;
}

/* Returns the reason of a refusal, preferably not the budget, which is temporary; "": none. */
static const char *reason_of(const struct hp_shadow_statistics *statistics)
{
	const char *reason = statistics->reasons[HP_SHADOW_BUDGET];

	for (unsigned i = 0; i < HP_SHADOW_REFUSALS; i++)
		if (i != HP_SHADOW_BUDGET && statistics->reasons[i][0])
			reason = statistics->reasons[i];
	return reason;
}

static bool add_trial(struct hp_findings *findings)
{
	struct hp_shadow_statistics statistics = { 0 };
	struct hp_error *error = make_one(&statistics);
	const char *reason = reason_of(&statistics);
	bool room;

	if (error)
		room = hp_findings_add(findings, HP_FINDING_BLOCKED, topic, error->advice, without,
				       "%s", error->message);
	else if (statistics.windows)
		room = hp_findings_add(findings, HP_FINDING_OK, topic, NULL, NULL,
				       "a program was copied and replayed (record --shadow)");
	else if (is_refused(&statistics))
		room = hp_findings_add(findings, HP_FINDING_BLOCKED, topic, NULL, without, "%s",
				       reason);
	else
		room = hp_findings_add(findings, HP_FINDING_LIMITED, topic,
				       "run hpcprof doctor again when the machine is less busy",
				       without, "nothing was copied in %d s%s%s",
				       TRIAL_PATIENCE_MS / 1000,
				       *reason ? ": " : ", the machine is too busy", reason);
	hp_error_destroy(error);
	return room;
}

/* --- CPUs ------------------------------------------------------------------------------------- */

static bool add_cpus(struct hp_findings *findings)
{
	static const char cpus_topic[] = "CPUs for copies";
	static const char fewer[] = "fewer and shorter windows for the same budget";
	uint64_t usable = cpus_to_use();
	cpu_set_t cpus;

	switch (spare_cpus(getpid(), 1, usable, &cpus)) {
	case ROOM_OF_ITS_OWN:
		return hp_findings_add(findings, HP_FINDING_OK, cpus_topic, NULL, NULL,
				       "%u CPUs, and copies run on another core", (unsigned)usable);
	case ROOM_IN_CORE:
		return hp_findings_add(findings, HP_FINDING_LIMITED, cpus_topic,
				       "a machine or a CPU set with a second core", fewer,
				       "only one core: copies take up to half of it");
	case ROOM_SHARED:
	case ROOM_NONE:
	case ROOM_AFTER:
		break;
	}
	return hp_findings_add(findings, HP_FINDING_LIMITED, cpus_topic,
			       "a second CPU: taskset, cpuset or CPU quota of the control group",
			       fewer, "only one CPU: copies wait until the program has ended");
}

struct hp_error *hp_shadow_examine(struct hp_findings *findings)
{
	return add_trial(findings) && add_cpus(findings) ? NULL : hp_error_create_no_memory();
}
