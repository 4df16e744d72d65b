/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes phases as a table and as JSON. */
#include "stat_history.h"
#include "tuning.h"

#include <math.h>

/* The largest component of a phase. */
static enum hp_stack_component largest(const struct stat_stretch *phase)
{
	enum hp_stack_component most = HP_STACK_OTHER;

	for (unsigned i = 0; i < HP_STACK_COMPONENTS; i++)
		if (phase->parts[i] > phase->parts[most] || isnan(phase->parts[most]))
			most = (enum hp_stack_component)i;
	return most;
}

static void print_phase(FILE *stream, const struct stat_stretch *before,
			const struct stat_stretch *phase)
{
	double cpi = stat_stretch_cpi(phase);
	enum hp_stack_component most = largest(phase);
	double change;

	fprintf(stream, "%10.4f%12.4f%10.3f  %3.0f %% %-15s", phase->begin_s, phase->end_s, cpi,
		100 * phase->parts[most] / cpi, hp_stack_component_word(most));
	if (before) {
		enum hp_stack_component changed = stat_stretch_changed(before, phase, &change);

		fprintf(stream, "  %s %+.3f", hp_stack_component_word(changed), change);
	}
	putc('\n', stream);
}

void stat_phases_text(FILE *stream, const struct stat_history *history)
{
	size_t count = history->phases.count;

	if (!count)
		return;
	fprintf(stream, "\n%10s%12s%10s  %-21s  what changed\n", "from s", "to s", "CPI",
		"most of it");
	for (size_t i = 0; i < count && i < PHASES_MOST_ROWS; i++)
		print_phase(stream, i ? &history->phases.at[i - 1] : NULL, &history->phases.at[i]);
	if (count > PHASES_MOST_ROWS)
		fprintf(stream, "# and %zu phases more; --format=json has them\n",
			count - PHASES_MOST_ROWS);
}

static json_t *phase_object(const struct stat_stretch *before, const struct stat_stretch *phase)
{
	json_t *parts = json_object();
	json_t *object;
	double change;

	for (unsigned i = 0; i < HP_STACK_COMPONENTS; i++)
		if (!isnan(phase->parts[i]))
			json_object_set_new(parts,
					    hp_stack_component_name((enum hp_stack_component)i),
					    json_real(phase->parts[i]));
	object = json_pack("{s:f, s:f, s:f, s:o}", "begin_s", phase->begin_s, "end_s", phase->end_s,
			   "cpi", stat_stretch_cpi(phase), "stack", parts);
	if (object && before) {
		enum hp_stack_component changed = stat_stretch_changed(before, phase, &change);

		json_object_set_new(object, "changed",
				    json_string(hp_stack_component_name(changed)));
		json_object_set_new(object, "change", json_real(change));
	}
	return object;
}

json_t *stat_phases_json(const struct stat_history *history)
{
	json_t *phases = json_array();

	for (size_t i = 0; phases && i < history->phases.count; i++)
		json_array_append_new(phases, phase_object(i ? &history->phases.at[i - 1] : NULL,
							   &history->phases.at[i]));
	return phases;
}
