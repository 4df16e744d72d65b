/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "call_counts.h"

#include <hpcprof/base/search.h>

#include <math.h>
#include <stdlib.h>

static int compare_places(const struct executed *one, const struct hp_loaded_image *image,
			  uint64_t address)
{
	if (one->row.image != image)
		return one->row.image->index < image->index ? -1 : 1;
	return (one->row.address > address) - (one->row.address < address);
}

static int compare_executed(const void *left, const void *right)
{
	const struct executed *b = right;

	return compare_places(left, b->row.image, b->row.address);
}

struct hp_error *call_counts_make(const struct report *report, struct call_counts *counts)
{
	/* All counts: the view's limits are for call paths. */
	static const struct hp_report_options all = { .view = HP_VIEW_EXECUTIONS,
						      .format = HP_FORMAT_JSON };
	struct report whole = *report;
	struct hp_error *error;
	size_t kept = 0;

	*counts = (struct call_counts){ 0 };
	if (!hp_windows_exist(report->inference))
		return NULL;
	whole.options = &all;
	error = executions_of_procedures(&whole, &counts->procedures);
	if (error && error->class == HP_ERROR_INSUFFICIENT) {
		hp_error_destroy(error);
		error = NULL;
		counts->procedures.at.count = 0;
	}
	for (size_t i = 0; i < counts->procedures.at.count; i++)
		if (isfinite(counts->procedures.at.at[i].runs.value))
			counts->procedures.at.at[kept++] = counts->procedures.at.at[i];
	counts->procedures.at.count = kept;
	if (kept)
		qsort(counts->procedures.at.at, kept, sizeof(*counts->procedures.at.at),
		      compare_executed);
	return error;
}

void call_counts_clear(struct call_counts *counts)
{
	executions_clear(&counts->procedures);
}

const struct hp_counted_figure *call_counts_of(const struct call_counts *counts,
					       const struct hp_called *procedure)
{
	size_t count = counts->procedures.at.count;
	const struct executed *at = counts->procedures.at.at;
	size_t found;

	if (!procedure->has_address || procedure->inlined || !count)
		return NULL;
	found = hp_bisect(i, count,
			  compare_places(&at[i], procedure->image, procedure->address) < 0);
	if (found == count || compare_places(&at[found], procedure->image, procedure->address))
		return NULL;
	return &at[found].runs;
}
