/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "window.h"

#include "budget/truncation.h"
#include "copy/sandbox_lock.h"
#include "tuning.h"
#include "window_counts.h"
#include "window_plan.h"
#include "window_record.h"

#include <hpcprof/base/number.h>
#include <hpcprof/base/thread.h>

#include <errno.h>
#include <poll.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum {
	PAGE_BYTES = 4096,
	NS_PER_MS = 1000000,
};

struct hp_error *replayer_create(struct replayer *replayer,
				 const struct simulation_options *simulation)
{
	struct hp_engine_options options = { .logs = simulation->geometry != NULL };
	struct hp_error *error;

	*replayer = (struct replayer){ 0 };
	error = hp_engine_create(&options, &replayer->engine);
	if (!error && simulation->geometry)
		error = simulation_create(simulation, replayer->engine, &replayer->simulation);
	return error;
}

void replayer_clear(struct replayer *replayer)
{
	histories_clear(&replayer->histories);
	buffers_clear(&replayer->buffers);
	if (replayer->simulation)
		simulation_destroy(replayer->simulation);
	replayer->simulation = NULL;
	if (replayer->engine)
		hp_engine_destroy(replayer->engine);
	replayer->engine = NULL;
}

void window_maker_init(struct window_maker *maker, struct replayer *replayer, struct ledger *ledger,
		       int stop_fd)
{
	*maker = (struct window_maker){
		.replayer = replayer,
		.ledger = ledger,
		.stop_fd = stop_fd,
	};
	sandbox_init(&maker->sandbox);
	snapshot_init(&maker->snapshot);
	state_sampler_init(&maker->sampler);
}

void window_maker_clear(struct window_maker *maker)
{
	sandbox_clear(&maker->sandbox);
	hp_vector_free(&maker->huge);
	end_state_clear(&maker->end);
	call_log_clear(&maker->log);
	descriptors_clear(&maker->descriptors);
	shadow_calls_clear(&maker->calls);
	mapped_files_clear(&maker->files);
	rights_clear(&maker->rights);
	rights_clear(&maker->own);
	state_sampler_clear(&maker->sampler);
	snapshot_clear(&maker->snapshot);
}

/* --- before the stop -------------------------------------------------------------------------- */

static bool make_ready(struct window_maker *maker, const struct window_order *order,
		       struct window_result *result)
{
	struct hp_error *error;

	error = descriptors_list(&maker->descriptors, order->tid);
	if (error) {
		window_refuse_reading(result, HP_SHADOW_FAILED, error);
		return false;
	}
	error = state_sampler_open(&maker->sampler, order->pid, order->tid);
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

/* The limit for the duration of the stop. Reading takes longer than predicted if other threads want
 * our CPUs. A stop that exceeds the limit or the rest of the budget is given up without a copy. */
static uint64_t longest_hold_ns(const struct window_maker *maker, const struct window_order *order)
{
	/* All running threads of the process may wait for the held one. */
	uint64_t threads = order->threads ? order->threads : 1;
	uint64_t late_ns =
		LATE_STOP_NS / threads +
		LATE_STOP_FACTOR * ledger_hold(maker->ledger, snapshot_to_read(&maker->snapshot));
	uint64_t left_ns = ledger_left_ns(maker->ledger, order->slot_end_ns) / threads;

	return late_ns < left_ns ? late_ns : left_ns;
}

/* The copy has a vdso of its own (vdso_calls.h), so a copy cannot continue within the original's.
 */
static bool is_in_vdso(const struct window_maker *maker)
{
	const struct area *area = areas_find(&maker->snapshot.areas, maker->state.registers.rip);

	return area && area->kind == AREA_VDSO;
}

/* What is recorded begins with a call, so it may as well begin behind one: a server is seldom elsewhere. */
static enum hold_result hold_outside_vdso(struct window_maker *maker, pid_t tid,
					  struct hold_times *times, struct hp_error **error,
					  enum hp_shadow_refusal *refusal)
{
	const enum hold_where where = maker->is_recorded ? HOLD_BEHIND_CALLS : HOLD_IN_USER_MODE;
	const struct timespec pause = { .tv_nsec = HOLD_PAUSE_NS };
	uint64_t in_vain_ns = 0;
	enum hold_result held;

	for (unsigned i = 0; i < HOLD_TRIES; i++) {
		held = hold_patiently(tid, where, &maker->state, times, error, refusal);
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

/* Ends the stop. If calls are to be recorded, the thread stays traced, and the recorder releases
 * it. */
static void release(struct window_maker *maker, const struct window_order *order,
		    struct hold_times *times, bool is_copied)
{
	if (is_copied && maker->is_recorded)
		hold_keep(times);
	else
		hold_release(order->tid, times);
}

static void take_reached(struct window_maker *maker, pid_t tid)
{
	const struct reached *reached =
		maker->snapshot.has_looked
			? end_state_reach(&maker->end, tid, &maker->state, &maker->snapshot.areas)
			: NULL;

	if (reached)
		snapshot_take_again(&maker->snapshot, reached);
}

/* Holds the thread, reads its memory and state, and releases it. Everything that the target waits
 * for happens here. */
static bool copy(struct window_maker *maker, const struct window_order *order,
		 struct window_result *result)
{
	struct hold_times times;
	struct hp_error *error = NULL;
	enum hp_shadow_refusal refusal = HP_SHADOW_FAILED;
	enum hold_result held;
	struct price_terms terms;
	bool has_grown = false;
	uint64_t stop_ns;

	held = hold_outside_vdso(maker, order->tid, &times, &error, &refusal);
	result->was_in_call = held == HOLD_IN_KERNEL;
	if (result->was_in_call)
		result->in_call_on = maker->state.in_call_on;
	if (held == HOLD_STOPPED) {
		error = snapshot_take(&maker->snapshot,
				      times.start_ns + longest_hold_ns(maker, order));
		if (!error)
			take_reached(maker, order->tid);
		/* INSUFFICIENT without growth means that the time was too short. */
		has_grown = error && error->class == HP_ERROR_INSUFFICIENT &&
			    maker->snapshot.used_bytes > maker->snapshot.buffer.bytes;
		if (error && error->class == HP_ERROR_INSUFFICIENT)
			refusal = HP_SHADOW_BUDGET;
		/* Read while the thread is held: an exec before or after may change the rights. */
		if (!error)
			error = rights_read(&maker->rights, order->pid, order->tid);
		descriptors_read_positions(&maker->descriptors);
		shadow_calls_copied(&maker->calls);
		result->window.time_ns = hp_clock_monotonic_ns();
		if (!error && !state_sampler_enable(&maker->sampler)) {
			error = hp_error_create_errno(errno, "sampling a thread");
			refusal = HP_SHADOW_FAILED;
		}
		release(maker, order, &times, !error);
		stop_ns = times.end_ns - times.start_ns;
		result->recording_ns = stop_ns;
		result->copied_bytes =
			error ? maker->snapshot.read_bytes
			      : runs_bytes(maker->snapshot.runs, maker->snapshot.run_count);
		terms = window_terms(order, maker->snapshot.read_bytes, 0);
		ledger_stop(maker->ledger, stop_ns, &terms);
		window_learn_price(maker, order, stop_ns, result);
	}
	/* The loss by stops without a result. */
	ledger_other(maker->ledger, (double)times.in_vain_ns);
	if (!error && held == HOLD_STOPPED) {
		if (maker->is_recorded)
			window_record(maker, order);
		return true;
	}
	/* Memory that has grown since the buffer was made does not fit; the next buffer is larger.
	 */
	if (has_grown)
		hp_error_destroy(error);
	if (has_grown || !error)
		result->outcome = WINDOW_NOT_NOW;
	else
		window_refuse(result, refusal, error);
	return false;
}

/* --- building the copy ------------------------------------------------------------------------ */

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

/* Everything that needs the target or files, while the target still exists; then gives the sandbox
 * the target's rights and no more. */
static struct hp_error *furnish(struct window_maker *maker, const struct window_order *order)
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

static struct hp_error *build(struct window_maker *maker)
{
	struct hp_error *error = rebuild_contents(&maker->sandbox, &maker->snapshot);

	if (!error)
		vdso_make_calls(&maker->sandbox, &maker->snapshot.areas);
	if (!error)
		error = map_engine(maker);
	if (!error)
		error = rebuild_close(&maker->sandbox, &maker->snapshot.areas);
	if (!error && !hold_give_state(maker->sandbox.pid, &maker->state))
		error = hp_error_create_errno(errno, "giving the copy its registers");
	if (!error)
		error = sandbox_lock(&maker->sandbox);
	maker->calls.sandbox = &maker->sandbox;
	maker->calls.log = maker->is_recorded ? &maker->log : NULL;
	maker->calls.has_exited = !maker->is_recorded && maker->end.has_exited;
	maker->calls.areas = &maker->snapshot.areas;
	maker->calls.descriptors = &maker->descriptors;
	maker->calls.blocked = maker->state.blocked_signals;
	maker->calls.heap = heap_of(&maker->snapshot.areas);
	maker->calls.heap_end = maker->calls.heap.end;
	maker->calls.is_confined =
		rights_are_confined(&maker->rights, &maker->own, maker->is_descendant);
	maker->calls.may_name = !maker->calls.is_confined &&
				rights_are_same(&maker->rights, &maker->own);
	return error;
}

/* --- while the target runs on ----------------------------------------------------------------- */

/* After the window's length has passed: takes the state at its end. True: sampling is over. False:
 * the thread is in the kernel, so try again later. */
static bool take_end(struct window_maker *maker, const struct window_order *order)
{
	enum hold_result held = end_state_take(&maker->end, order->pid, order->tid, &maker->rights,
					       &maker->sampler, &maker->snapshot.areas);
	const struct price_terms terms = window_terms(order, 0, 0);

	ledger_stop(maker->ledger, maker->end.stop_ns, &terms);
	return held != HOLD_IN_KERNEL;
}

/* Takes samples until the thread has used the CPU time of a window and was stopped for its end
 * state; or enough samples were taken after the window; or the thread has ended; or it has not run
 * for too long. */
static struct hp_error *collect_samples(struct window_maker *maker,
					const struct window_order *order, uint64_t start_ns)
{
	struct pollfd polls[2] = {
		{ .fd = maker->stop_fd, .events = POLLIN },
		{ .fd = maker->sampler.fd, .events = POLLIN },
	};
	struct hp_error *error = NULL;
	bool is_over = false;
	bool has_exited = false;

	maker->end.is_known = maker->end.has_exited = false;
	while (!error && !is_over) {
		uint64_t passed_ns = hp_clock_monotonic_ns() - start_ns;

		error = state_sampler_drain(&maker->sampler);
		has_exited = polls[1].revents & POLLHUP;
		is_over = polls[0].revents || (polls[1].revents & (POLLHUP | POLLERR)) ||
			  maker->sampler.tick >= order->samples ||
			  passed_ns > SAMPLING_PATIENCE * order->window_ns;
		if (!error && !is_over && maker->sampler.tick >= order->wanted)
			is_over = take_end(maker, order);
		polls[1].revents = 0;
		/* Wake up once per sampling period: the ring wakes us only when it is half full. */
		if (!is_over && poll(polls, 2, MATCH_PERIOD_NS / NS_PER_MS) > 0 &&
		    (polls[1].revents & POLLIN))
			polls[1].revents &= ~POLLIN;
	}
	if (!error && has_exited)
		end_state_exit(&maker->end, &maker->sampler);
	return error;
}

/* --- replaying -------------------------------------------------------------------------------- */

/* Sets what has ended the window early. Calls that end the thread or the process do not count: they
 * occur once, so they do not bias windows. */
static void judge_end(const struct window_maker *maker, struct window_result *result)
{
	struct hp_window *window = &result->window;

	/* abort() in the copy counts as a crash of the copy. */
	if (window->end == HP_WINDOW_SYSTEM_CALL && maker->calls.has_aborted) {
		window->end = HP_WINDOW_SIGNAL;
		window->end_detail = SIGABRT;
		window->end_call[0] = '\0';
	}
	if (!maker->is_recorded)
		result->wanted_ns = maker->wanted * MATCH_PERIOD_NS;
	result->is_cut_by_call = window->end == HP_WINDOW_SYSTEM_CALL &&
				 window->end_detail != SYS_exit_group &&
				 window->end_detail != SYS_exit;
	result->is_misled = window_is_misled(result->is_ahead, window->end, result->matched);
	result->is_cut = result->is_cut_by_call ||
			 (truncation_is_by_insn(window->end) && !result->is_misled);
	result->may_wait = result->is_cut_by_call && maker->calls.may_wait;
	if (maker->is_recorded)
		window_judge_log(&maker->log, result);
}

static struct hp_error *replay_copy(struct window_maker *maker, struct simulation *simulation,
				    struct window_result *result)
{
	struct hp_engine_limits limits = {
		.time_ns = maker->longest_replay_ns + (simulation ? longest_logging_ns : 0),
		.exits = EXIT_LIMIT,
		.samples = maker->wanted,
		.has_end = !maker->is_recorded && maker->end.is_known,
		.log = simulation ? simulation_log(simulation) : NULL,
	};
	struct hp_engine_calls calls = { shadow_calls_handle, shadow_calls_protect, &maker->calls };
	struct hp_replay replay = { 0 };
	_cleanup_free_ struct hp_engine_sample *samples = window_samples(maker);
	struct hp_error *error;

	if (!samples)
		return hp_error_create_no_memory();
	shadow_clock_start(&maker->calls.clock, maker->sandbox.pid);
	error = hp_engine_replay(maker->replayer->engine, maker->sandbox.pid,
				 &maker->state.registers, samples, window_sample_count(maker),
				 &limits, &calls, &replay);
	if (error)
		return error;
	result->samples = maker->wanted;
	result->matched = replay.matched;
	if (maker->is_recorded)
		window_count_log(&maker->log, result);
	window_take_counts(maker, samples, &replay, &result->window);
	if (simulation)
		simulation_cut(simulation, replay.cuts, result->window.part_count);
	judge_end(maker, result);
	/* hp_shadow_stop has killed the copy. */
	if (replay.end == HP_WINDOW_DIED && window_is_stopping(maker))
		result->window.end = HP_WINDOW_TIME;
	hp_replay_free(&replay);
	return NULL;
}

/* --- the steps -------------------------------------------------------------------------------- */

static void make_end(struct window_maker *maker, struct hp_error *error,
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

/* Copies the thread. Job control must not stop this process while the target is held. */
static bool copy_held(struct window_maker *maker, const struct window_order *order,
		      struct window_result *result)
{
	bool is_copied;

	call_pace_meet(&maker->replayer->pace, order->pid, order->tid);
	hp_thread_begin_unstoppable();
	is_copied = order->is_recorded ? window_copy_apart(maker, order, result, copy)
				       : copy(maker, order, result);
	hp_thread_end_unstoppable();
	return is_copied;
}

/* Sets how many samples the replay is to match, and the limit for its CPU time. requires: the
 * samples have been taken, or the calls recorded. */
static void set_wanted(struct window_maker *maker, const struct window_order *order,
		       struct window_result *result)
{
	struct price_terms terms = window_terms(order, result->copied_bytes, 0);

	terms.window_ns = maker->sampler.tick * MATCH_PERIOD_NS;
	if (maker->is_recorded)
		terms.window_ns = order->window_ns;
	else if (maker->end.is_known)
		maker->wanted = maker->sampler.count + 1;
	else
		maker->wanted = order->wanted < maker->sampler.count ? order->wanted
								     : maker->sampler.count;
	maker->longest_replay_ns =
		ledger_longest_replay_ns(maker->ledger, &terms, result->price_ns,
					 ledger_left_ns(maker->ledger, order->slot_end_ns));
}

bool window_copy(struct window_maker *maker, struct window_order *order,
		 struct window_result *result)
{
	struct hp_error *error = NULL;
	struct price_terms terms;
	bool is_copied;

	*result = (struct window_result){
		.window = { .pid = order->pid, .tid = order->tid, .end = HP_WINDOW_NO_SAMPLES },
		.in_call_on = UINT64_MAX,
	};
	/* The copy stops at each of its system calls while this thread answers it, so both can share
	 * a CPU, and neither displaces the target. */
	step_beside(&order->cpus, &maker->cpus);
	is_copied = window_plan(maker, order, result) && make_ready(maker, order, result);
	/* The CPU of the held thread is idle, so it may read, too. */
	step_back(&maker->cpus);
	is_copied = is_copied && copy_held(maker, order, result);
	maker->is_recorded = is_copied && order->is_recorded;
	if (maker->is_recorded)
		is_copied = window_end_record(maker, order, result);
	step_beside(&order->cpus, &maker->cpus);
	result->is_ahead = is_copied && maker->snapshot.has_looked;
	if (is_copied)
		error = furnish(maker, order);
	/* The window must not differ from other time, so the copy's memory is not filled meanwhile.
	 */
	if (is_copied && !error && !maker->is_recorded)
		error = collect_samples(maker, order, result->window.time_ns);
	terms = window_terms(order, 0, maker->sampler.tick);
	ledger_samples(maker->ledger, &terms);
	set_wanted(maker, order, result);
	/* The copy may wait long, and locked memory is little. */
	state_sampler_end(&maker->sampler);
	if (!is_copied || error)
		make_end(maker, error, result);
	return is_copied && !error;
}

/* The simulation for this window, or NULL if it is not to be simulated. Unless the user asked for
 * all windows, only idle CPU time is used. The next window waits during a simulation, so the first
 * windows are not simulated, and later ones only up to a share of the CPU time of replays. The last
 * window is simulated, because no other one waits for it. */
static struct simulation *simulation_for(struct window_maker *maker,
					 const struct window_order *order)
{
	const struct replayer *replayer = maker->replayer;
	struct simulation *simulation = replayer->simulation;

	if (!simulation || replayer->simulates_always)
		return simulation;
	if (order->room == ROOM_AFTER || (replayer->windows && is_idle_room(order->room)))
		simulation_prepare(simulation, &order->cpus);
	if (order->is_last)
		return simulation;
	return (is_idle_room(order->room) || order->room == ROOM_AFTER) &&
			       replayer->windows >= WINDOWS_BEFORE_SIMULATION &&
			       simulation_spent_ns(simulation) <=
				       replayer->replay_ns / SIMULATION_PART
		       ? simulation
		       : NULL;
}

void window_replay(struct window_maker *maker, const struct window_order *order,
		   struct window_result *result)
{
	struct simulation *simulation;
	struct hp_error *error;

	error = build(maker);
	simulation = error ? NULL : simulation_for(maker, order);
	if (simulation && !simulation_begin(simulation, order->pid, maker->state.registers.fs_base,
					    &order->cpus, order->room != ROOM_AFTER))
		simulation = NULL;
	if (simulation)
		simulation_set_huge(simulation, maker->huge.at, maker->huge.count);
	if (!error)
		error = replay_copy(maker, simulation, result);
	/* Also after an error: the simulation's thread must be idle before the next window. When
	 * the recording ends, the rest of the simulation is dropped with the copies: see
	 * hp_shadow_stop. */
	if (simulation)
		simulation_end(simulation,
			       error || !result->window.part_count ? NULL : &result->window);
	make_end(maker, error, result);
	maker->replayer->windows++;
	maker->replayer->replay_ns += result->replay_ns;
}
