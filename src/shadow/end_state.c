/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "end_state.h"

#include <hpcprof/base/error.h>
#include <hpcprof/base/number.h>
#include <hpcprof/base/thread.h>

#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* Whether the process has one thread, so that no other can write to memory meanwhile. A directory
 * has a link per folder, and two more. */
static bool is_alone(pid_t pid)
{
	struct stat tasks;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	return stat(path, &tasks) == 0 && tasks.st_nlink == 3;
}

static struct end_memory *map_memory(void)
{
	struct end_memory *memory = mmap(NULL, sizeof(*memory), PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	madvise(memory, sizeof(*memory), MADV_DONTDUMP);
	return memory;
}

void end_state_clear(struct end_state *state)
{
	if (state->memory)
		munmap(state->memory, sizeof(*state->memory));
	rights_clear(&state->rights);
	*state = (struct end_state){ 0 };
}

/* Checks the rights now, while the thread is held: before or after, the process may be another
 * program. */
static bool has_rights(struct end_state *state, pid_t pid, pid_t tid, const struct rights *rights)
{
	struct hp_error *error = rights_read(&state->rights, pid, tid);
	bool is_read = !error;

	hp_error_destroy(error);
	return is_read && rights_are_same(&state->rights, rights);
}

static void read_memory(struct end_state *state, pid_t tid,
			const struct user_regs_struct *registers, const struct areas *areas,
			bool alone)
{
	uint64_t general[16];

	hold_general(registers, general);
	reached_read(&state->memory->reached, tid, areas, general, registers->fs_base, alone);
}

static bool has_memory(struct end_state *state)
{
	if (!state->memory)
		state->memory = map_memory();
	return state->memory;
}

const struct reached *end_state_reach(struct end_state *state, pid_t tid,
				      const struct held_state *held, const struct areas *areas)
{
	if (!has_memory(state))
		return NULL;
	read_memory(state, tid, &held->registers, areas, true);
	return &state->memory->reached;
}

enum hold_result end_state_take(struct end_state *state, pid_t pid, pid_t tid,
				const struct rights *rights, struct state_sampler *sampler,
				const struct areas *areas)
{
	bool alone = is_alone(pid);
	enum hp_shadow_refusal refusal;
	struct hp_error *error = NULL;
	struct hold_times times;
	enum hold_result held;

	state->is_known = false;
	state->has_exited = false;
	state->stop_ns = 0;
	if (!has_memory(state))
		return HOLD_REFUSED;
	hp_thread_begin_unstoppable();
	held = hold(tid, HOLD_IN_USER_MODE, &state->memory->held, &times, &error, &refusal);
	hp_error_destroy(error);
	if (held == HOLD_STOPPED) {
		state->is_known = has_rights(state, pid, tid, rights);
		if (state->is_known)
			read_memory(state, tid, &state->memory->held.registers, areas, alone);
		state_sampler_stopped(sampler);
		state->follows_wait = state_sampler_has_waited(sampler);
		state->cpu_ns = state_sampler_disable(sampler);
		state->time_ns = hp_clock_monotonic_ns();
		hold_release(tid, &times);
		state->is_known &= state->cpu_ns > 0;
	}
	state->stop_ns = times.end_ns - times.start_ns;
	hp_thread_end_unstoppable();
	return held;
}

void end_state_exit(struct end_state *state, struct state_sampler *sampler)
{
	state->cpu_ns = state_sampler_disable(sampler);
	state->time_ns = hp_clock_monotonic_ns();
	state->stop_ns = 0;
	state->has_exited = true;
	state->is_known = state->cpu_ns > 0;
}

struct hp_engine_sample end_state_sample(const struct end_state *state)
{
	struct hp_engine_sample sample = { .time_ns = state->cpu_ns };

	if (state->has_exited)
		return sample;
	sample.ip = state->memory->held.registers.rip;
	sample.flags = state->memory->held.registers.eflags;
	sample.follows_call = state->follows_wait;
	sample.reached = &state->memory->reached;
	hold_general(&state->memory->held.registers, sample.general);
	return sample;
}
