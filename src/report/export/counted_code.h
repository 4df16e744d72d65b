/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What windows counted in one image, as optimisers want it: branches that were taken, and straight code
 * between them, by link-time address. Counts stand for the whole recording; what was counted once
 * remains 1 at least.
 */
#ifndef REPORT_EXPORT_COUNTED_CODE_H
#define REPORT_EXPORT_COUNTED_CODE_H

#include "../common/state.h"

#include <hpcprof/base/vector.h>

/* Of a branch: its instruction and its target. Of straight code: its first and its last instruction. */
struct counted_item {
	uint64_t from;
	uint64_t to;
	uint64_t count;
};

struct counted_code {
	const struct hp_loaded_image *image;
	HP_VECTOR(struct counted_item) branches; /* within the image */
	HP_VECTOR(struct counted_item) ranges;
};

/* requires: files open. Of the image with the most executed instructions. INSUFFICIENT if nothing was
 * counted. */
struct hp_error *counted_code_find(struct report *report, struct counted_code *code);
void counted_code_clear(struct counted_code *code);

#endif
