/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the rotation sets found, put together in the order of the events. */
#include "counting.h"
#include "joined.h"

#include <stdlib.h>
#include <string.h>

static struct hp_error *estimate(struct hp_counting *counting, bool whole, uint64_t duration_ns,
				 struct hp_mux_estimates **created)
{
	struct hp_mux_estimates *joined = joined_create(counting->options.events->count);
	struct hp_error *error = joined ? NULL : hp_error_create_no_memory();

	for (size_t i = 0; !error && i < counting->rotation_count; i++) {
		const struct rotation *rotation = &counting->rotations[i];
		/* Until the current slice began, which belongs to the next interval, or the run's
		 * last one ended. */
		uint64_t until_ns = rotation->position_ns;
		struct hp_mux_estimates *estimates;

		error = hp_mux_estimates_create(whole ? rotation->whole : rotation->interval,
						counting->options.method, until_ns, &estimates);
		if (error)
			break;
		joined_add(joined, estimates, &counting->options.rotation_sets->at[i],
			   rotation_doubt(rotation));
		hp_mux_estimates_destroy(estimates);
		if (!whole)
			hp_mux_estimator_cut(rotation->interval, until_ns);
	}
	/* In wall time, whatever time line the slices lie on. */
	if (joined)
		joined->elapsed_ns = duration_ns;
	if (error && joined)
		hp_mux_estimates_destroy(joined);
	else
		*created = joined;
	return error;
}

/* True counts since the run or the interval began, by event; NULL without them. */
static const uint64_t *read_truth(struct hp_counting *counting, bool whole, uint64_t *out)
{
	const struct hp_rotation_set *rotation_set = &counting->truth_rotation_set;
	size_t events = counting->options.events->count;
	uint64_t *begun = counting->truth_values;
	struct counter_reading reading = { .values = begun + events };

	if (!counting->truth.place_count)
		return NULL;
	memset(reading.values, 0, events * sizeof(*reading.values));
	memset(out, 0xff, events * sizeof(*out));
	counters_read(&counting->truth, 0, 0, counting->truth.place_count, &reading);
	for (uint32_t i = 0; i < rotation_set->groups[0].count; i++) {
		uint32_t event = rotation_set->groups[0].events[i];

		out[event] = reading.values[i] - (whole ? 0 : begun[i]);
		begun[i] = reading.values[i];
	}
	return out;
}

static struct hp_error *report(struct hp_counting *counting, const struct hp_counting_result *whole,
			       uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t *truth = calloc(counting->options.events->count + 1, sizeof(*truth));
	uint64_t duration_ns = end_ns > begin_ns ? end_ns - begin_ns : 0;
	struct hp_mux_estimates *estimates = NULL;
	struct hp_error *error = truth ? estimate(counting, whole != NULL, duration_ns, &estimates)
				       : hp_error_create_no_memory();

	if (!error) {
		struct hp_counting_report report = {
			.begin_ns = begin_ns - counting->start_ns,
			.duration_ns = duration_ns,
			.estimates = estimates,
			.truth = read_truth(counting, whole != NULL, truth),
			.whole = whole,
		};

		counting->options.report(&report, counting->options.context);
	}
	if (estimates)
		hp_mux_estimates_destroy(estimates);
	free(truth);
	return error;
}

struct hp_error *counting_report_interval(struct hp_counting *counting, uint64_t end_ns)
{
	struct hp_error *error = report(counting, NULL, counting->interval_begin_ns, end_ns);

	counting->interval_begin_ns = end_ns;
	return error;
}

struct hp_error *counting_report_whole(struct hp_counting *counting,
				       const struct hp_counting_result *result)
{
	return report(counting, result, counting->start_ns, counting->end_ns);
}
