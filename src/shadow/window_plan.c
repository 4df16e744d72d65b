/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "window_plan.h"

#include "budget/truncation.h"
#include "copy/permission.h"
#include "tuning.h"

#include <hpcprof/base/number.h>

#include <errno.h>
#include <poll.h>
#include <unistd.h>

/* The target's memory exists twice: in the buffer, and in the copy. */
enum { COPIES = 2 };

void window_refuse(struct window_result *result, enum hp_shadow_refusal refusal,
		   struct hp_error *error)
{
	/* The thread has ended: that is no reason to report. */
	if (error && (error->class == HP_ERROR_NOT_FOUND || error->errno_value == ESRCH)) {
		hp_error_destroy(error);
		result->outcome = WINDOW_NOT_NOW;
		return;
	}
	result->outcome = WINDOW_REFUSED;
	result->refusal = refusal;
	result->error = error;
}

void window_refuse_reading(struct window_result *result, enum hp_shadow_refusal refusal,
			   struct hp_error *error)
{
	if (error && error->errno_value == EACCES) {
		hp_error_destroy(error);
		result->outcome = WINDOW_NOT_NOW;
		return;
	}
	window_refuse(result, refusal, error);
}

bool window_is_stopping(const struct window_maker *maker)
{
	struct pollfd poll_stop = { .fd = maker->stop_fd, .events = POLLIN };

	return poll(&poll_stop, 1, 0) > 0;
}

/* --- the price ---------------------------------------------------------------------------------
 */

struct price_terms window_terms(const struct window_order *order, uint64_t bytes, uint64_t samples)
{
	return (struct price_terms){
		.bytes = bytes,
		.samples = samples,
		.areas = order->areas,
		.resident_bytes = order->resident_bytes,
		.window_ns = order->window_ns,
		.threads = order->threads,
		.runnable = order->runnable,
		.room = order->room,
		.is_later = order->is_later,
		.is_written = order->is_written,
		.is_recorded = order->is_recorded,
	};
}

void window_learn_price(struct window_maker *maker, const struct window_order *order,
			uint64_t stop_ns, struct window_result *result)
{
	const struct snapshot *snapshot = &maker->snapshot;
	uint64_t threads = order->threads ? order->threads : 1;
	uint64_t before_ns = ledger_hold(maker->ledger, snapshot_to_read(snapshot));
	uint64_t after_ns;

	/* A stop that read nothing tells nothing about the cost of reading. */
	if (!snapshot->read_bytes)
		return;
	ledger_read(maker->ledger, stop_ns, snapshot->read_bytes);
	after_ns = ledger_hold(maker->ledger, snapshot_to_read(snapshot));
	if (after_ns > before_ns)
		result->price_ns += threads * (after_ns - before_ns);
}

/* Checks that the target's memory may be read, and that a copy can be given the target's rights. */
static struct hp_error *check_rights(struct window_maker *maker, const struct window_order *order)
{
	struct hp_error *error = shadow_permission_of(order->tid);

	if (!error)
		error = rights_read(&maker->own, getpid(), gettid());
	if (!error)
		error = rights_read(&maker->rights, order->pid, order->tid);
	if (!error)
		error = rights_can_be_given(&maker->rights, &maker->own);
	maker->is_descendant = rights_descend(order->pid, getpid());
	return error;
}

/* The plan of a window. */
struct plan {
	uint64_t asked_ns;    /* the requested length; 0: the best length */
	uint64_t bytes;	      /* of memory to copy */
	uint64_t ahead_bytes; /* the part of `bytes` that is read before the stop */
};

static struct price_terms terms_of_plan(const struct window_order *order, const struct plan *plan)
{
	struct price_terms terms = window_terms(order, plan->bytes, order->samples);

	terms.ahead_bytes = plan->ahead_bytes;
	terms.window_ns = order->window_ns;
	return terms;
}

/* Sets the window's length and price. Whether the budget pays for it. */
static bool can_pay(const struct window_maker *maker, struct window_order *order,
		    const struct plan *plan, struct window_result *result)
{
	struct price_terms terms;

	order->samples = 0;
	terms = terms_of_plan(order, plan);
	order->window_ns = plan->asked_ns ? plan->asked_ns
					  : ledger_window_ns(maker->ledger, &terms);
	if (order->longest_ns && order->window_ns > order->longest_ns)
		order->window_ns = order->longest_ns;
	/* The last sample is at the end of the window, or just after it. */
	order->wanted = order->window_ns / MATCH_PERIOD_NS + 1;
	order->samples = order->wanted + ledger_samples_behind(maker->ledger);
	terms = terms_of_plan(order, plan);
	result->price_ns = ledger_price(maker->ledger, &terms);
	return ledger_allows(maker->ledger, result->price_ns, order->begin_ns, order->slot_end_ns);
}

/* The same, and refuses the window if the budget does not pay for it. */
static bool pay(const struct window_maker *maker, struct window_order *order,
		const struct plan *plan, struct window_result *result)
{
	struct price_terms terms;

	if (can_pay(maker, order, plan, result))
		return true;
	terms = terms_of_plan(order, plan);
	window_refuse(result, HP_SHADOW_BUDGET,
		      ledger_too_dear(maker->ledger, &terms, result->price_ns));
	return false;
}

/* Whether memory should be read ahead: if that takes nearly nothing from the target, and the stop
 * would otherwise be long. The disadvantage is that some pages have their contents of an earlier
 * moment, and a copy that needs one of them ends there. */
static bool is_worth_a_look(const struct window_maker *maker, const struct window_order *order,
			    uint64_t bytes)
{
	const struct price_terms terms = window_terms(order, bytes, 0);

	return is_idle_room(order->room) && !order->is_later && bytes >> 20 <= LOOK_MOST_MIB &&
	       ledger_slot(maker->ledger, ledger_price(maker->ledger, &terms)) >= look_least_ns;
}

/* Sets which calm pages the stop reads with those that change: it may have missed that they do, and
 * it has if copies were misled. */
static void set_reach(struct snapshot *snapshot, const struct history *history)
{
	uint64_t changing = snapshot->hot_bytes + snapshot->new_bytes;
	uint64_t most_bytes = NEAR_TIMES * changing * (1 + history->misled);
	unsigned pages = FARTHEST_REACH;

	snapshot_set_reach(snapshot, pages);
	while (pages > 1 && snapshot->near_bytes > most_bytes)
		snapshot_set_reach(snapshot, pages /= 4);
}

/* Reads memory ahead, so that less is left for the stop. After the first reading of a process it is
 * not known which pages change. If only these new pages make the window too expensive, the result
 * is WINDOW_NOT_NOW: a second reading soon finds out that most of them do not change. */
static bool look(struct window_maker *maker, struct window_order *order, struct plan *plan,
		 struct window_result *result)
{
	struct snapshot *snapshot = &maker->snapshot;
	struct history *history =
		histories_of(&maker->replayer->histories, order->pid, hp_clock_monotonic_ns());
	struct hp_error *error = snapshot_look(snapshot, history, maker->stop_fd);

	if (error && error->class != HP_ERROR_INSUFFICIENT) {
		window_refuse(result, HP_SHADOW_FAILED, error);
		return false;
	}
	set_reach(snapshot, history);
	plan->bytes = snapshot->used_bytes;
	plan->ahead_bytes = plan->bytes - snapshot_to_read(snapshot);
	if (!error && can_pay(maker, order, plan, result))
		return true;
	plan->ahead_bytes = plan->bytes - (snapshot_to_read(snapshot) - snapshot->new_bytes);
	if (!error && !pay(maker, order, plan, result))
		return false;
	hp_error_destroy(error);
	result->outcome = WINDOW_NOT_NOW;
	return false;
}

bool window_is_misled(bool is_ahead, enum hp_window_end end, uint64_t matched)
{
	return is_ahead && (end == HP_WINDOW_SIGNAL || end == HP_WINDOW_LOST ||
			    (truncation_is_by_insn(end) && !matched));
}

static bool has_misled(struct histories *histories, pid_t pid)
{
	return histories_of(histories, pid, hp_clock_monotonic_ns())->misled;
}

/* Pays for a window with the plan's memory, and decides whether to read memory ahead: not after a
 * copy with such memory was misled, if the budget pays for reading all of it. */
static bool pay_beforehand(const struct window_maker *maker, struct window_order *order,
			   struct plan *plan, struct window_result *result)
{
	plan->ahead_bytes = 0;
	if (!is_worth_a_look(maker, order, plan->bytes))
		return pay(maker, order, plan, result);
	if (has_misled(&maker->replayer->histories, order->pid) &&
	    can_pay(maker, order, plan, result))
		return true;
	plan->ahead_bytes = plan->bytes;
	return pay(maker, order, plan, result);
}

static bool has_memory(uint64_t bytes, uint64_t have)
{
	return bytes < UINT64_MAX / COPIES && bytes * COPIES <= have;
}

/* After idle CPU time did not suffice to make the buffer: whether the budget pays for the rest. */
static bool pay_for_room(const struct window_maker *maker, const struct window_order *order,
			 const struct price_terms *terms, struct window_result *result)
{
	result->price_ns +=
		ledger_memory_price(maker->ledger, terms, snapshot_missing_bytes(&maker->snapshot));
	if (ledger_allows(maker->ledger, result->price_ns, order->begin_ns, order->slot_end_ns))
		return true;
	window_refuse(result, HP_SHADOW_BUDGET,
		      ledger_too_dear(maker->ledger, terms, result->price_ns));
	return false;
}

/* Makes room in the buffer, first in idle CPU time, then in CPU time that the budget pays for. */
static bool make_room(struct window_maker *maker, const struct window_order *order,
		      const struct plan *plan, struct window_result *result)
{
	const struct price_terms terms = terms_of_plan(order, plan);
	struct snapshot *snapshot = &maker->snapshot;
	uint64_t budget_ns = ledger_left_ns(maker->ledger, order->slot_end_ns);
	/* What is left of it when the window is paid for. */
	uint64_t left_ns = budget_ns > result->price_ns ? budget_ns - result->price_ns : 0;
	struct hp_error *error = snapshot_reserve(snapshot, FILL_IDLE, UINT64_MAX, maker->stop_fd);
	ledger_filled_idly(maker->ledger, &terms, snapshot->filled_ns, snapshot->filled_bytes);
	if (error && error->class == HP_ERROR_INSUFFICIENT && !window_is_stopping(maker)) {
		hp_error_destroy(error);
		if (!pay_for_room(maker, order, &terms, result))
			return false;
		error = snapshot_reserve(snapshot, FILL_PAID, time_for_loss_ns(&terms, left_ns),
					 maker->stop_fd);
		ledger_filled(maker->ledger, &terms, snapshot->filled_ns, snapshot->filled_bytes);
	}
	/* The recording ends; or there is not enough CPU time now, but there may be soon. */
	if (error && (window_is_stopping(maker) || error->class == HP_ERROR_INSUFFICIENT)) {
		hp_error_destroy(error);
		result->outcome = WINDOW_NOT_NOW;
		return false;
	}
	if (error)
		window_refuse(result, HP_SHADOW_MEMORY, error);
	return !error;
}

static bool add_huge(void *context, uint64_t start, uint64_t end)
{
	struct window_maker *maker = context;

	return hp_vector_push(&maker->huge, ((struct hp_uarch_huge){ start, end }));
}

/* For the models of TLBs. Without it all pages are small to them. */
static void find_huge(struct window_maker *maker)
{
	maker->huge.count = 0;
	if (maker->replayer->simulation)
		hp_error_destroy(snapshot_find_huge(&maker->snapshot, add_huge, maker));
}

/* Takes the best buffer for the plan. False: a copy that runs has a better one, and its end is worth
 * waiting for, as making what is missing of this one would take longer, and CPU time that the copy
 * wants. Where no CPU is idle, copies wait themselves, for as long as that lasts. */
static bool take_buffer(struct window_maker *maker, const struct window_order *order,
			const struct plan *plan)
{
	const struct price_terms terms = terms_of_plan(order, plan);
	struct buffers *buffers = &maker->replayer->buffers;
	struct buffer *mine = &maker->snapshot.buffer;

	buffers_give(buffers, mine);
	buffers_take(buffers, plan->bytes, order->is_later, mine);
	return mine->bytes >= plan->bytes || order->is_later ||
	       ledger_filling_ns(maker->ledger, &terms, plan->bytes - mine->bytes) <=
		       FILL_PATIENCE_NS ||
	       !buffers_away_suffice(buffers, mine, plan->bytes);
}

/* Pays twice: first for an estimate of the memory, which takes no time, then for the real amount,
 * because listing all pages takes milliseconds. */
bool window_plan(struct window_maker *maker, struct window_order *order,
		 struct window_result *result)
{
	struct plan plan = { .asked_ns = order->window_ns };
	struct hp_error *error = check_rights(maker, order);

	if (error) {
		window_refuse_reading(result, HP_SHADOW_NOT_PERMITTED, error);
		return false;
	}
	order->areas = 0;
	/* Where no CPU is idle, making the buffer has to be cheap. Writing the copy's memory takes
	 * more time than mapping it, but later. */
	order->is_written = order->is_later;
	plan.bytes = snapshot_expect(order->pid, &order->resident_bytes);
	if (!take_buffer(maker, order, &plan)) {
		result->outcome = WINDOW_NOT_NOW;
		return false;
	}
	if (!pay_beforehand(maker, order, &plan, result))
		return false;
	error = snapshot_prepare(&maker->snapshot, order->tid, &plan.bytes);
	order->areas = maker->snapshot.areas.count;
	if (error) {
		window_refuse_reading(result, HP_SHADOW_MAPPINGS, error);
		return false;
	}
	if (!pay_beforehand(maker, order, &plan, result))
		return false;
	if (!has_memory(plan.bytes, memory_to_spare() + maker->snapshot.buffer.bytes)) {
		window_refuse(result, HP_SHADOW_MEMORY,
			      hp_error_create(HP_ERROR_SYSTEM,
					      "copies of %llu MiB need twice as much free memory",
					      (unsigned long long)(plan.bytes >> 20)));
		return false;
	}
	find_huge(maker);
	return make_room(maker, order, &plan, result) &&
	       (!plan.ahead_bytes || look(maker, order, &plan, result));
}
