/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stat_history.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/stack/phases.h>

#include <math.h>
#include <string.h>

/* The time of PELT may grow with the square of the intervals. An hour of 100 ms has 36,000
 * intervals; a drawing has 840 pixels. */
enum { INTERVALS_MOST = 8192 };

void stat_history_clear(struct stat_history *history)
{
	hp_vector_free(&history->intervals);
	hp_vector_free(&history->phases);
}

double stat_stretch_cpi(const struct stat_stretch *stretch)
{
	return stretch->cycles / stretch->instructions;
}

/* --- collecting ------------------------------------------------------------------------------- */

/* Joins two intervals by their cycles, as parts are per instruction. A component that one of them
 * lacks is NaN. */
static void join(struct stat_stretch *into, const struct stat_stretch *from)
{
	double instructions = into->instructions + from->instructions;

	for (unsigned i = 0; i < HP_STACK_COMPONENTS; i++)
		into->parts[i] = (into->parts[i] * into->instructions +
				  from->parts[i] * from->instructions) /
				 instructions;
	into->instructions = instructions;
	into->cycles += from->cycles;
	into->end_s = from->end_s;
}

static void halve(struct stat_history *history)
{
	size_t kept = 0;

	for (size_t i = 0; i < history->intervals.count; i += 2) {
		history->intervals.at[kept] = history->intervals.at[i];
		if (i + 1 < history->intervals.count)
			join(&history->intervals.at[kept], &history->intervals.at[i + 1]);
		kept++;
	}
	history->intervals.count = kept;
	history->joined *= 2;
	history->in_last = history->joined;
}

bool stat_history_add(struct stat_history *history, const struct hp_counting_report *report,
		      const struct hp_stack *stack)
{
	const double ns_per_s = 1e9;
	struct stat_stretch interval = {
		.begin_s = (double)report->begin_ns / ns_per_s,
		.end_s = (double)(report->begin_ns + report->duration_ns) / ns_per_s,
		.cycles = stack->cycles,
		.instructions = stack->instructions,
	};

	if (!(interval.instructions > 0) || !(interval.cycles > 0))
		return true;
	for (unsigned i = 0; i < HP_STACK_COMPONENTS; i++) {
		const struct hp_stack_part *part = &stack->parts[i];

		interval.parts[i] = part->is_known ? part->values[HP_STACK_INTERVAL] : NAN;
	}
	if (!history->joined)
		history->joined = history->in_last = 1;
	if (history->intervals.count && history->in_last < history->joined) {
		join(&history->intervals.at[history->intervals.count - 1], &interval);
		history->in_last++;
		return true;
	}
	if (history->intervals.count == INTERVALS_MOST)
		halve(history);
	history->in_last = 1;
	return hp_vector_push(&history->intervals, interval);
}

/* --- phases ----------------------------------------------------------------------------------- */

static bool is_counted_always(const struct stat_history *history, unsigned component)
{
	for (size_t i = 0; i < history->intervals.count; i++)
		if (isnan(history->intervals.at[i].parts[component]))
			return false;
	return true;
}

/* Makes a row per interval: the logarithm of the CPI, and the shares of the components that all
 * intervals have. Noise grows with the CPI, but not in its logarithm and in shares. */
static double *values_of(const struct stat_history *history, size_t *width)
{
	double *values =
		calloc(history->intervals.count * (HP_STACK_COMPONENTS + 1) + 1, sizeof(*values));
	unsigned components[HP_STACK_COMPONENTS] = { 0 };
	size_t count = 0;

	for (unsigned i = 0; i < HP_STACK_COMPONENTS; i++)
		if (is_counted_always(history, i))
			components[count++] = i;
	*width = count + 1;
	for (size_t i = 0; values && i < history->intervals.count; i++) {
		const struct stat_stretch *interval = &history->intervals.at[i];
		double cpi = stat_stretch_cpi(interval);

		values[i * *width] = log(cpi);
		for (size_t j = 0; j < count; j++)
			values[i * *width + 1 + j] = interval->parts[components[j]] / cpi;
	}
	return values;
}

struct hp_error *stat_history_end(struct stat_history *history)
{
	_cleanup_free_ double *values = NULL;
	_cleanup_free_ size_t *ends = NULL;
	size_t width, count;
	size_t begin = 0;
	struct hp_error *error;

	if (!history->intervals.count)
		return NULL;
	values = values_of(history, &width);
	if (!values)
		return hp_error_create_no_memory();
	error = hp_phases_find(values, history->intervals.count, width, 1, &ends, &count);
	for (size_t i = 0; !error && i < count; i++) {
		struct stat_stretch phase = history->intervals.at[begin];

		for (size_t j = begin + 1; j < ends[i]; j++)
			join(&phase, &history->intervals.at[j]);
		if (!hp_vector_push(&history->phases, phase))
			return hp_error_create_no_memory();
		begin = ends[i];
	}
	return error;
}

enum hp_stack_component stat_stretch_changed(const struct stat_stretch *before,
					     const struct stat_stretch *after, double *change)
{
	enum hp_stack_component most = HP_STACK_OTHER;

	*change = 0;
	for (unsigned i = 0; i < HP_STACK_COMPONENTS; i++) {
		double by = after->parts[i] - before->parts[i];

		if (isnan(by) || fabs(by) <= fabs(*change))
			continue;
		*change = by;
		most = (enum hp_stack_component)i;
	}
	return most;
}
