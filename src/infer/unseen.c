/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Procedures that have samples, but that no window saw run. */
#include "common_error.h"
#include "counts_clock.h"
#include "image_counts.h"
#include "throughput.h"
#include "tuning.h"

#include <hpcprof/base/search.h>

#include <math.h>
#include <stdlib.h>

static const struct hp_counted_figure nothing_known = { NAN, NAN, NAN };

static struct hp_counted_figure instructions_by_time(const struct hp_inference *inference,
						     const struct hp_loaded_part *part,
						     double samples)
{
	static const struct paced unseen = { 0 };
	double uncovered = counts_uncovered(inference, part->image);
	const struct hp_throughput *throughput = &inference->windows.throughput;
	double share = samples / counts_all_samples(inference);
	struct place_ticks place =
		place_ticks_of(0, throughput->ticks, 0, (1 - uncovered) * share, samples);
	struct hp_counted_figure figure;
	struct estimate estimate;

	if (!inference->windows.is_absolute || uncovered > most_uncovered || !(samples > 0))
		return nothing_known;
	estimate = throughput_of_procedure(throughput, &unseen,
					   moved_of(&place, inference->windows.moved).log);
	estimate = estimate_by_time(&estimate, share, samples);
	share = exp(HP_NORMAL_90 *
		    hypot(estimate.deviation, counts_common_deviation(inference, uncovered)));
	figure.value = exp(estimate.log);
	figure.low = figure.value / share;
	figure.high = figure.value * share;
	return hp_interval_suffices(figure.value, figure.low, figure.high, 0) ? figure
									      : nothing_known;
}

/* --- all of a part ---------------------------------------------------------------------------- */

HP_ORDER_BY(compare_owners, struct hp_unseen_procedure, owner->address.value);

static void unite(hp_unseen_vector *unseen)
{
	size_t n = 0;

	if (unseen->count)
		qsort(unseen->at, unseen->count, sizeof(*unseen->at), compare_owners);
	for (size_t i = 0; i < unseen->count; i++) {
		if (n && unseen->at[n - 1].owner == unseen->at[i].owner)
			unseen->at[n - 1].samples += unseen->at[i].samples;
		else
			unseen->at[n++] = unseen->at[i];
	}
	unseen->count = n;
}

struct hp_error *hp_unseen_procedures(const struct hp_inference *inference,
				      const struct hp_loaded_part *part, hp_unseen_vector *unseen)
{
	const struct hp_image_counts *counted = hp_counts_made(inference, part->image);
	size_t event = hp_profiles_time_event(inference->profiles);
	size_t events = inference->profiles->events.count;

	for (size_t i = 0; i < part->located_count && event < events && counts_possible(part);
	     i++) {
		const struct hp_located *located = &part->located[i];
		const struct hp_tally *tally = &part->tallies[located->index * events + event];
		struct hp_unseen_procedure one = {
			.owner = hp_image_procedure_at(part->file,
						       (hp_link_address){ located->address })
					 ->owner,
			.samples = (double)tally->samples,
		};

		if (tally->samples &&
		    !(counted && counts_procedure(counted, one.owner->address.value)) &&
		    !hp_vector_push(unseen, one))
			return hp_error_create_no_memory();
	}
	unite(unseen);
	for (size_t i = 0; i < unseen->count; i++)
		unseen->at[i].instructions =
			instructions_by_time(inference, part, unseen->at[i].samples);
	return NULL;
}
