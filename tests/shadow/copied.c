/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "copied.h"

#include "../support.h"

#include <sched.h>
#include <unistd.h>

bool can_copy(void)
{
	static bool is_known, can;
	struct snapshot snapshot;
	struct hp_error *error;
	uint64_t bytes;

	if (is_known)
		return can;
	is_known = true;
	snapshot_init(&snapshot);
	error = snapshot_prepare(&snapshot, getpid(), &bytes);
	can = !error || error->class != HP_ERROR_INSUFFICIENT;
	hp_error_destroy(error);
	snapshot_clear(&snapshot);
	return can;
}

void hold_running(pid_t pid, struct held_state *state)
{
	struct hp_error *error = NULL;
	enum hp_shadow_refusal refusal;
	struct hold_times times;

	for (int tries = 0; tries < 1000; tries++) {
		enum hold_result result =
			hold(pid, HOLD_IN_USER_MODE, state, &times, &error, &refusal);

		hp_assert_ok(error);
		if (result == HOLD_STOPPED)
			return;
		ck_assert_int_eq(result, HOLD_IN_KERNEL);
		usleep(1000);
	}
	ck_abort_msg("the target never ran in user mode");
}

void reserve(struct snapshot *snapshot)
{
	struct hp_error *error = snapshot_reserve(snapshot, FILL_PAID, UINT64_MAX, -1);

	for (int tries = 0; tries < 100 && error && error->class == HP_ERROR_INSUFFICIENT;
	     tries++) {
		hp_error_destroy(error);
		error = snapshot_reserve(snapshot, FILL_PAID, UINT64_MAX, -1);
	}
	hp_assert_ok(error);
}

void copied_hold(struct copied *copied, pid_t pid, bool is_old_kernel, struct held_state *state)
{
	cpu_set_t cpus;
	uint64_t bytes;

	*copied = (struct copied){ 0 };
	snapshot_init(&copied->snapshot);
	sandbox_init(&copied->sandbox);
	copied->snapshot.pages.is_old = is_old_kernel;
	sched_getaffinity(0, sizeof(cpus), &cpus);
	hp_assert_ok(snapshot_prepare(&copied->snapshot, pid, &bytes));
	reserve(&copied->snapshot);
	hp_assert_ok(sandbox_create(&copied->sandbox, &copied->snapshot.areas, &cpus));
	hold_running(pid, state);
	hp_assert_ok(snapshot_take(&copied->snapshot, 0));
}

void copied_rebuild(struct copied *copied, pid_t pid)
{
	struct hold_times times;

	hold_release(pid, &times);
	hp_assert_ok(rebuild(&copied->sandbox, &copied->snapshot, &copied->files));
	hp_assert_ok(rebuild_contents(&copied->sandbox, &copied->snapshot));
}

void copied_clear(struct copied *copied)
{
	sandbox_clear(&copied->sandbox);
	snapshot_clear(&copied->snapshot);
	mapped_files_clear(&copied->files);
}

bool is_left_out_of_cores(const void *at)
{
	FILE *file = fopen("/proc/self/smaps", "r");
	unsigned long start, end;
	bool is_there = false;
	bool is_left_out = false;
	char line[512];

	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			is_there = start <= (uintptr_t)at && (uintptr_t)at < end;
		else if (is_there && strncmp(line, "VmFlags:", 8) == 0)
			is_left_out = strstr(line, " dd") != NULL;
	}
	fclose(file);
	return is_left_out;
}

pid_t start_spinning(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		for (volatile uint64_t i = 0;; i++)
			;
	}
	ck_assert_int_gt(pid, 0);
	return pid;
}
