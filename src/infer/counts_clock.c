/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image_counts.h"
#include "balance.h"
#include "counts_clock.h"
#include "windows.h"
#include "tuning.h"

#include <hpcprof/base/search.h>
#include <hpcprof/infer/inference.h>

#include <math.h>

HP_ORDER_BY(compare_clocks, struct counts_clock, address);

HP_ORDER_BY(compare_ticks, struct hp_counts_tick, address);

static uint64_t owner_at(const struct hp_image_counts *counted, uint64_t address)
{
	return hp_image_procedure_at(counted->file, (hp_link_address){ address })
		->owner->address.value;
}

/* --- samples ---------------------------------------------------------------------------------- */

/* Lists the ticks of all windows, absolute or relative. */
static bool list_ticks(const struct hp_windows *windows, size_t number, uint32_t image,
		       struct hp_image_counts *counted)
{
	const struct hp_window_stratum *stratum = &windows->sum.strata[number];

	for (size_t i = 0; i < stratum->tick_count; i++) {
		const struct hp_counted *item = &stratum->ticks[i];
		struct hp_counts_tick tick = { 0 };
		hp_link_address address;

		if (item->image != image ||
		    !hp_image_link_address(counted->file, item->at, &address))
			continue;
		tick.address = address.value;
		for (size_t j = 0; j < HP_EVIDENCE_GROUPS; j++)
			tick.count += (double)item->counts[j];
		tick.scaled = tick.count;
		if (counted->is_absolute) {
			struct hp_grouped scaled =
				hp_balanced(windows, windows->scales[number], item->counts);

			tick.scaled = hp_grouped_sum(&scaled);
		}
		if (!hp_vector_push(&counted->ticks, tick))
			return false;
	}
	return true;
}

static bool add_ticks(const struct hp_windows *windows, size_t number, uint32_t image,
		      struct hp_image_counts *counted)
{
	const struct hp_window_stratum *stratum = &windows->sum.strata[number];

	for (size_t i = 0; i < stratum->tick_count; i++) {
		const struct hp_counted *item = &stratum->ticks[i];
		struct counts_clock clock = { .factor = 1, .applied = 1 };
		hp_link_address address;
		unsigned fold;

		if (item->image != image ||
		    !hp_image_link_address(counted->file, item->at, &address))
			continue;
		clock.address = owner_at(counted, address.value);
		clock.scaled = hp_balanced(windows, windows->scales[number], item->counts);
		fold = balance_fold(image, clock.address);
		for (size_t j = 0; j < HP_EVIDENCE_GROUPS; j++) {
			clock.ticks += (double)item->counts[j];
			clock.apart += windows->scales[number] * windows->apart[fold][j] *
				       (double)item->counts[j];
		}
		if (!hp_vector_push(&counted->clocks, clock))
			return false;
	}
	return true;
}

static bool add_samples(const struct hp_inference *inference, const struct hp_loaded_part *part,
			struct hp_image_counts *counted)
{
	size_t event = hp_profiles_time_event(inference->profiles);

	for (size_t i = 0; i < part->located_count; i++) {
		const struct hp_located *located = &part->located[i];
		const struct hp_tally *tally =
			&part->tallies[located->index * inference->profiles->events.count + event];
		struct counts_clock clock = { .factor = 1, .applied = 1 };

		if (!tally->samples)
			continue;
		if (counts_saw(counted, located->address))
			clock.samples = (double)tally->samples;
		else
			clock.missed = (double)tally->samples;
		clock.address = owner_at(counted, located->address);
		if (!hp_vector_push(&counted->clocks, clock))
			return false;
	}
	return true;
}

static void unite_clocks(struct hp_image_counts *counted)
{
	struct counts_clock *clocks = counted->clocks.at;
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
		clocks[n - 1].apart += clocks[i].apart;
		hp_grouped_add(&clocks[n - 1].scaled, &clocks[i].scaled);
	}
	counted->clocks.count = n;
}

/* The samples in windows of all images, multiplied by what they stand for; `count`: their number.
 */
static double all_ticks(const struct hp_inference *inference, double *count)
{
	const struct hp_windows *windows = &inference->windows;
	double sum = 0;

	*count = 0;
	for (size_t i = 0; i < windows->sum.stratum_count; i++) {
		const struct hp_window_stratum *stratum = &windows->sum.strata[i];

		for (size_t j = 0; j < stratum->tick_count; j++) {
			struct hp_grouped ticks =
				hp_balanced(windows, windows->scales[i], stratum->ticks[j].counts);

			sum += hp_grouped_sum(&ticks);
		}
		*count += (double)hp_sum_of_items(stratum->ticks, stratum->tick_count, 0);
	}
	return sum;
}

/* The number of samples in user code of commands with windows. */
static double told_samples(const struct hp_inference *inference)
{
	size_t event = hp_profiles_time_event(inference->profiles);
	double sum = 0;

	for (size_t i = 0; i < inference->profiles->images.count; i++) {
		const struct hp_loaded_image *image = inference->profiles->images.at[i];

		if (!hp_profiles_is_kernel(image))
			sum += (double)(image->tallies[event].samples -
					image->uncovered[event].samples);
	}
	return sum * counts_told_share(inference);
}

/* The part of these samples that is in the time that windows stand for. */
double counts_all_samples(const struct hp_inference *inference)
{
	const struct hp_windows *windows = &inference->windows;

	return windows->passing_ns > 0 ? told_samples(inference) * hp_grouped_sum(&windows->time) /
						 windows->passing_ns
				       : 0;
}

struct hp_error *counts_ticks_make(const struct hp_inference *inference, uint32_t image,
				   struct hp_image_counts *counted)
{
	const struct hp_window_evidence *sum = &inference->windows.sum;
	double samples = told_samples(inference);
	double count = 0;

	for (size_t i = 0; i < sum->stratum_count; i++) {
		const struct hp_window_stratum *stratum = &sum->strata[i];

		if (!list_ticks(&inference->windows, i, image, counted))
			return hp_error_create_no_memory();
		count += (double)hp_sum_of_items(stratum->ticks, stratum->tick_count, 0);
	}
	counted->ticks_per_sample = samples > 0 ? count / samples : 0;
	if (counted->ticks.count)
		qsort(counted->ticks.at, counted->ticks.count, sizeof(*counted->ticks.at),
		      compare_ticks);
	return NULL;
}

/* --- clocks ----------------------------------------------------------------------------------- */

static void set_clock(const struct hp_grouped *time, double variance, struct counts_clock *clock)
{
	struct moved moved = moved_of(&clock->place, variance);
	double weight = clock->place.seen / (clock->place.seen + 1 / variance);
	double all_time = hp_grouped_sum(time);
	double all_scaled = hp_grouped_sum(&clock->scaled);

	clock->factor = exp(moved.log);
	clock->deviation = hypot(moved.log, moved.deviation);
	if (!(clock->ticks > 0)) {
		clock->scaled = *time;
		return;
	}
	for (size_t i = 0; i < HP_EVIDENCE_WINDOWS; i++)
		clock->scaled.counts[i] = (1 - weight) * time->counts[i] +
					  weight * all_time * clock->scaled.counts[i] / all_scaled;
}

static struct counts_clock *clock_of(const struct hp_image_counts *counted, uint64_t address)
{
	const struct counts_clock key = { .address = owner_at(counted, address) };

	return counted->clocks.count ? bsearch(&key, counted->clocks.at, counted->clocks.count,
					       sizeof(key), compare_clocks)
				     : NULL;
}

static void multiply(struct hp_grouped *runs, double factor)
{
	for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i++)
		runs->counts[i] *= factor;
}

static void multiply_counts(struct hp_image_counts *counted)
{
	for (size_t i = 0; i < counted->blocks.count; i++) {
		struct hp_counts_block *block = &counted->blocks.at[i];
		const struct counts_clock *clock = clock_of(counted, block->address);

		if (clock)
			multiply(&block->runs, clock->factor);
	}
	for (size_t i = 0; i < counted->edges.count; i++) {
		struct hp_counts_edge *edge = &counted->edges.at[i];
		const struct counts_clock *clock = clock_of(counted, edge->from);

		if (clock)
			multiply(&edge->runs, clock->factor);
	}
	for (size_t i = 0; i < counted->clocks.count; i++)
		counted->clocks.at[i].applied *= counted->clocks.at[i].factor;
}

struct hp_error *counts_clocks_list(const struct hp_inference *inference,
				    const struct hp_loaded_part *part, uint32_t image,
				    double covered, struct hp_image_counts *counted)
{
	const struct hp_windows *windows = &inference->windows;
	double count;
	double ticks = all_ticks(inference, &count);
	double samples = counts_all_samples(inference);

	for (size_t i = 0; i < windows->sum.stratum_count && samples > 0; i++)
		if (windows->scales[i] > 0 && !add_ticks(windows, i, image, counted))
			return hp_error_create_no_memory();
	for (size_t i = 0; i < inference->profiles->parts.count && counted->clocks.count; i++)
		if (inference->profiles->parts.at[i]->image == part->image &&
		    inference->profiles->parts.at[i]->file &&
		    !add_samples(inference, inference->profiles->parts.at[i], counted))
			return hp_error_create_no_memory();
	unite_clocks(counted);
	for (size_t i = 0; i < counted->clocks.count && count > 0; i++) {
		struct counts_clock *clock = &counted->clocks.at[i];
		double share = clock->ticks > 0 ? hp_grouped_sum(&clock->scaled) / ticks : 0;
		double expected = covered * clock->samples / samples;

		clock->share = clock->samples / samples;
		clock->ticks_share = share;
		clock->covered = covered;
		if (!(clock->samples > 0))
			continue;
		clock->place = place_ticks_of(clock->ticks, count, share, expected, clock->samples);
		clock->place_apart =
			place_ticks_of(clock->ticks, count, clock->apart, expected, clock->samples);
	}
	return NULL;
}

void counts_clocks_set(const struct hp_inference *inference, struct hp_image_counts *counted)
{
	const struct hp_grouped *time = &inference->windows.time;
	double variance = inference->windows.moved;

	counted->moved = variance;
	for (size_t i = 0; i < counted->clocks.count; i++) {
		struct counts_clock *clock = &counted->clocks.at[i];

		if (clock->place.samples > 0)
			set_clock(time, variance, clock);
		else
			clock->scaled = *time;
	}
	multiply_counts(counted);
}

/* --- throughput ------------------------------------------------------------------------------- */

double counts_all_ticks(const struct hp_inference *inference)
{
	double count;

	all_ticks(inference, &count);
	return count;
}

static struct paced paced_of(const struct hp_counts_procedure *procedure,
			     const struct counts_clock *clock)
{
	return (struct paced){
		.instructions =
			clock->covered * hp_grouped_sum(&procedure->instructions) / clock->factor,
		.seen = clock->ticks,
		.share = clock->ticks_share,
	};
}

bool counts_clocks_paced(const struct hp_image_counts *counted, paced_vector *procedures)
{
	for (size_t i = 0; i < counted->procedures.count; i++) {
		const struct hp_counts_procedure *procedure = &counted->procedures.at[i];
		const struct counts_clock *clock =
			clock_of(counted, procedure->owner->address.value);

		if (clock && clock->covered > 0 &&
		    !hp_vector_push(procedures, paced_of(procedure, clock)))
			return false;
	}
	return true;
}

static void pool(const struct hp_inference *inference, struct hp_counts_procedure *procedure,
		 const struct hp_pace *pace, struct counts_clock *clock)
{
	struct paced paced = paced_of(procedure, clock);
	struct hp_grouped_ratio ratio = hp_grouped_pace(&procedure->instructions, &clock->scaled,
							inference->windows.count, pace);
	struct estimate counted = {
		.log = log(hp_grouped_sum(&procedure->instructions)),
		.deviation = inference->windows.is_by_time
				     ? INFINITY
				     : hypot(counts_deviation_between(inference, &ratio),
					     clock->deviation),
	};
	struct estimate throughput =
		throughput_of_procedure(&inference->windows.throughput, &paced, log(clock->factor));
	struct estimate pooled =
		pooled_estimate(counted, &throughput, clock->share, clock->samples);

	clock->factor = 1;
	if (!isfinite(pooled.deviation) || !isfinite(pooled.log))
		return;
	clock->factor = exp(pooled.log - counted.log);
	clock->pooled = pooled.deviation;
	multiply(&procedure->instructions, clock->factor);
}

void counts_clocks_pool(const struct hp_inference *inference, struct hp_image_counts *counted)
{
	for (size_t i = 0; i < counted->procedures.count; i++) {
		struct hp_counts_procedure *procedure = &counted->procedures.at[i];
		struct counts_clock *clock = clock_of(counted, procedure->owner->address.value);

		if (clock && clock->samples > 0)
			pool(inference, procedure, &counted->pace, clock);
		else if (clock)
			clock->factor = 1;
	}
	multiply_counts(counted);
}

const struct hp_grouped *counts_time(const struct hp_inference *inference,
				     const struct hp_image_counts *counted, uint64_t address)
{
	const struct counts_clock *clock = clock_of(counted, address);

	return clock ? &clock->scaled : &inference->windows.time;
}

double counts_samples(const struct hp_image_counts *counted, uint64_t address)
{
	const struct counts_clock *clock = clock_of(counted, address);

	return clock ? clock->samples : 0;
}

double counts_factor(const struct hp_image_counts *counted, uint64_t address)
{
	const struct counts_clock *clock = clock_of(counted, address);

	return clock ? clock->applied : 1;
}

double counts_pooled_deviation(const struct hp_image_counts *counted, uint64_t address)
{
	const struct counts_clock *clock = clock_of(counted, address);

	return clock && clock->pooled > 0
		       ? hypot(clock->pooled, counts_missed_deviation(counted, address))
		       : 0;
}

double counts_missed_deviation(const struct hp_image_counts *counted, uint64_t address)
{
	const struct counts_clock *clock = clock_of(counted, address);

	return clock ? log1p(clock->missed / fmax(clock->samples, 1)) : 0;
}

double counts_apart_share(const struct hp_image_counts *counted, uint64_t address)
{
	const struct counts_clock *clock = clock_of(counted, address);
	struct moved moved;

	if (!clock || !(clock->place.samples > 0) || !(counted->moved > 0))
		return 0;
	moved = moved_of(&clock->place, counted->moved);
	return moved_apart(&moved);
}

double counts_clock_deviation(const struct hp_image_counts *counted, uint64_t address)
{
	const struct counts_clock *clock = clock_of(counted, address);

	return clock ? hypot(clock->deviation, counts_missed_deviation(counted, address)) : 0;
}
