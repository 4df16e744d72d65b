/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often the code of one image was executed, in the form that optimisers take: whole numbers by
 * link-time address.
 *
 * Windows are samples, so their counts do not balance: the inflow of a block differs from its
 * outflow. So each procedure has its flow-consistent estimate (hp_inference_analyse), in executions
 * of the whole recording; where there is none, its counts. Code without samples and counts, and
 * code that ran less often than one count stands for, has 0: optimisers treat it as cold.
 *
 * Procedures with samples but without counts have estimates from time: their cycles per best case
 * are those of the counted procedures, or 1 where nothing was counted.
 */
#ifndef REPORT_EXPORT_COUNTED_CODE_H
#define REPORT_EXPORT_COUNTED_CODE_H

#include "../common/state.h"

#include <hpcprof/base/vector.h>

/* A branch: its instruction and its target; or straight code: its first and its last
 * instruction. */
struct counted_item {
	uint64_t from;
	uint64_t to;
	double runs;
	uint64_t count; /* executions times the code's scale; at least 1 unless there were none */
	bool is_call;	/* for branches */
};
typedef HP_VECTOR(struct counted_item) counted_items;

struct counted_code {
	const struct hp_loaded_part *part;
	counted_items branches; /* taken branches within the image, including calls and returns */
	counted_items falls;	/* fall-throughs from the end of a block to the next one */
	/* blocks; with a count of 0 if others of their procedure were executed */
	counted_items ranges;
	bool is_sampled; /* by samples only; then there are no calls */
	/* A power of ten: counts are `scale` times executions, so that the rarest keep their
	 * proportion to the others. */
	double scale;
};

/* requires: files open. Finds the code of the image with the most executed instructions.
 * INSUFFICIENT if nothing was counted; with `or_sampled`, samples are used then, of the image with
 * the most. */
struct hp_error *counted_code_find(struct report *report, bool or_sampled,
				   struct counted_code *code);
void counted_code_clear(struct counted_code *code);

#endif
