/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "price.h"

#include "control_groups.h"
#include "../match/state_sampler.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/error.h>
#include <hpcprof/base/file.h>
#include <hpcprof/base/number.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Before anything has been measured; a VM of 2 CPUs took 0.25 to 0.5 ms a MiB and 0.2 to 0.5 ms. */
static const double guessed_fixed_ns = 500e3;
static const double guessed_ns_per_byte = 0.5;
/* How much a new measurement counts. */
static const double newest = 0.3;
/* Where nothing is known: an interrupt that leaves a VM; on bare metal it is about a tenth. */
static const double guessed_sample_ns = 13e3;
/* What was read has pushed the target's own data out of the caches, up to their size. */
static const double refill_ns_per_byte = 0.05;
static const double cache_bytes = 32 << 20;
/* A copy's CPU time by the length of its window, before one has been measured; and what translating
 * the program for the first time takes. */
static const double guessed_taken_per_ns = 3;
static const double guessed_start_ns = 100e6;
/* How much longer it may take: some phases are slower to replay than others, some run code that was
 * not translated before; at first none was. */
static const double longest_of_taken = 4;
static const double longest_delay_ns = 300e6;
static const double longest_start_ns = 2e9;
/* What is measured beforehand is the best case. */
static const double dearer = 1.5;

/* Of a copy's CPU time, what is the target's loss, beside what they share of caches and memory. */
static const double loss_by_room[] = {
	[ROOM_OF_ITS_OWN] = 0.002,
	[ROOM_IN_CORE] = 0.5,
	[ROOM_NONE] = 1,
};
/* Where the target's data are too much for the caches of its own core, a copy also takes a part of the
 * last cache and of memory: so much of the target where it has `shared_bytes` or more. It is a
 * compromise: scripts/bench/shadow-price finds 0.3 (bzip2) to 2.9 % (xz) of real programs, and 5.8 %
 * of what does nothing but miss; a loop that needs no memory takes up to 4 % on that machine, too. With
 * 3 % for all, windows become too few. */
static const double loss_by_sharing = 0.01;
static const double shared_bytes = 16 << 20;

/* How long a program's moments stay alike: phases of programs last from ms to minutes. With this,
 * windows of programs whose phases are short, and of those whose phases are long, are each about half
 * as dear again as the best for them would be; where windows are few it is short phases that are
 * missed. */
static const double alike_ns = 300e6;
/* Making a copy takes time that no window should be shorter than; on a CPU of its own that is not
 * the target's. */
static const double shortest_ns[] = {
	[ROOM_OF_ITS_OWN] = 100e6,
	[ROOM_IN_CORE] = 30e6,
	[ROOM_NONE] = 30e6,
};
static const double longest_ns = 800e6;

/* Of samples, those that do not match, before any window; and, where few do, at least and most. */
static const double guessed_missed = 0.2;
static const double least_missed = 0.01;
static const double most_missed = 0.6;
/* They come in rows: about twice as long as if each were missed by itself. */
static const double row_of_missed = 2;
static const double often_missed = 0.01;

/* Windows by the time that their copies take. One may wait while another is replayed: then no more
 * than one in a hundred is due before the turn is its own, however phases differ. */
static const double spacing = 1.25;

void ledger_init(struct ledger *ledger, double percent, double sample_ns)
{
	*ledger = (struct ledger){
		.share = percent / 100,
		.sample_ns = sample_ns > 0 ? sample_ns : guessed_sample_ns,
		.fixed_ns = guessed_fixed_ns,
		.ns_per_byte = guessed_ns_per_byte,
		.taken_per_ns = guessed_taken_per_ns,
		.whole_per_ns = guessed_taken_per_ns,
		.missed = guessed_missed,
	};
}

void ledger_expect(struct ledger *ledger, double ns_per_byte)
{
	if (!ledger->has_measured && ns_per_byte > 0)
		ledger->ns_per_byte = dearer * ns_per_byte;
}

static double refill_ns(uint64_t bytes)
{
	double cold = (double)bytes < cache_bytes ? (double)bytes : cache_bytes;

	return cold * refill_ns_per_byte;
}

static double threads_of(const struct price_terms *terms)
{
	return terms->threads ? (double)terms->threads : 1;
}

static double loss_of_copy(const struct price_terms *terms)
{
	double shared = fmin((double)terms->bytes / shared_bytes, 1);

	return fmax(loss_by_room[terms->room], loss_by_sharing * shared);
}

uint64_t ledger_hold(const struct ledger *ledger, uint64_t bytes)
{
	return (uint64_t)(ledger->fixed_ns + ledger->ns_per_byte * (double)bytes);
}

/* What a stop costs, whatever the length of its window. */
static double stop_cost_ns(const struct ledger *ledger, const struct price_terms *terms)
{
	return threads_of(terms) *
	       ((double)ledger_hold(ledger, terms->bytes) + refill_ns(terms->bytes));
}

/* By the length of a window: what its copy takes, or, if that takes longer, making the next one. */
static double busy_per_ns(const struct ledger *ledger)
{
	return fmax(1, ledger->taken_per_ns);
}

uint64_t ledger_spacing_ns(const struct ledger *ledger, const struct price_terms *terms)
{
	return (uint64_t)(spacing * threads_of(terms) * busy_per_ns(ledger) *
			  (double)terms->window_ns);
}

uint64_t ledger_window_ns(const struct ledger *ledger, const struct price_terms *terms)
{
	double stop_ns = stop_cost_ns(ledger, terms);
	/* For each ns of the window. */
	double cost = threads_of(terms) * ledger->sample_ns / MATCH_PERIOD_NS +
		      loss_of_copy(terms) * ledger->taken_per_ns;
	double busy = spacing * busy_per_ns(ledger);
	double best_ns = sqrt(alike_ns * stop_ns / cost);

	/* (stop + cost * window) / share is the slot, and no less than busy * window. */
	if (busy > cost / ledger->share)
		best_ns = fmin(best_ns, stop_ns / (ledger->share * busy - cost));
	return (uint64_t)fmax(fmin(best_ns, longest_ns), shortest_ns[terms->room]);
}

uint64_t ledger_longest_replay_ns(const struct ledger *ledger, uint64_t window_ns)
{
	return (uint64_t)(longest_of_taken * ledger->whole_per_ns * (double)window_ns +
			  (ledger->has_whole ? longest_delay_ns : longest_start_ns));
}

/* What it costs that the copy runs. */
static double copy_cost_ns(const struct ledger *ledger, const struct price_terms *terms)
{
	double taken_ns = ledger->taken_per_ns * (double)terms->window_ns;

	if (!ledger->has_taken)
		taken_ns += guessed_start_ns;
	return loss_of_copy(terms) * taken_ns;
}

uint64_t ledger_price(const struct ledger *ledger, const struct price_terms *terms)
{
	double samples_ns = threads_of(terms) * ledger->sample_ns * (double)terms->samples;

	return (uint64_t)(stop_cost_ns(ledger, terms) + samples_ns + copy_cost_ns(ledger, terms));
}

uint64_t ledger_slot(const struct ledger *ledger, uint64_t price_ns)
{
	return (uint64_t)((double)price_ns / ledger->share);
}

uint64_t ledger_slot_end(const struct ledger *ledger, uint64_t price_ns, uint64_t start_ns)
{
	uint64_t due_ns = ledger->lost_ns + (uint64_t)ledger->owed_ns + price_ns;
	uint64_t paid_ns = ledger_slot(ledger, due_ns);
	uint64_t least_ns = start_ns + ledger_slot(ledger, price_ns) / 2;

	return paid_ns > least_ns ? paid_ns : least_ns;
}

bool ledger_allows(const struct ledger *ledger, uint64_t price_ns, uint64_t slot_end_ns)
{
	return (double)ledger->lost_ns + ledger->owed_ns + (double)price_ns <=
	       ledger->share * (double)slot_end_ns;
}

void ledger_other(struct ledger *ledger, double lost_ns)
{
	double sum_ns = (double)ledger->lost_ns + lost_ns;

	ledger->lost_ns = sum_ns > 0 ? (uint64_t)sum_ns : 0;
}

void ledger_read(struct ledger *ledger, uint64_t stop_ns, uint64_t bytes)
{
	const uint64_t little_bytes = 1 << 20;
	bool is_dearer = stop_ns > ledger_hold(ledger, bytes);
	double weight = ledger->has_measured && !is_dearer ? newest : 1;
	double reading_ns = (double)stop_ns - ledger->fixed_ns;

	/* What little memory takes is the fixed part; of much memory it is the reading. */
	if (bytes < little_bytes)
		ledger->fixed_ns += weight * ((double)stop_ns - ledger->fixed_ns);
	else if (reading_ns > 0)
		ledger->ns_per_byte += weight * (reading_ns / (double)bytes - ledger->ns_per_byte);
	else
		ledger->fixed_ns = (double)stop_ns / 2;
	ledger->has_measured = true;
}

void ledger_stop(struct ledger *ledger, uint64_t stop_ns, const struct price_terms *terms)
{
	ledger->stopped_ns += stop_ns;
	if (stop_ns > ledger->longest_stop_ns)
		ledger->longest_stop_ns = stop_ns;
	ledger_other(ledger, threads_of(terms) * ((double)stop_ns + refill_ns(terms->bytes)));
}

void ledger_samples(struct ledger *ledger, const struct price_terms *terms)
{
	ledger_other(ledger, threads_of(terms) * ledger->sample_ns * (double)terms->samples);
}

/* New code is translated in the first windows, and hardly any later. */
static void learn_taken(double *known_per_ns, bool *has_any, uint64_t taken_ns, uint64_t window_ns)
{
	double per_ns = window_ns ? (double)taken_ns / (double)window_ns : 0;

	*known_per_ns += (*has_any ? newest : 1) * (per_ns - *known_per_ns);
	*has_any = true;
}

void ledger_whole(struct ledger *ledger, uint64_t taken_ns, uint64_t window_ns)
{
	learn_taken(&ledger->whole_per_ns, &ledger->has_whole, taken_ns, window_ns);
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
	learn_taken(&ledger->taken_per_ns, &ledger->has_taken, taken_ns, terms->window_ns);
	ledger_other(ledger, loss_of_copy(terms) * (double)taken_ns);
}

void ledger_matched(struct ledger *ledger, uint64_t samples, uint64_t matched)
{
	double missed = samples > matched ? 1 - (double)matched / (double)samples : 0;

	if (samples)
		ledger->missed += newest * (missed - ledger->missed);
}

uint64_t ledger_samples_behind(const struct ledger *ledger)
{
	double missed = fmin(fmax(ledger->missed, least_missed), most_missed);

	return (uint64_t)ceil(row_of_missed * log(often_missed) / log(missed));
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

uint64_t memory_to_spare(void)
{
	const uint64_t least_reserve = 64 << 20;
	_cleanup_free_ char *text = NULL;
	uint64_t total = 0;
	uint64_t available;
	uint64_t reserve;

	hp_error_destroy(hp_file_read_text("/proc/meminfo", &text));
	available = text ? meminfo_available(text, &total) : 0;
	reserve = total / 16 > least_reserve ? total / 16 : least_reserve;
	if (available > control_groups_memory())
		available = control_groups_memory();
	return available > reserve ? available - reserve : 0;
}
