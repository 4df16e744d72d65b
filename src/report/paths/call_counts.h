/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often procedures were called, where windows counted it; samples alone do not show this. */
#ifndef REPORT_PATHS_CALL_COUNTS_H
#define REPORT_PATHS_CALL_COUNTS_H

#include "../executions/executions.h"

#include <hpcprof/profile/paths.h>

struct call_counts {
	struct executions procedures; /* sorted by image and address */
};

/* Empty if nothing was counted, or only ratios. */
struct hp_error *call_counts_make(const struct report *report, struct call_counts *counts);
void call_counts_clear(struct call_counts *counts);
/* NULL: unknown. */
const struct hp_counted_figure *call_counts_of(const struct call_counts *counts,
					       const struct hp_called *procedure);

#endif
