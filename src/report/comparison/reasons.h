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
	bool has_windows; /* without windows, nothing more is loaded */
	struct executions calls;
	double exposure; /* number of runs, or units of work */
};

/* Whether the name is the one that was compared, without compilers' suffixes for parts and
 * clones. */
bool reasons_is_named(const char *name, const char *shown);
/* Whether it is the same image. A program may have different names on the two sides, a library has
 * not. */
bool reasons_is_image(const struct hp_loaded_image *image, const char *path);

/* Adds how often the findings' procedures are called. */
struct hp_error *reasons_add_calls(struct hp_comparison *comparison, struct compared_report *sides);
/* Adds the causes that take more or less of the findings' cycles than before. */
struct hp_error *reasons_add_causes(struct hp_comparison *comparison,
				    struct compared_report *sides);

#endif
