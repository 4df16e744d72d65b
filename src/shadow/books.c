/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "books.h"

#include "tuning.h"

#include <hpcprof/base/thread.h>

#include <unistd.h>

static struct price_terms terms_of(const struct job *job)
{
	return (struct price_terms){
		.bytes = job->result.copied_bytes,
		.areas = job->order.areas,
		.resident_bytes = job->order.resident_bytes,
		.window_ns = job->order.window_ns,
		.threads = job->order.threads,
		.runnable = job->order.runnable,
		.room = job->order.room,
		.is_later = job->order.is_later,
		.is_recorded = job->order.is_recorded,
	};
}

uint64_t books_cpus(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return cpus > 0 ? (uint64_t)cpus : 1;
}

uint64_t books_now_ns(struct books *books)
{
	return target_cpu_ns(&books->target, hp_clock_monotonic_ns());
}

void books_open(struct books *books)
{
	const struct price_terms least = { 0 };
	uint64_t price_ns = ledger_price(&books->ledger, &least);

	waits_begin(&books->waits, hp_clock_monotonic_ns(), target_waited_ns(&books->target));
	schedule_next(&books->schedule, 0, ledger_slot(&books->ledger, price_ns));
}

/* The length of the next slot: the CPU time of the target that pays for a window. If the last
 * window has a copy that runs, it is at least ledger_spacing_ns. */
static uint64_t next_slot_ns(const struct books *books, const struct job *job)
{
	const struct price_terms terms = terms_of(job);
	uint64_t start_ns = books->schedule.end_ns;
	uint64_t paid_ns =
		ledger_slot_end(&books->ledger, job->result.price_ns, start_ns) - start_ns;
	bool runs = job->has_copy && !job->has_waited;
	uint64_t least_ns = runs ? ledger_spacing_ns(&books->ledger, &terms) : 0;

	return paid_ns > least_ns ? paid_ns : least_ns;
}

/* The calm time of waits.h ends when the first copy begins. */
static void begin_copy(struct books *books)
{
	if (books->copies++ == 0)
		waits_begin(&books->waits, hp_clock_monotonic_ns(),
			    target_waited_ns(&books->target));
}

static double end_copy(struct books *books, uint64_t taken_ns)
{
	books->copies--;
	return waits_end(&books->waits, hp_clock_monotonic_ns(), target_waited_ns(&books->target),
			 taken_ns);
}

static void begin_work(struct job *job)
{
	struct hp_thread_times times;

	job->begun_ns = hp_clock_monotonic_ns();
	job->cpu_ns = hp_clock_thread_ns();
	job->delayed_ns = hp_thread_times(getpid(), gettid(), &times) ? times.delayed_ns
								      : UINT64_MAX;
}

/* For how long the calling thread can have kept threads of the target waiting: not for longer than it
 * ran, which took `own_ns`, nor than it waited for CPUs itself, as of two threads that want the same
 * CPU each waits about as long as the other. So what threads of the target wait for each other, where
 * a program has come to a part with more of them, is not held against a copy. */
static uint64_t most_kept_waiting_ns(const struct job *job, uint64_t own_ns)
{
	struct hp_thread_times times;
	uint64_t delayed_ns;

	if (job->delayed_ns == UINT64_MAX || !hp_thread_times(getpid(), gettid(), &times))
		return own_ns;
	delayed_ns = times.delayed_ns - job->delayed_ns;
	return delayed_ns < own_ns ? delayed_ns : own_ns;
}

/* --- a copy runs ------------------------------------------------------------------------------ */

/* Whether the recording has ended because the target has: then copies take nothing from it. */
static bool target_has_ended(struct books *books)
{
	struct target_choice choice;

	if (!__atomic_load_n(&books->over_ns, __ATOMIC_ACQUIRE))
		return false;
	target_choose(&books->target, &books->schedule.random, &choice);
	return !choice.running;
}

void books_note_end(struct books *books, struct job *job)
{
	if (target_has_ended(books))
		job->order.room = ROOM_AFTER;
}

/* Gives a copy of the lowest priority the normal one, if the budget pays for it. */
static bool hasten(struct books *books, struct job *job)
{
	struct price_terms terms = terms_of(job);
	uint64_t now_ns = books_now_ns(books);

	terms.room = ROOM_SHARED;
	terms.runnable = books->load.runnable;
	if (!ledger_allows(&books->ledger, ledger_copy_price(&books->ledger, &terms), now_ns,
			   now_ns))
		return false;
	job->order.room = terms.room;
	job->order.runnable = terms.runnable;
	ledger_settle(&books->ledger, job->owed_ns);
	job->owed_ns = ledger_owe(&books->ledger, &terms);
	set_copy_priority(books->running.copy, terms.room);
	return true;
}

/* Measures the load beside a copy of the lowest priority, which only takes what was idle. Returns whether
 * other programs keep all CPUs busy. */
static bool is_starving(struct books *books)
{
	pid_t pid = books->running.copy;
	struct hp_thread_times copy;

	if (!hp_thread_times(pid, pid, &copy))
		return false;
	cpu_load_look(&books->load, hp_clock_monotonic_ns(), copy.ran_ns + hp_clock_process_ns(),
		      true);
	return cpu_load_is_full(&books->load);
}

/* Returns whether the copy that runs starves on. */
static bool mind(struct books *books, struct job *job)
{
	if (!is_idle_room(job->order.room)) {
		cpu_load_pause(&books->load);
		return false;
	}
	if (target_has_ended(books)) {
		set_copy_priority(books->running.copy, ROOM_AFTER);
		return false;
	}
	return is_starving(books) &&
	       (books->waiting + ACTIVE_MAKERS < MAKERS || !hasten(books, job));
}

void books_look(struct books *books)
{
	struct running *running = &books->running;
	bool is_starved = false;

	pthread_mutex_lock(&running->lock);
	/* Idle time is not counted across the beginning or the end of a run. */
	if (running->run_ns > books->load.from_ns || running->ran_ns > books->load.from_ns)
		cpu_load_pause(&books->load);
	if (running->job)
		is_starved = mind(books, running->job);
	else
		cpu_load_look(&books->load, hp_clock_monotonic_ns(), hp_clock_process_ns(), false);
	__atomic_store_n(&books->is_starved, is_starved, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&running->lock);
}

/* --- a window's copy is made ------------------------------------------------------------------ */

bool books_begin(struct books *books, struct job *job)
{
	struct window_order *order = &job->order;
	struct target_choice choice;

	begin_work(job);
	job->stopped_ns = books->ledger.stopped_ns;
	order->begin_ns = books_now_ns(books);
	order->slot_end_ns = books->schedule.end_ns;
	target_choose(&books->target, &books->schedule.random, &choice);
	order->pid = choice.pid;
	order->tid = choice.tid;
	order->is_recorded =
		recordings_want(&books->recordings, choice.pid, choice.tid, choice.in_process);
	order->longest_ns = order->is_recorded ? 0 : truncation_longest_ns(&books->truncation[0]);
	/* While a thread is held, the target cannot lose more CPU time than all CPUs provide. */
	order->threads = choice.in_process < books_cpus() ? choice.in_process : books_cpus();
	/* All of its threads wait. */
	job->result.was_in_call = !choice.running;
	if (!choice.running)
		return false;
	order->room = spare_cpus(choice.tid, choice.running, cpus_to_use(), &order->cpus);
	order->runnable = books->load.runnable;
	if (order->room != ROOM_NONE && (books->is_urgent || cpu_load_is_full(&books->load)))
		order->room = ROOM_SHARED;
	order->is_later = !is_idle_room(order->room) && !books->is_urgent;
	begin_copy(books);
	return true;
}

/* The CPU time of the calling thread since the job began, without the stop, which is charged
 * separately. */
static uint64_t own_since_ns(const struct job *job)
{
	uint64_t all_ns = hp_clock_thread_ns() - job->cpu_ns;

	return all_ns > job->stopped_ns ? all_ns - job->stopped_ns : 0;
}

/* The copy is made and begins to wait: charges what making it took. Running it takes nothing from
 * the target, unless the budget pays for that. */
static void begin_waiting(struct books *books, struct job *job)
{
	const struct price_terms terms = terms_of(job);
	uint64_t own_ns = own_since_ns(job);

	end_copy(books, most_kept_waiting_ns(job, own_ns));
	ledger_made(&books->ledger, own_ns, &terms);
	begin_work(job);
	job->stopped_ns = 0;
	job->has_waited = true;
	__atomic_add_fetch(&books->waiting, 1, __ATOMIC_RELAXED);
}

/* --- it waits, and runs ----------------------------------------------------------------------- */

/* Whether there is an idle CPU for the waiting copy, or the budget pays for running it without one.
 */
static bool find_room(struct books *books, struct job *job, bool is_over)
{
	struct window_order *order = &job->order;
	struct target_choice choice;
	struct price_terms paid;
	uint64_t now_ns;

	/* Reading the state of every thread takes CPU time that others want. */
	if (!is_over && cpu_load_is_full(&books->load) && books->waiting < MAKERS - 1)
		return false;
	target_choose(&books->target, &books->schedule.random, &choice);
	if (is_over && !choice.running) {
		order->room = ROOM_AFTER;
		return true;
	}
	order->room = spare_cpus(order->tid, choice.running, cpus_to_use(), &order->cpus);
	/* At the end of the recording this is the last chance: it runs at the lowest priority. */
	if (is_over || (is_idle_room(order->room) && !cpu_load_is_full(&books->load))) {
		order->room = order->room == ROOM_IN_CORE ? ROOM_IN_CORE : ROOM_OF_ITS_OWN;
		return true;
	}
	if (books->waiting < MAKERS - 1)
		return false;
	order->room = ROOM_SHARED;
	order->runnable = books->load.runnable;
	paid = terms_of(job);
	paid.is_later = false;
	now_ns = books_now_ns(books);
	return ledger_allows(&books->ledger, ledger_copy_price(&books->ledger, &paid), now_ns,
			     now_ns);
}

bool books_admit(struct books *books, struct job *job, bool is_over)
{
	struct price_terms terms;

	if (!find_room(books, job, is_over))
		return false;
	job->order.is_last = __atomic_sub_fetch(&books->waiting, 1, __ATOMIC_RELAXED) == 0 &&
			     job->order.room == ROOM_AFTER;
	job->order.is_later = false;
	job->begun_ns = hp_clock_monotonic_ns();
	begin_copy(books);
	terms = terms_of(job);
	job->owed_ns = ledger_owe(&books->ledger, &terms);
	return true;
}

/* Notes the end of a window with samples for the decisions about later windows, and decides whether
 * this one is truncated. */
static void note_end(struct books *books, struct window_result *result)
{
	struct hp_window *window = &result->window;
	struct truncation *truncation = &books->truncation[result->was_recorded];

	if (!result->wanted_ns)
		return;
	recordings_note(&books->recordings, window->pid, result->was_recorded,
			result->is_cut_by_call, result->wanted_ns, hp_window_duration_ns(window));
	truncation_note(truncation, result->wanted_ns, hp_window_duration_ns(window),
			result->is_cut);
	window->is_truncated = result->is_cut &&
			       (result->may_wait || truncation_is_common(truncation));
	/* Recording disturbs the times of calls, and their undisturbed times are not known. */
	window->is_truncated |= result->was_recorded && !result->is_paced;
}

double books_share_after(uint64_t begun_ns, uint64_t over_ns, uint64_t now_ns)
{
	if (!over_ns || over_ns >= now_ns)
		return 0;
	if (over_ns <= begun_ns)
		return 1;
	return (double)(now_ns - over_ns) / (double)(now_ns - begun_ns);
}

/* The share of the copy's time in which the target had ended. */
static double share_without_target(struct books *books, const struct job *job)
{
	double share = books_share_after(job->begun_ns,
					 __atomic_load_n(&books->over_ns, __ATOMIC_ACQUIRE),
					 hp_clock_monotonic_ns());
	struct target_choice choice;

	if (share > 0)
		target_choose(&books->target, &books->schedule.random, &choice);
	return share > 0 && !choice.running ? share : 0;
}

void books_charge(struct books *books, struct job *job)
{
	const struct window_order *order = &job->order;
	struct window_result *result = &job->result;
	struct ledger *ledger = &books->ledger;
	const struct price_terms terms = terms_of(job);
	uint64_t own_ns = own_since_ns(job);
	uint64_t taken_ns = result->replay_ns + own_ns;
	bool is_made = result->outcome == WINDOW_MADE;
	/* How soon a copy goes astray, because memory that was read ahead has changed, tells nothing about
	 * what the next one takes. */
	bool is_astray = is_made &&
			 (result->window.end == HP_WINDOW_SIGNAL || result->is_misled);
	/* A replay at the lowest priority keeps no thread waiting: only our own time can. */
	double waited_ns = end_copy(books, most_kept_waiting_ns(job, own_ns));

	ledger_settle(ledger, job->owed_ns);
	if (is_idle_room(order->room))
		ledger_other(ledger, waited_ns);
	if (is_made && !is_astray)
		ledger_taken(ledger, taken_ns, &terms);
	else
		ledger_wasted(ledger, taken_ns, &terms);
	ledger_take_back(ledger, (uint64_t)(share_without_target(books, job) * (double)taken_ns),
			 &terms);
	if (!is_made)
		return;
	note_end(books, result);
	if (result->window.end == HP_WINDOW_COMPLETE) {
		ledger_whole(ledger, taken_ns, terms.window_ns);
		ledger_matched(ledger, result->samples, result->matched);
	}
}

void books_copied(struct books *books, struct job *job)
{
	job->stopped_ns = books->ledger.stopped_ns - job->stopped_ns;
	if (job->has_copy) {
		const struct price_terms terms = terms_of(job);

		ledger_copied(&books->ledger);
		if (job->order.is_later)
			begin_waiting(books, job);
		else
			job->owed_ns = ledger_owe(&books->ledger, &terms);
	} else if (job->order.tid) {
		/* No copy was made. The cost is charged before the next slot, which pays for it. */
		books_charge(books, job);
	}
	if (job->order.tid)
		recordings_note_call(&books->recordings, job->order.pid, job->result.in_call_on);
	if (job->result.outcome == WINDOW_NOT_NOW) {
		schedule_again(&books->schedule, books_now_ns(books));
		return;
	}
	schedule_next(&books->schedule, books_now_ns(books), next_slot_ns(books, job));
	schedule_not_before(&books->schedule,
			    ledger_earliest(&books->ledger, job->result.price_ns));
}
