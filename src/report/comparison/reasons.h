/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why findings changed, as far as the windows of both sides tell. Both sides are loaded once, as
 * reports.
 */
#ifndef REPORT_COMPARISON_REASONS_H
#define REPORT_COMPARISON_REASONS_H

#include "../common/state.h"
#include "../executions/executions.h"

#include <hpcprof/report/comparison.h>

struct compared_report {
	struct hp_report_options options;
	struct report report;
	bool has_windows; /* else nothing more is loaded */
	struct executions calls;
	double exposure; /* runs, or units of work */
};

/* As compared: without what compilers add to names of parts and clones. */
bool reasons_is_named(const char *name, const char *shown);
/* Programs have other names on both sides, perhaps; libraries have not. */
bool reasons_is_image(const struct hp_loaded_image *image, const char *path);

/* How often findings are called. */
struct hp_error *reasons_add_calls(struct hp_comparison *comparison, struct compared_report *sides);
/* What takes more of findings' cycles than before, or less. */
struct hp_error *reasons_add_causes(struct hp_comparison *comparison,
				    struct compared_report *sides);

#endif
