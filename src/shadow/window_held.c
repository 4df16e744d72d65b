/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "window_held.h"

#include "tuning.h"
#include "window_build.h"
#include "window_counts.h"
#include "window_plan.h"

#include <hpcprof/base/number.h>
#include <hpcprof/base/thread.h>

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

/* One held window, while it is made. */
struct held {
	struct window_maker *maker;
	struct window_order *order;
	struct window_result *result;
	struct on_demand on_demand;
	struct areas now; /* the target's areas while it is held */
	struct rights rights;
	struct price_terms terms;
	uint64_t start_ns;   /* of the stop (CLOCK_MONOTONIC) */
	uint64_t process_ns; /* CPU time of the target's process then */
	uint64_t stop_ns;    /* how long it was held for the trial, … */
	uint64_t trial_ns;   /* … and the copy's CPU time of it */
};

static struct price_terms terms_of(const struct window_order *order)
{
	struct price_terms terms = window_terms(order, HELD_BYTES, 0);

	terms.is_later = false;
	terms.is_recorded = false;
	return terms;
}

bool window_may_hold(const struct window_maker *maker, const struct window_order *order,
		     struct window_result *result)
{
	const struct ledger *ledger = maker->ledger;
	const struct price_terms terms = terms_of(order);
	uint64_t least_ns = order->threads > 1 ? held_least_threads_ns : held_least_ns;

	if (result->outcome != WINDOW_REFUSED || result->refusal != HP_SHADOW_BUDGET ||
	    order->is_recorded || maker->replayer->holds_not ||
	    maker->replayer->held >= HELD_WINDOWS ||
	    maker->replayer->held_counted >= HELD_COUNTED ||
	    ledger_slot(ledger, result->price_ns) < least_ns)
		return false;
	/* The next slot is one of a held window. */
	result->price_ns = ledger_held_price(ledger, &terms);
	return ledger_allows(ledger, result->price_ns, order->begin_ns, order->slot_end_ns);
}

/* --- before the stop -------------------------------------------------------------------------- */

/* The copy stops at each fault, and waking an idle CPU up takes longer than all else about a fault. So it
 * shares one with this thread: that of the held thread, or an idle one. */
static void choose_cpu(struct window_order *order)
{
	int cpu = is_idle_room(order->room) ? -1 : cpu_of_thread(order->tid);

	for (size_t i = 0; cpu < 0 && i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &order->cpus))
			cpu = (int)i;
	if (cpu < 0)
		return;
	CPU_ZERO(&order->cpus);
	CPU_SET((size_t)cpu, &order->cpus);
}

/* The CPU time of all threads of the process. */
static uint64_t process_cpu_ns(pid_t pid)
{
	struct timespec used;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) < 0)
		return 0;
	return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

/* What the other threads have used since the stop began. */
static uint64_t others_ns(const struct held *held)
{
	return process_cpu_ns(held->order->pid) - held->process_ns;
}

/* Ends the stop in time: the budget pays for what it really costs. */
static void look_at_price(struct held *held)
{
	uint64_t lost_ns = held_loss_ns(&held->terms, hp_clock_monotonic_ns() - held->start_ns,
					others_ns(held));

	held->on_demand.is_over = lost_ns >=
				  ledger_left_ns(held->maker->ledger, held->order->slot_end_ns);
}

static bool fill(void *context, uint64_t address)
{
	struct held *held = context;

	if (held->start_ns && held->on_demand.fills % HELD_LOOK_FILLS == 0 &&
	    !held->on_demand.is_over)
		look_at_price(held);
	return on_demand_fill(&held->on_demand, address);
}

static struct hp_error *make_room(struct held *held)
{
	struct buffer *buffer = &held->maker->snapshot.buffer;
	struct hp_error *error =
		buffer_enlarge(buffer, HELD_BYTES, FILL_PAID, UINT64_MAX, held->maker->stop_fd);

	ledger_filled(held->maker->ledger, &held->terms, buffer->filled_ns, buffer->filled_bytes);
	return error;
}

static struct hp_error *prepare(struct held *held)
{
	struct window_maker *maker = held->maker;
	struct hp_error *error =
		snapshot_list(&maker->snapshot, held->order->pid, held->order->tid);

	held->order->areas = maker->snapshot.areas.count;
	if (!error && maker->snapshot.buffer.bytes < HELD_BYTES)
		error = make_room(held);
	return error;
}

static struct hp_error *build(struct held *held)
{
	struct window_maker *maker = held->maker;
	struct hp_error *error = window_furnish_on_demand(maker, held->order, &held->on_demand);

	hp_engine_fill_by(maker->replayer->engine, fill, held);
	/* The thread will wait for it. */
	set_copy_priority(maker->sandbox.pid, ROOM_NONE);
	return error ? error : window_close(maker);
}

/* --- the stop --------------------------------------------------------------------------------- */

static bool areas_agree(const struct areas *left, const struct areas *right)
{
	if (left->count != right->count)
		return false;
	for (size_t i = 0; i < left->count; i++) {
		const struct area *a = &left->at[i], *b = &right->at[i];

		if (a->start != b->start || a->end != b->end || a->protection != b->protection ||
		    a->inode != b->inode || a->file_offset != b->file_offset)
			return false;
	}
	return true;
}

/* Whether the copy is still one of this thread: of its mappings, its code and its rights. */
static bool is_as_prepared(struct held *held)
{
	struct window_maker *maker = held->maker;
	struct hp_error *error = areas_read(&held->now, held->order->tid);

	if (!error)
		error = rights_read(&held->rights, held->order->pid, held->order->tid);
	if (error) {
		hp_error_destroy(error);
		return false;
	}
	return areas_agree(&held->now, &maker->snapshot.areas) &&
	       rights_are_same(&held->rights, &maker->rights) &&
	       on_demand_is_same(&held->on_demand);
}

/* What a call would do is not known yet. */
static struct hp_engine_call refuse_call(void *context, pid_t pid,
					 const struct user_regs_struct *registers)
{
	(void)context;
	(void)pid;
	(void)registers;
	return (struct hp_engine_call){ 0 };
}

/* Lets the copy run ahead. */
static struct hp_error *try_copy(struct held *held, uint64_t until_ns)
{
	struct window_maker *maker = held->maker;
	struct hp_engine_calls calls = { refuse_call, NULL, NULL };
	uint64_t now_ns = hp_clock_monotonic_ns();
	struct hp_engine_limits limits = {
		.time_ns = HELD_TRIAL_NS,
		.wall_ns = until_ns > now_ns ? until_ns - now_ns : 1,
		.exits = EXIT_LIMIT,
		.is_trial = true,
	};
	struct hp_replay trial = { 0 };
	struct hp_error *error = window_give_state(maker);

	held->on_demand.until_ns = until_ns;
	/* The top of the stack is compared with later states. */
	(void)on_demand_fill(&held->on_demand, maker->state.registers.rsp);
	(void)on_demand_fill(&held->on_demand, maker->state.registers.rsp + MATCH_STACK_BYTES);
	if (!error)
		error = hp_engine_replay(maker->replayer->engine, maker->sandbox.pid,
					 &maker->state.registers, NULL, 0, &limits, &calls, &trial);
	held->on_demand.is_over = true;
	held->trial_ns = sandbox_cpu_ns(&maker->sandbox);
	hp_replay_free(&trial);
	return error;
}

/* Holds the thread for the trial. */
static bool explore(struct held *held, struct hp_error **error)
{
	struct window_maker *maker = held->maker;
	struct window_result *result = held->result;
	enum hp_shadow_refusal refusal = HP_SHADOW_FAILED;
	struct hold_times times;
	enum hold_result got = window_hold(maker, held->order->tid, &times, error, &refusal);
	uint64_t cpu_ns = hp_clock_thread_ns();
	uint64_t others = 0;
	bool is_ready = false;

	if (got == HOLD_STOPPED) {
		held->process_ns = process_cpu_ns(held->order->pid);
		held->start_ns = times.start_ns;
		is_ready = is_as_prepared(held);
		if (is_ready)
			*error = try_copy(held, times.start_ns + HELD_LONGEST_NS);
		shadow_calls_copied(&maker->calls);
		if (!state_sampler_enable(&maker->sampler) && !*error)
			*error = hp_error_create_errno(errno, "sampling a thread");
		result->window.time_ns = hp_clock_monotonic_ns();
		others = others_ns(held);
		hold_release(held->order->tid, &times);
		held->stop_ns = times.end_ns - times.start_ns;
		result->recording_ns = held->stop_ns;
		held->terms.bytes = maker->snapshot.used_bytes;
		ledger_held(maker->ledger, held->stop_ns, others, &held->terms);
		result->held_cpu_ns = hp_clock_thread_ns() - cpu_ns;
	} else if (got == HOLD_IN_KERNEL) {
		result->in_call_on = maker->state.in_call_on;
	}
	result->copied_bytes = maker->snapshot.used_bytes;
	ledger_other(maker->ledger, (double)times.in_vain_ns);
	return is_ready && !*error;
}

/* --- while the target runs on ----------------------------------------------------------------- */

static bool take_state(struct held *held, struct end_state *state, uint64_t after_ns, bool is_last)
{
	struct window_maker *maker = held->maker;
	const struct price_terms terms = window_terms(held->order, 0, 0);
	const struct timespec length = { .tv_nsec = (long)after_ns };
	enum hold_result got = HOLD_IN_KERNEL;

	for (unsigned i = 0; got == HOLD_IN_KERNEL && i < HELD_TRIES; i++) {
		nanosleep(&length, NULL);
		got = end_state_take(state, held->order->pid, held->order->tid, &maker->rights,
				     &maker->sampler, &maker->snapshot.areas, is_last);
		ledger_stop(maker->ledger, state->stop_ns, &terms);
	}
	return got == HOLD_STOPPED && state->is_known;
}

/* --- replaying -------------------------------------------------------------------------------- */

/* Moves the counts into the window. */
static void take_counts(struct held *held, struct hp_replay *replay)
{
	const struct window_maker *maker = held->maker;
	struct hp_window *window = &held->result->window;
	bool is_warm;

	window->end = (uint8_t)replay->end;
	window->end_detail = replay->end_detail;
	if (replay->end == HP_WINDOW_SYSTEM_CALL)
		shadow_calls_describe_end(&maker->calls, replay->end_detail, window->end_call,
					  sizeof(window->end_call));
	if (replay->end != HP_WINDOW_COMPLETE || replay->part_count != 1)
		return;
	is_warm = replay->cuts[0] != HP_REPLAY_START;
	if (is_warm)
		window->time_ns = maker->begin.time_ns;
	window->part_count = 1;
	window->parts[0] = (struct hp_window_part){
		.end_ns = maker->end.time_ns,
		.duration_ns = maker->end.cpu_ns - (is_warm ? maker->begin.cpu_ns : 0),
	};
	window->instructions = replay->instructions;
	window->blocks = hp_steal(replay->blocks);
	window->block_count = replay->block_count;
	window->edges = hp_steal(replay->edges);
	window->edge_count = replay->edge_count;
	replay->block_count = replay->edge_count = 0;
	window_drop_vdso(maker->calls.areas, window);
	window_drop_impossible(window);
}

static struct hp_error *replay(struct held *held)
{
	struct window_maker *maker = held->maker;
	struct hp_engine_sample samples[] = { end_state_sample(&maker->begin),
					      end_state_sample(&maker->end) };
	struct hp_engine_limits limits = {
		.time_ns = 2 * HELD_TRIAL_NS,
		.exits = EXIT_LIMIT,
		.samples = 2,
		.has_end = true,
		.begins_late = true,
	};
	struct hp_engine_calls calls = { refuse_call, NULL, NULL };
	struct hp_replay counted = { 0 };
	struct hp_error *error = snapshot_scrub(&maker->snapshot);

	if (!error)
		error = rebuild_contents(&maker->sandbox, &maker->snapshot);
	if (!error)
		error = window_give_state(maker);
	if (!error)
		error = hp_engine_replay(maker->replayer->engine, maker->sandbox.pid,
					 &maker->state.registers, samples, 2, &limits, &calls,
					 &counted);
	if (error)
		return error;
	/* A window has one more than periods: this one is far shorter than a period. */
	held->result->samples = 1;
	take_counts(held, &counted);
	held->result->matched = held->result->window.part_count > 0;
	hp_replay_free(&counted);
	return NULL;
}

/* --- all of it -------------------------------------------------------------------------------- */

/* Sleeps of this thread end on time: the default is within 50 us. */
static void be_punctual(bool is_punctual)
{
	prctl(PR_SET_TIMERSLACK, is_punctual ? 1 : 0);
}

static bool make(struct held *held, struct hp_error **error)
{
	struct window_maker *maker = held->maker;
	bool is_done;

	*error = prepare(held);
	if (*error || !window_make_ready(maker, held->order, held->result))
		return false;
	*error = build(held);
	if (*error)
		return false;
	hp_thread_begin_unstoppable();
	is_done = explore(held, error);
	hp_thread_end_unstoppable();
	be_punctual(true);
	is_done = is_done && take_state(held, &maker->begin, HELD_WARMING_NS, false) &&
		  take_state(held, &maker->end, HELD_COUNTED_NS, true);
	be_punctual(false);
	state_sampler_end(&maker->sampler);
	if (is_done)
		*error = replay(held);
	return is_done;
}

/* The thread may do something else now, or end. Errors of copies are counted as windows are refused. */
static void conclude(struct held *held, bool is_made, struct hp_error *error)
{
	struct window_maker *maker = held->maker;
	struct window_result *result = held->result;

	if (held->on_demand.fd < 0 && error && maker->sandbox.pid) {
		/* The kernel does not let us. */
		maker->replayer->holds_not = true;
		hp_error_destroy(error);
		error = NULL;
	}
	if (!is_made && result->outcome == WINDOW_MADE)
		result->outcome = WINDOW_NOT_NOW;
	window_make_end(maker, error, result);
	result->replay_ns -= held->trial_ns < result->replay_ns ? held->trial_ns
								: result->replay_ns;
	/* Nothing of the target stays here. */
	if (maker->snapshot.used_bytes)
		memset(maker->snapshot.buffer.at, 0, maker->snapshot.used_bytes);
}

bool window_held(struct window_maker *maker, struct window_order *order,
		 struct window_result *result)
{
	struct held held = {
		.maker = maker, .order = order, .result = result, .terms = terms_of(order)
	};
	struct hp_error *error = NULL;
	bool is_made;

	if (pthread_mutex_trylock(&maker->replayer->turn) != 0)
		return false;
	hp_error_destroy(result->error);
	*result = (struct window_result){
		.window = { .pid = order->pid, .tid = order->tid, .end = HP_WINDOW_NO_SAMPLES },
		.in_call_on = UINT64_MAX,
		.is_held = true,
		.is_paced = true,
		.price_ns = ledger_held_price(maker->ledger, &held.terms),
	};
	order->is_later = order->is_written = order->is_recorded = false;
	order->window_ns = HELD_WARMING_NS + HELD_COUNTED_NS;
	on_demand_init(&held.on_demand);
	choose_cpu(order);
	step_beside(&order->cpus, &maker->cpus);
	is_made = make(&held, &error);
	conclude(&held, is_made, error);
	if (held.stop_ns) {
		maker->replayer->held++;
		maker->replayer->held_counted += result->window.part_count > 0;
	}
	hp_engine_fill_by(maker->replayer->engine, NULL, NULL);
	on_demand_close(&held.on_demand);
	areas_clear(&held.now);
	rights_clear(&held.rights);
	pthread_mutex_unlock(&maker->replayer->turn);
	return is_made;
}
