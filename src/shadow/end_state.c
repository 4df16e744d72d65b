/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "end_state.h"

#include <hpcprof/base/error.h>
#include <hpcprof/base/number.h>
#include <hpcprof/base/thread.h>

#include <stdio.h>
#include <sys/stat.h>

/* Whether it is the only thread of its process: others may write to memory meanwhile. A directory has
 * a link for each of its folders, and two more. */
static bool is_alone(pid_t pid)
{
	struct stat tasks;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	return stat(path, &tasks) == 0 && tasks.st_nlink == 3;
}

enum hold_result end_state_take(struct end_state *state, pid_t pid, pid_t tid,
				struct state_sampler *sampler, const struct areas *areas)
{
	bool alone = is_alone(pid);
	struct hold_times times;
	enum hp_shadow_refusal refusal;
	struct hp_error *error = NULL;
	enum hold_result held;
	uint64_t general[16];

	hp_thread_begin_unstoppable();
	held = hold(tid, &state->held, &times, &error, &refusal);
	hp_error_destroy(error);
	if (held == HOLD_STOPPED) {
		hold_general(&state->held.registers, general);
		reached_read(&state->reached, tid, areas, general, state->held.registers.fs_base,
			     alone);
		state->cpu_ns = state_sampler_disable(sampler);
		state->time_ns = hp_clock_monotonic_ns();
		hold_release(tid, &times);
		state->is_known = state->cpu_ns > 0;
	}
	state->stop_ns = times.end_ns - times.start_ns;
	hp_thread_end_unstoppable();
	return held;
}

struct hp_engine_sample end_state_sample(const struct end_state *state)
{
	struct hp_engine_sample sample = {
		.ip = state->held.registers.rip,
		.flags = state->held.registers.eflags,
		.time_ns = state->cpu_ns,
		.reached = &state->reached,
	};

	hold_general(&state->held.registers, sample.general);
	return sample;
}
