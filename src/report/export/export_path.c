/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call paths, counts and names as several export formats need them. */
#include "../common/text.h"
#include "export.h"

#include <math.h>

struct hp_error *export_path_of(const struct hp_call_paths *paths, const struct hp_path_step *step,
				struct export_path *path)
{
	path->steps.count = 0;
	for (; step->parent != HP_PATH_NO_NODE; step = &paths->steps.at[step->parent])
		if (!hp_vector_push(&path->steps, step))
			return hp_error_create_no_memory();
	return NULL;
}

static bool is_uniform(const struct hp_loaded_event *event)
{
	double coverage = hp_profiles_coverage(event);

	return event->least_period == event->greatest_period && (isnan(coverage) || coverage >= 1);
}

uint64_t export_value(const struct hp_loaded_event *event, const struct hp_tally *tally)
{
	return is_uniform(event) ? tally->samples : (uint64_t)llround(tally->weight);
}

void export_command(const struct report *report, struct hp_buffer *text)
{
	const struct hp_epoch_meta *meta = report->profiles->epochs.at[0].meta;

	for (size_t i = 0; meta->command_line && meta->command_line[i]; i++) {
		hp_buffer_printf(text, "%s", i ? " " : "");
		text_escape(text, meta->command_line[i]);
	}
	if (!meta->command_line && meta->target)
		text_escape(text, meta->target);
}
