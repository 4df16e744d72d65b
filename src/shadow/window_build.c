/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "window_build.h"

#include "copy/sandbox_lock.h"
#include "tuning.h"
#include "window_plan.h"

#include <errno.h>
#include <sched.h>
#include <time.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { PAGE_BYTES = 4096 };

/* --- before the stop -------------------------------------------------------------------------- */

bool window_make_ready(struct window_maker *maker, const struct window_order *order,
		       struct window_result *result)
{
	struct hp_error *error;

	error = descriptors_list(&maker->descriptors, order->tid);
	if (error) {
		window_refuse_reading(result, HP_SHADOW_FAILED, error);
		return false;
	}
	error = state_sampler_open(&maker->sampler, order->tid);
	if (!error && !shadow_calls_identify(&maker->calls, order->pid, order->tid))
		error = hp_error_create(HP_ERROR_NOT_FOUND, "the thread has ended");
	if (!error)
		error = sandbox_create(&maker->sandbox, &maker->snapshot.areas, &order->cpus);
	/* A copy that waits is made at normal priority; its own is set when it runs. */
	if (!error && !order->is_later)
		set_copy_priority(maker->sandbox.pid, order->room);
	maker->is_recorded = order->is_recorded;
	if (!error && maker->is_recorded && !call_log_begin(&maker->log))
		error = hp_error_create_no_memory();
	if (error)
		window_refuse(result, HP_SHADOW_FAILED, error);
	return !error;
}

/* --- the stop --------------------------------------------------------------------------------- */

/* The copy has a vdso of its own (vdso_calls.h), so a copy cannot continue within the original's.
 */
static bool is_in_vdso(const struct window_maker *maker)
{
	const struct area *area = areas_find(&maker->snapshot.areas, maker->state.registers.rip);

	return area && area->kind == AREA_VDSO;
}

enum hold_result window_hold(struct window_maker *maker, pid_t tid, struct hold_times *times,
			     struct hp_error **error, enum hp_shadow_refusal *refusal)
{
	const struct timespec pause = { .tv_nsec = HOLD_PAUSE_NS };
	uint64_t in_vain_ns = 0;
	enum hold_result held;

	for (unsigned i = 0; i < HOLD_TRIES; i++) {
		held = hold_in_user_mode(tid, &maker->state, times, error, refusal);
		times->in_vain_ns += in_vain_ns;
		if (held != HOLD_STOPPED || !is_in_vdso(maker))
			return held;
		hold_release(tid, times);
		in_vain_ns = times->in_vain_ns + times->end_ns - times->start_ns;
		nanosleep(&pause, NULL);
	}
	times->in_vain_ns = in_vain_ns;
	return HOLD_IN_KERNEL;
}

/* --- the copy --------------------------------------------------------------------------------- */

static struct sandbox_range heap_of(const struct areas *areas)
{
	for (size_t i = 0; i < areas->count; i++) {
		if (areas->at[i].kind == AREA_HEAP)
			return (struct sandbox_range){ areas->at[i].start, areas->at[i].end };
	}
	return (struct sandbox_range){ 0 };
}

/* Opens the engine's memory in the sandbox, before the sandbox loses the right to open files. */
static struct hp_error *open_engine(struct window_maker *maker)
{
	const struct hp_engine *engine = maker->replayer->engine;
	int fd;

	for (size_t i = 0; (fd = hp_engine_memory(engine, i)) >= 0; i++) {
		int64_t *fds = maker->engine_fds[i];

		fds[0] = sandbox_open(&maker->sandbox, fd, O_RDONLY);
		fds[1] = sandbox_open(&maker->sandbox, fd, O_RDWR);
		if (fds[0] < 0 || fds[1] < 0)
			return hp_error_create(HP_ERROR_SYSTEM,
					       "the engine's memory cannot be opened");
	}
	return NULL;
}

static struct hp_error *map_engine(struct window_maker *maker)
{
	const struct hp_engine_mapping *mappings;
	size_t count;
	struct hp_error *error = hp_engine_prepare(maker->replayer->engine, maker->sandbox.pid,
						   &maker->snapshot.areas, &mappings, &count);

	for (size_t i = 0; !error && i < count; i++) {
		const struct hp_engine_mapping *mapping = &mappings[i];
		bool is_written = mapping->protection & PROT_WRITE;
		int64_t at = sandbox_call(
			&maker->sandbox, SYS_mmap, mapping->address, mapping->bytes,
			(uint64_t)mapping->protection, MAP_SHARED | MAP_FIXED_NOREPLACE,
			(uint64_t)maker->engine_fds[mapping->memory][is_written], mapping->offset);

		if (at != (int64_t)mapping->address ||
		    !sandbox_reserve(&maker->sandbox, mapping->address - PAGE_BYTES,
				     mapping->bytes + 2 * PAGE_BYTES))
			error = hp_error_create_errno(at < 0 ? (int)-at : EIO,
						      "mapping the engine's memory");
	}
	return error;
}

struct hp_error *window_furnish(struct window_maker *maker, const struct window_order *order)
{
	struct hp_error *error = snapshot_scrub(&maker->snapshot);

	if (!error)
		error = rebuild(&maker->sandbox, &maker->snapshot, &maker->files);
	if (!error)
		error = open_engine(maker);
	if (!error)
		error = rights_give(&maker->sandbox, order->pid, &maker->rights, &maker->own);
	return error;
}

static void set_calls(struct window_maker *maker)
{
	struct shadow_calls *calls = &maker->calls;

	calls->sandbox = &maker->sandbox;
	calls->log = maker->is_recorded ? &maker->log : NULL;
	calls->areas = &maker->snapshot.areas;
	calls->descriptors = &maker->descriptors;
	calls->heap = heap_of(&maker->snapshot.areas);
	calls->heap_end = calls->heap.end;
	calls->is_confined = rights_are_confined(&maker->rights, &maker->own, maker->is_descendant);
	calls->may_name = !calls->is_confined && rights_are_same(&maker->rights, &maker->own);
}

struct hp_error *window_close(struct window_maker *maker)
{
	struct hp_error *error;

	vdso_make_calls(&maker->sandbox, &maker->snapshot.areas);
	error = map_engine(maker);
	if (!error)
		error = rebuild_close(&maker->sandbox, &maker->snapshot.areas);
	if (!error)
		error = sandbox_lock(&maker->sandbox);
	set_calls(maker);
	return error;
}

struct hp_error *window_give_state(struct window_maker *maker)
{
	maker->calls.blocked = maker->state.blocked_signals;
	if (!hold_give_state(maker->sandbox.pid, &maker->state))
		return hp_error_create_errno(errno, "giving the copy its registers");
	return NULL;
}

struct hp_error *window_build(struct window_maker *maker)
{
	struct hp_error *error = rebuild_contents(&maker->sandbox, &maker->snapshot);

	if (!error)
		error = window_close(maker);
	if (!error)
		error = window_give_state(maker);
	return error;
}

struct hp_error *window_furnish_on_demand(struct window_maker *maker,
					  const struct window_order *order,
					  struct on_demand *on_demand)
{
	struct hp_error *error = on_demand_open(on_demand, &maker->sandbox, &maker->snapshot);

	if (!error)
		error = rebuild_on_demand(&maker->sandbox, &maker->snapshot, on_demand);
	if (!error)
		error = open_engine(maker);
	if (!error)
		error = rights_give(&maker->sandbox, order->pid, &maker->rights, &maker->own);
	return error;
}

void window_make_end(struct window_maker *maker, struct hp_error *error,
		     struct window_result *result)
{
	sandbox_kill(&maker->sandbox, &result->replay_ns);
	step_back(&maker->cpus);
	state_sampler_close(&maker->sampler);
	/* hp_shadow_stop has killed the copy. */
	if (error && window_is_stopping(maker)) {
		hp_error_destroy(error);
		result->outcome = WINDOW_NOT_NOW;
		return;
	}
	if (error)
		window_refuse(result, HP_SHADOW_FAILED, error);
}
