/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "exact_counts.h"
#include "image_counts.h"
#include "images.h"
#include "retired.h"
#include "windows.h"

#include <hpcprof/analyze/schedule.h>

struct hp_error *hp_inference_create(struct hp_profiles *profiles,
				     const struct hp_inference_options *options,
				     struct hp_inference **inference)
{
	struct hp_inference *created = calloc(1, sizeof(*created));

	if (!created)
		return hp_error_create_no_memory();
	created->profiles = profiles;
	created->arena = profiles->arena;
	created->options = options;
	created->schedules = hp_schedules_create();
	*inference = created;
	return windows_read(created);
}

void hp_inference_destroy(struct hp_inference *inference)
{
	for (size_t i = 0; inference->images && i < inference->profiles->images.count; i++) {
		struct inferred_image *image = &inference->images[i];

		hp_vector_free(&image->exact);
		counts_destroy(image->counts);
		branches_destroy(image->branches);
		events_destroy(image->events);
	}
	free(inference->images);
	hp_schedules_destroy(inference->schedules);
	windows_forget(&inference->windows);
	free(inference);
}

/* Each window's measured latencies have the same weight. */
static struct hp_core measured_core(const struct hp_inference *inference)
{
	const struct hp_window_evidence *sum = &inference->windows.sum;
	struct hp_core core = *hp_profiles_core(inference->profiles);
	double sums[HP_LATENCIES + 1] = { 0 };
	uint16_t *const cycles[HP_LATENCIES] = {
		[HP_LATENCY_L2] = &core.l2_cycles,
		[HP_LATENCY_L3] = &core.l3_cycles,
		[HP_LATENCY_MEMORY] = &core.memory_cycles,
	};

	for (size_t i = 0; i < sum->stratum_count; i++)
		for (size_t j = 0; j <= HP_LATENCIES; j++)
			sums[j] += (double)sum->strata[i].latencies[j];
	for (size_t j = 0; j < HP_LATENCIES && sums[HP_LATENCIES] > 0; j++) {
		double mean = sums[j] / sums[HP_LATENCIES];

		if (mean >= core.l1_cycles && mean <= UINT16_MAX)
			*cycles[j] = (uint16_t)mean;
	}
	return core;
}

struct hp_error *hp_inference_prepare(struct hp_inference *inference)
{
	inference->images =
		calloc(inference->profiles->images.count + 1, sizeof(*inference->images));
	if (!inference->images)
		return hp_error_create_no_memory();
	inference->core = measured_core(inference);
	return exact_counts_load(inference);
}

struct hp_error *hp_inference_fill_rows(struct hp_inference *inference)
{
	struct hp_error *error = counts_fill_rows(inference);

	return error ? error : retired_fill_rows(inference);
}
