/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "price.h"

#include "control_groups.h"
#include "../match/state_sampler.h"
#include "../tuning.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/error.h>
#include <hpcprof/base/file.h>
#include <hpcprof/base/number.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static double square(double value)
{
	return value * value;
}

void ledger_init(struct ledger *ledger, double percent, double sample_ns)
{
	*ledger = (struct ledger){
		.share = percent / 100,
		.sample_ns = sample_ns > 0 ? sample_ns : guessed_sample_ns,
		.fixed_ns = guessed_fixed_ns,
		.ns_per_byte = guessed_ns_per_byte,
		.known_by = square(guess_worth_bytes),
		.fresh_ns = guessed_fresh_ns,
		.huge_ns = guessed_fresh_ns,
		.making = 1,
		.taken_per_ns = guessed_taken_per_ns,
		.whole_per_ns = guessed_taken_per_ns,
		.missed = guessed_missed,
		.call_ns = guessed_call_ns,
		.calls_per_ns = guessed_calls_per_ns,
	};
}

void ledger_expect(struct ledger *ledger, double ns_per_byte, double fresh_ns)
{
	if (!ledger->has_measured && ns_per_byte > 0)
		ledger->ns_per_byte = probed_ns_factor * ns_per_byte;
	if (fresh_ns > ledger->fresh_ns)
		ledger->fresh_ns = fresh_ns;
}

void ledger_expect_huge(struct ledger *ledger, double huge_ns)
{
	ledger->huge_ns = probed_ns_factor * huge_ns;
}

/* The budget, and what may be borrowed. */
static double most_share_of(const struct ledger *ledger)
{
	return ledger->share + fmin(lent_most_share, lent_part * ledger->share);
}

/* The budget; larger for the first windows, which may borrow. */
static double share_of(const struct ledger *ledger)
{
	return ledger->copies < LENT_WINDOWS ? most_share_of(ledger) : ledger->share;
}

static uint64_t held_bytes(const struct price_terms *terms)
{
	return terms->bytes - terms->ahead_bytes;
}

static double refill_ns(uint64_t bytes)
{
	double cold = (double)bytes < cpu_cache_bytes ? (double)bytes : cpu_cache_bytes;

	return cold * refill_ns_per_byte;
}

/* A large buffer whose memory a copy maps has small pages, any other one huge ones. */
static bool is_mapped(const struct price_terms *terms)
{
	return terms->bytes >= LENT_LEAST_BYTES && !terms->is_written;
}

/* CPU time to make a copy's memory. Of memory that is mapped only what the copy uses is made. */
static double memory_ns(const struct ledger *ledger, const struct price_terms *terms)
{
	return ledger->fresh_ns * (double)(is_mapped(terms) ? LENT_USED_BYTES : terms->bytes);
}

static double threads_of(const struct price_terms *terms)
{
	return terms->threads ? (double)terms->threads : 1;
}

static double loss_of_copy(const struct price_terms *terms)
{
	const double loss_by_room[] = {
		[ROOM_OF_ITS_OWN] = loss_on_own_core,
		[ROOM_IN_CORE] = loss_in_core,
		[ROOM_SHARED] = threads_of(terms) / fmax(terms->runnable, threads_of(terms)),
		[ROOM_NONE] = 1,
		[ROOM_AFTER] = 0,
	};
	double shared = fmin((double)terms->bytes / cpu_cache_bytes, 1);

	if (terms->room == ROOM_AFTER)
		return 0;
	return fmax(loss_by_room[terms->room], loss_by_sharing * shared);
}

uint64_t time_for_loss_ns(const struct price_terms *terms, uint64_t loss_ns)
{
	double loss = loss_of_copy(terms);

	return loss > 0 ? (uint64_t)fmin((double)loss_ns / loss, (double)INT64_MAX) : UINT64_MAX;
}

uint64_t ledger_filling_ns(const struct ledger *ledger, const struct price_terms *terms,
			   uint64_t bytes)
{
	double ns = is_mapped(terms) ? ledger->fresh_ns : ledger->huge_ns;

	return (uint64_t)(ns * (double)bytes);
}

uint64_t ledger_memory_price(const struct ledger *ledger, const struct price_terms *terms,
			     uint64_t bytes)
{
	return (uint64_t)(loss_of_copy(terms) * (double)ledger_filling_ns(ledger, terms, bytes));
}

uint64_t ledger_hold(const struct ledger *ledger, uint64_t bytes)
{
	return (uint64_t)(ledger->fixed_ns + ledger->ns_per_byte * (double)bytes);
}

/* The cost of a stop. It does not depend on the length of the window. */
static double stop_cost_ns(const struct ledger *ledger, const struct price_terms *terms)
{
	return threads_of(terms) *
	       ((double)ledger_hold(ledger, held_bytes(terms)) + refill_ns(held_bytes(terms)));
}

/* The cost of the stops at recorded calls, per ns of the window. */
static double calls_cost(const struct ledger *ledger, const struct price_terms *terms)
{
	return terms->is_recorded ? threads_of(terms) * ledger->calls_per_ns * ledger->call_ns : 0;
}

/* Per ns of the window: the time until the next window can begin. It is at least 1, the time of the
 * window itself, and more if running the copy takes longer. */
static double busy_per_ns(const struct ledger *ledger)
{
	return fmax(1, ledger->taken_per_ns);
}

uint64_t ledger_spacing_ns(const struct ledger *ledger, const struct price_terms *terms)
{
	double busy_ns = busy_per_ns(ledger) * (double)terms->window_ns + memory_ns(ledger, terms);

	return (uint64_t)(window_spacing * threads_of(terms) * busy_ns);
}

uint64_t ledger_window_ns(const struct ledger *ledger, const struct price_terms *terms)
{
	const double shortest_ns[] = {
		[ROOM_OF_ITS_OWN] = shortest_on_own_core_ns, [ROOM_IN_CORE] = shortest_in_core_ns,
		[ROOM_SHARED] = shortest_on_no_cpu_ns,	     [ROOM_NONE] = shortest_on_no_cpu_ns,
		[ROOM_AFTER] = shortest_on_own_core_ns,
	};
	/* One thread of several soon makes a call that may wait for another thread. */
	bool is_long = terms->is_later && threads_of(terms) == 1;
	double least_ns = is_long ? shortest_in_core_ns : shortest_ns[terms->room];
	double most_ns = terms->is_later ? longest_later_ns : longest_window_ns;
	double stop_ns =
		stop_cost_ns(ledger, terms) + loss_of_copy(terms) * memory_ns(ledger, terms);
	/* Per ns of the window. */
	double cost = threads_of(terms) * ledger->sample_ns / MATCH_PERIOD_NS +
		      loss_of_copy(terms) * ledger->taken_per_ns + calls_cost(ledger, terms);
	double busy = window_spacing * busy_per_ns(ledger);
	double best_ns = sqrt(alike_ns * stop_ns / cost);

	if (terms->is_recorded) {
		least_ns = shortest_recorded_ns;
		most_ns = fmin(
			fmax(longest_recorded_ns, calls_part * stop_ns / calls_cost(ledger, terms)),
			most_ns);
	}
	/* The slot is (stop + cost * window) / share, and must be at least busy * window. */
	if (busy > cost / ledger->share)
		best_ns = fmin(best_ns, stop_ns / (ledger->share * busy - cost));
	/* The first windows should come soon, so they are short: running the copy may cost no more
	 * than a fixed part of what making it costs. */
	if (ledger->copies < LENT_WINDOWS)
		best_ns = fmin(best_ns, first_part * stop_ns / cost);
	return (uint64_t)fmax(fmin(best_ns, most_ns), least_ns);
}

/* A guess of the CPU time to make a copy, without the stop and its memory. */
static double guess_making_ns(const struct price_terms *terms)
{
	return guessed_making_ns + guessed_area_ns * (double)terms->areas +
	       guessed_resident_ns * (double)terms->resident_bytes;
}

/* A guess of the CPU time to translate the code of the program. Only the first copy needs it. */
static double translating_ns(const struct ledger *ledger, const struct price_terms *terms)
{
	uint64_t file_bytes =
		terms->resident_bytes > terms->bytes ? terms->resident_bytes - terms->bytes : 0;

	return ledger->has_taken ? 0 : guessed_translating_ns * (double)file_bytes;
}

/* The cost of running the copy, or, if it waits, of making it. */
static double copy_cost_ns(const struct ledger *ledger, const struct price_terms *terms)
{
	double taken_ns = memory_ns(ledger, terms) + translating_ns(ledger, terms) +
			  ledger->taken_per_ns * (double)terms->window_ns;

	/* The copy waits, and its buffer is filled at the lowest priority. */
	if (terms->is_later)
		taken_ns = ledger->making * guess_making_ns(terms);
	return loss_of_copy(terms) * taken_ns;
}

uint64_t ledger_copy_price(const struct ledger *ledger, const struct price_terms *terms)
{
	return (uint64_t)copy_cost_ns(ledger, terms);
}

uint64_t ledger_longest_replay_ns(const struct ledger *ledger, const struct price_terms *terms,
				  uint64_t price_ns, uint64_t left_ns)
{
	double longest_ns = longest_of_taken * ledger->whole_per_ns * (double)terms->window_ns +
			    (ledger->has_whole ? longest_delay_ns : longest_start_ns);
	double loss = loss_of_copy(terms);
	double paid_ns =
		is_idle_room(terms->room)
			? longest_of_price * (double)price_ns
			: fmax((double)left_ns, longest_of_cost * copy_cost_ns(ledger, terms));

	/* A copy that waits runs later on an idle CPU, where it costs nearly nothing. */
	return (uint64_t)(terms->is_later || loss == 0 ? longest_ns
						       : fmin(longest_ns, paid_ns / loss));
}

uint64_t ledger_price(const struct ledger *ledger, const struct price_terms *terms)
{
	double samples_ns = threads_of(terms) * ledger->sample_ns * (double)terms->samples;

	return (uint64_t)(stop_cost_ns(ledger, terms) + samples_ns + copy_cost_ns(ledger, terms) +
			  calls_cost(ledger, terms) * (double)terms->window_ns);
}

uint64_t ledger_slot(const struct ledger *ledger, uint64_t price_ns)
{
	return (uint64_t)((double)price_ns / share_of(ledger));
}

uint64_t ledger_slot_end(const struct ledger *ledger, uint64_t price_ns, uint64_t start_ns)
{
	uint64_t due_ns = ledger->lost_ns + (uint64_t)ledger->owed_ns + price_ns;
	uint64_t paid_ns = ledger_slot(ledger, due_ns);
	uint64_t least_ns = start_ns + ledger_slot(ledger, price_ns) / SHORTEST_SLOT_PART;

	return paid_ns > least_ns ? paid_ns : least_ns;
}

uint64_t ledger_left_ns(const struct ledger *ledger, uint64_t slot_end_ns)
{
	double left_ns =
		share_of(ledger) * (double)slot_end_ns - (double)ledger->lost_ns - ledger->owed_ns;

	return left_ns > 0 ? (uint64_t)left_ns : 0;
}

uint64_t ledger_earliest(const struct ledger *ledger, uint64_t price_ns)
{
	double due_ns = ((double)ledger->lost_ns + ledger->owed_ns + (double)price_ns) /
			most_share_of(ledger);

	return due_ns > shortest_run_ns ? (uint64_t)due_ns : 0;
}

bool ledger_allows(const struct ledger *ledger, uint64_t price_ns, uint64_t now_ns,
		   uint64_t slot_end_ns)
{
	return price_ns <= ledger_left_ns(ledger, slot_end_ns) &&
	       now_ns >= ledger_earliest(ledger, price_ns);
}

struct hp_error *ledger_too_dear(const struct ledger *ledger, const struct price_terms *terms,
				 uint64_t price_ns)
{
	static const char *const why[] = {
		[ROOM_OF_ITS_OWN] = "",
		[ROOM_IN_CORE] = " and replaying it on the other hardware thread of its core",
		[ROOM_SHARED] = " and replaying it beside programs that keep all CPUs busy",
		[ROOM_NONE] = " and replaying it without an idle CPU",
		[ROOM_AFTER] = "",
	};
	uint64_t paid_ns = ledger_slot(ledger, ledger->lost_ns + price_ns);
	uint64_t earliest_ns = ledger_earliest(ledger, price_ns);
	uint64_t due_ns = paid_ns > earliest_ns ? paid_ns : earliest_ns;
	const char *replaying = terms->is_later ? " while all CPUs are busy" : why[terms->room];

	return hp_error_create(HP_ERROR_INSUFFICIENT,
			       "copying %.1f MiB%s would cost about %.0f ms of its time, and %.3g "
			       "%% of its time allows that only after %.1f s",
			       (double)terms->bytes / (1 << 20), replaying, (double)price_ns / 1e6,
			       100 * ledger->share, (double)due_ns / 1e9);
}

void ledger_other(struct ledger *ledger, double lost_ns)
{
	double sum_ns = (double)ledger->lost_ns + lost_ns;

	ledger->lost_ns = sum_ns > 0 ? (uint64_t)sum_ns : 0;
}

void ledger_read(struct ledger *ledger, uint64_t stop_ns, uint64_t bytes)
{
	double weight = ledger->has_measured ? newest_weight : 1;
	double reading_ns = (double)stop_ns - ledger->fixed_ns;

	/* A stop that reads little measures the fixed part; one that reads much, the reading. */
	if (bytes < little_read_bytes) {
		ledger->fixed_ns += weight * ((double)stop_ns - ledger->fixed_ns);
	} else if (reading_ns > 0) {
		ledger->known_by = (1 - newest_weight) * ledger->known_by + square((double)bytes);
		ledger->ns_per_byte += square((double)bytes) / ledger->known_by *
				       (reading_ns / (double)bytes - ledger->ns_per_byte);
	} else {
		ledger->fixed_ns = (double)stop_ns / 2;
	}
	ledger->has_measured = true;
}

void ledger_stop(struct ledger *ledger, uint64_t stop_ns, const struct price_terms *terms)
{
	ledger->stopped_ns += stop_ns;
	if (stop_ns > ledger->longest_stop_ns)
		ledger->longest_stop_ns = stop_ns;
	ledger_other(ledger, threads_of(terms) * ((double)stop_ns + refill_ns(held_bytes(terms))));
}

void ledger_samples(struct ledger *ledger, const struct price_terms *terms)
{
	ledger_other(ledger, threads_of(terms) * ledger->sample_ns * (double)terms->samples);
}

void ledger_recorded(struct ledger *ledger, uint64_t calls, uint64_t lost_ns,
		     const struct price_terms *terms)
{
	double weight = ledger->has_calls ? newest_weight : 1;

	ledger_other(ledger, threads_of(terms) * (double)lost_ns);
	if (!calls || !terms->window_ns)
		return;
	ledger->call_ns += weight * ((double)lost_ns / (double)calls - ledger->call_ns);
	ledger->calls_per_ns +=
		weight * ((double)calls / (double)terms->window_ns - ledger->calls_per_ns);
	ledger->has_calls = true;
}

uint64_t ledger_most_calls(const struct ledger *ledger, const struct price_terms *terms,
			   uint64_t slot_end_ns)
{
	double left_ns = (double)ledger_left_ns(ledger, slot_end_ns);
	double paid = left_ns / threads_of(terms) / fmax(ledger->call_ns, 1);
	double expected = ledger->calls_per_ns * (double)terms->window_ns;

	return (uint64_t)fmin(fmax(paid, most_of_expected * expected + least_calls),
			      LOGGED_CALLS - 1);
}

/* The first value replaces the guess; later values are averaged with decreasing weight of old ones.
 */
static void learn_taken(double *known_per_ns, bool *has_any, double taken_ns, uint64_t window_ns)
{
	double per_ns = window_ns ? taken_ns / (double)window_ns : 0;

	*known_per_ns += (*has_any ? newest_weight : 1) * (per_ns - *known_per_ns);
	*has_any = true;
}

void ledger_whole(struct ledger *ledger, uint64_t taken_ns, uint64_t window_ns)
{
	learn_taken(&ledger->whole_per_ns, &ledger->has_whole, (double)taken_ns, window_ns);
}

void ledger_filled_idly(struct ledger *ledger, const struct price_terms *terms, uint64_t cpu_ns,
			uint64_t bytes)
{
	double *known_ns = is_mapped(terms) ? &ledger->fresh_ns : &ledger->huge_ns;

	if (bytes >= least_filled_bytes)
		*known_ns += newest_weight * ((double)cpu_ns / (double)bytes - *known_ns);
}

void ledger_filled(struct ledger *ledger, const struct price_terms *terms, uint64_t cpu_ns,
		   uint64_t bytes)
{
	ledger_other(ledger, loss_of_copy(terms) * (double)cpu_ns);
	ledger_filled_idly(ledger, terms, cpu_ns, bytes);
}

void ledger_copied(struct ledger *ledger)
{
	ledger->copies++;
}

void ledger_made(struct ledger *ledger, uint64_t own_ns, const struct price_terms *terms)
{
	ledger->making +=
		newest_weight * ((double)own_ns / guess_making_ns(terms) - ledger->making);
	ledger_wasted(ledger, own_ns, terms);
}

double ledger_owe(struct ledger *ledger, const struct price_terms *terms)
{
	double owed_ns = copy_cost_ns(ledger, terms);

	ledger->owed_ns += owed_ns;
	return owed_ns;
}

void ledger_settle(struct ledger *ledger, double owed_ns)
{
	ledger->owed_ns -= owed_ns;
}

void ledger_taken(struct ledger *ledger, uint64_t taken_ns, const struct price_terms *terms)
{
	/* How much of the first copy's time was translation is unknown. */
	double window_ns = (double)terms->window_ns;
	double least_ns = ledger->has_taken
				  ? window_ns
				  : fmin(guessed_taken_per_ns * window_ns, (double)taken_ns);
	double running_ns = ledger->taken_per_ns * (double)terms->window_ns;
	double making_ns = memory_ns(ledger, terms);
	double later_ns = fmax((double)taken_ns - translating_ns(ledger, terms), 0);

	/* One measurement cannot update two costs: it updates the larger one. */
	if (making_ns > running_ns)
		ledger->fresh_ns *=
			1 + newest_weight * (fmax(later_ns - running_ns, 0) / making_ns - 1);
	else
		learn_taken(&ledger->taken_per_ns, &ledger->has_taken,
			    fmax(later_ns - making_ns, least_ns), terms->window_ns);
	ledger->has_taken = true;
	ledger_wasted(ledger, taken_ns, terms);
}

void ledger_wasted(struct ledger *ledger, uint64_t taken_ns, const struct price_terms *terms)
{
	ledger_other(ledger, loss_of_copy(terms) * (double)taken_ns);
}

void ledger_take_back(struct ledger *ledger, uint64_t taken_ns, const struct price_terms *terms)
{
	ledger_other(ledger, -loss_of_copy(terms) * (double)taken_ns);
}

void ledger_matched(struct ledger *ledger, uint64_t samples, uint64_t matched)
{
	double missed = samples > matched ? 1 - (double)matched / (double)samples : 0;

	if (samples)
		ledger->missed += newest_weight * (missed - ledger->missed);
}

uint64_t ledger_samples_behind(const struct ledger *ledger)
{
	double missed = fmin(fmax(ledger->missed, least_missed), most_missed);

	return (uint64_t)ceil(log(often_missed) / log(missed));
}

/* --- memory ----------------------------------------------------------------------------------- */

static uint64_t kib_after(const char *text, const char *name)
{
	const char *line = strstr(text, name);
	uint64_t kib = 0;

	if (!line)
		return 0;
	line += strlen(name);
	return hp_scan_u64(&line, &kib) && kib < UINT64_MAX / 1024 ? kib * 1024 : 0;
}

uint64_t meminfo_available(const char *text, uint64_t *total_bytes)
{
	*total_bytes = kib_after(text, "MemTotal:");
	return kib_after(text, "MemAvailable:");
}

/* What a limit leaves of our address space. */
static uint64_t address_space_left(void)
{
	_cleanup_free_ char *text = hp_file_text("/proc/self/statm");
	const char *at = text;
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t pages = 0;
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	if (!text || !hp_scan_u64(&at, &pages) || pages > limit.rlim_cur / page_bytes)
		return 0;
	return limit.rlim_cur - pages * page_bytes;
}

uint64_t memory_to_spare(void)
{
	_cleanup_free_ char *text = hp_file_text("/proc/meminfo");
	uint64_t total = 0;
	uint64_t available;
	uint64_t reserve;

	available = text ? meminfo_available(text, &total) : 0;
	reserve = total / MEMORY_RESERVE_PART;
	if (reserve < least_memory_reserve)
		reserve = least_memory_reserve;
	if (available > control_groups_memory())
		available = control_groups_memory();
	if (available > address_space_left())
		available = address_space_left();
	return available > reserve ? available - reserve : 0;
}
