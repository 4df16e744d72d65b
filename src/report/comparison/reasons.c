/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reasons.h"

#include "../common/load.h"

static struct hp_error *load_calls(struct compared_report *side)
{
	struct hp_error *error = executions_of_calls(&side->report, &side->calls);

	if (!error || error->class != HP_ERROR_INSUFFICIENT)
		return error;
	/* no calls were counted */
	hp_error_destroy(error);
	executions_clear(&side->calls);
	return NULL;
}

static struct hp_error *load_side(const struct hp_compare_epochs *epochs,
				  const struct hp_compare_options *options,
				  struct compared_report *side)
{
	static const struct report_wants wants = { .counts = true };
	struct report *report = &side->report;
	struct hp_error *error;

	/* JSON output has no limits */
	side->options = (struct hp_report_options){
		.view = HP_VIEW_CALLS,
		.format = HP_FORMAT_JSON,
		.of = { .rows = HP_ROWS_OF_PROCEDURES,
			.needs_code = true,
			.symfs = options->symfs,
			.no_debuginfo = options->no_debuginfo },
	};
	report->options = &side->options;
	report->of = side->options.of;
	error = report_load(report, epochs->db, epochs->stamps, epochs->count, &wants);
	if (error || !hp_windows_exist(report->inference))
		return error;
	side->has_windows = true;
	report->profiles->keeps_files = true;
	error = hp_profiles_attribute(report->profiles);
	return error ? error : load_calls(side);
}

static void clear_side(struct compared_report *side)
{
	executions_clear(&side->calls);
	report_clear(&side->report);
}

struct hp_error *hp_comparison_add_reasons(struct hp_comparison *comparison,
					   const struct hp_compare_epochs epochs[HP_SIDES],
					   const struct hp_compare_options *options)
{
	struct compared_report sides[HP_SIDES] = { 0 };
	struct hp_error *error = NULL;
	bool has_windows = comparison->finding_count > 0;

	for (size_t i = 0; i < HP_SIDES && has_windows && !error; i++) {
		error = load_side(&epochs[i], options, &sides[i]);
		has_windows = sides[i].has_windows;
	}
	if (!error && sides[HP_BASE].calls.at.count && sides[HP_CANDIDATE].calls.at.count)
		error = reasons_add_calls(comparison, sides);
	if (!error && has_windows)
		error = reasons_add_causes(comparison, sides);
	for (size_t i = 0; i < HP_SIDES; i++)
		clear_side(&sides[i]);
	return error;
}
