/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "counted_clock.h"

#include "analyse.h"
#include "balance.h"
#include "windows.h"

#include <math.h>

static int compare_clocks(const void *left, const void *right)
{
	const struct counted_clock *a = left;
	const struct counted_clock *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

static int compare_ticks(const void *left, const void *right)
{
	const struct counted_tick *a = left;
	const struct counted_tick *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

static uint64_t owner_at(const struct counted *counted, uint64_t address)
{
	return hp_image_procedure_at(counted->file, (hp_link_address){ address })
		->owner->address.value;
}

/* --- samples ---------------------------------------------------------------------------------- */

static bool add_ticks(const struct report_windows *windows, size_t number, uint32_t image,
		      struct counted *counted)
{
	const struct hp_window_stratum *stratum = &windows->sum.strata[number];

	for (size_t i = 0; i < stratum->tick_count; i++) {
		const struct hp_counted *item = &stratum->ticks[i];
		struct counted_clock clock = { .factor = 1 };
		hp_link_address address;

		if (item->image != image ||
		    !hp_image_link_address(counted->file, item->at, &address))
			continue;
		clock.address = owner_at(counted, address.value);
		clock.scaled = balanced(windows, windows->scales[number], item->counts);
		for (size_t j = 0; j < HP_EVIDENCE_GROUPS; j++)
			clock.ticks += (double)item->counts[j];
		if (!hp_vector_push(&counted->clocks, clock) ||
		    !hp_vector_push(&counted->ticks,
				    (struct counted_tick){ address.value, clock.ticks }))
			return false;
	}
	return true;
}

static bool add_samples(const struct report *report, const struct report_part *part,
			struct counted *counted)
{
	size_t event = analyse_event(report);

	for (size_t i = 0; i < part->located_count; i++) {
		const struct located *located = &part->located[i];
		const struct tally *tally =
			&part->tallies[located->index * report->events.count + event];
		struct counted_clock clock = { .factor = 1 };

		if (!tally->samples)
			continue;
		if (counted_saw(counted, located->address))
			clock.samples = (double)tally->samples;
		else
			clock.missed = (double)tally->samples;
		clock.address = owner_at(counted, located->address);
		if (!hp_vector_push(&counted->clocks, clock))
			return false;
	}
	return true;
}

static void unite_clocks(struct counted *counted)
{
	struct counted_clock *clocks = counted->clocks.at;
	size_t n = 0;

	if (counted->clocks.count)
		qsort(clocks, counted->clocks.count, sizeof(*clocks), compare_clocks);
	for (size_t i = 0; i < counted->clocks.count; i++) {
		if (!n || clocks[n - 1].address != clocks[i].address) {
			clocks[n++] = clocks[i];
			continue;
		}
		clocks[n - 1].samples += clocks[i].samples;
		clocks[n - 1].missed += clocks[i].missed;
		clocks[n - 1].ticks += clocks[i].ticks;
		grouped_add(&clocks[n - 1].scaled, &clocks[i].scaled);
	}
	counted->clocks.count = n;
}

/* In windows, whatever the image, times what they stand for; `count`: as they were. */
static double all_ticks(const struct report *report, double *count)
{
	const struct report_windows *windows = &report->windows;
	double sum = 0;

	*count = 0;
	for (size_t i = 0; i < windows->sum.stratum_count; i++) {
		const struct hp_window_stratum *stratum = &windows->sum.strata[i];

		for (size_t j = 0; j < stratum->tick_count; j++) {
			struct hp_grouped ticks =
				balanced(windows, windows->scales[i], stratum->ticks[j].counts);

			sum += hp_grouped_sum(&ticks);
		}
		*count += (double)report_sum_of_items(stratum->ticks, stratum->tick_count, 0);
	}
	return sum;
}

/* In user code, of the time that windows stand for: commands without any are none of it. */
static double all_samples(const struct report *report)
{
	const struct report_windows *windows = &report->windows;
	size_t event = analyse_event(report);
	double sum = 0;

	for (size_t i = 0; i < report->images.count; i++) {
		const struct report_image *image = report->images.at[i];

		if (!report_is_kernel(image))
			sum += (double)(image->tallies[event].samples -
					image->uncovered[event].samples);
	}
	return windows->passing_ns > 0
		       ? sum * counted_told_share(report) * hp_grouped_sum(&windows->time) /
				 windows->passing_ns
		       : 0;
}

/* --- clocks ----------------------------------------------------------------------------------- */

/* Differences of so many deviations are chance. */
static const double chance = 2;
/* Where there was none, there might have been one as well. */
static const double least_ticks = 0.5;

static void set_clock(const struct hp_grouped *time, double share_of_ticks, double share_of_samples,
		      struct counted_clock *clock)
{
	double off = log(share_of_samples / share_of_ticks);
	double noise = (1 - share_of_ticks) / fmax(clock->ticks, least_ticks) + 1 / clock->samples;
	double by_chance = chance * chance * noise;
	double weight = off * off > by_chance ? 1 - by_chance / (off * off) : 0;
	double all_time = hp_grouped_sum(time);
	double all_scaled = hp_grouped_sum(&clock->scaled);

	clock->factor = exp(weight * off);
	clock->deviation = fabs(weight * off) / 2;
	if (!(clock->ticks > 0)) {
		clock->scaled = *time;
		return;
	}
	for (size_t i = 0; i < HP_EVIDENCE_WINDOWS; i++)
		clock->scaled.counts[i] = (1 - weight) * time->counts[i] +
					  weight * all_time * clock->scaled.counts[i] / all_scaled;
}

static const struct counted_clock *clock_of(const struct counted *counted, uint64_t address)
{
	const struct counted_clock key = { .address = owner_at(counted, address) };

	return counted->clocks.count ? bsearch(&key, counted->clocks.at, counted->clocks.count,
					       sizeof(key), compare_clocks)
				     : NULL;
}

static void multiply(struct hp_grouped *runs, double factor)
{
	for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i++)
		runs->counts[i] *= factor;
}

static void multiply_counts(struct counted *counted)
{
	for (size_t i = 0; i < counted->blocks.count; i++) {
		struct counted_block *block = &counted->blocks.at[i];
		const struct counted_clock *clock = clock_of(counted, block->address);

		if (clock)
			multiply(&block->runs, clock->factor);
	}
	for (size_t i = 0; i < counted->edges.count; i++) {
		struct counted_edge *edge = &counted->edges.at[i];
		const struct counted_clock *clock = clock_of(counted, edge->from);

		if (clock)
			multiply(&edge->runs, clock->factor);
	}
}

struct hp_error *counted_clocks_make(const struct report *report, const struct report_part *part,
				     uint32_t image, double covered, struct counted *counted)
{
	const struct report_windows *windows = &report->windows;
	double tick_count;
	double ticks = all_ticks(report, &tick_count);
	double samples = all_samples(report);
	size_t kept = 0;

	for (size_t i = 0; i < windows->sum.stratum_count; i++)
		if (windows->scales[i] > 0 && !add_ticks(windows, i, image, counted))
			return hp_error_create_no_memory();
	for (size_t i = 0; i < report->parts.count && counted->clocks.count; i++)
		if (report->parts.at[i]->image == part->image && report->parts.at[i]->file &&
		    !add_samples(report, report->parts.at[i], counted))
			return hp_error_create_no_memory();
	unite_clocks(counted);
	for (size_t i = 0; i < counted->clocks.count; i++) {
		struct counted_clock *clock = &counted->clocks.at[i];

		if (!(samples > 0))
			continue;
		if (!(tick_count > 0) || !(clock->samples > 0))
			clock->scaled = windows->time;
		else
			set_clock(&windows->time,
				  clock->ticks > 0 ? hp_grouped_sum(&clock->scaled) / ticks
						   : least_ticks / tick_count,
				  covered * clock->samples / samples, clock);
		counted->clocks.at[kept++] = *clock;
	}
	counted->clocks.count = kept;
	if (samples > 0)
		counted->ticks_per_sample = tick_count / samples;
	if (counted->ticks.count)
		qsort(counted->ticks.at, counted->ticks.count, sizeof(*counted->ticks.at),
		      compare_ticks);
	multiply_counts(counted);
	return NULL;
}

const struct hp_grouped *counted_time(const struct report *report, const struct counted *counted,
				      uint64_t address)
{
	const struct counted_clock *clock = clock_of(counted, address);

	return clock ? &clock->scaled : &report->windows.time;
}

double counted_missed_deviation(const struct counted *counted, uint64_t address)
{
	const struct counted_clock *clock = clock_of(counted, address);

	return clock ? log1p(clock->missed / fmax(clock->samples, 1)) : 0;
}

double counted_clock_deviation(const struct counted *counted, uint64_t address)
{
	const struct counted_clock *clock = clock_of(counted, address);

	return clock ? hypot(clock->deviation, counted_missed_deviation(counted, address)) : 0;
}
