/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counts of windows in one image, for the rest of this folder. */
#ifndef INFER_IMAGE_COUNTS_H
#define INFER_IMAGE_COUNTS_H

#include <hpcprof/infer/counts.h>

void counts_destroy(struct hp_image_counts *counted);
/* The share of the time in recordings whose windows count; recordings without windows may have been
 * added. */
double counts_told_share(const struct hp_inference *inference);
/* Whether any window saw the address run. */
bool counts_saw(const struct hp_image_counts *counted, uint64_t address);
/* Whether offsets of the part mean the same in all epochs and processes; otherwise it cannot have
 * counts. */
bool counts_possible(const struct hp_loaded_part *part);
/* The procedure at the address, or NULL if no window saw it run. requires: hp_counts_procedures. */
const struct hp_counts_procedure *counts_procedure(const struct hp_image_counts *counted,
						   uint64_t address);
/* All instructions of one of hp_counts_procedures; NAN if hp_interval_suffices is false. */
struct hp_counted_figure counts_instructions(const struct hp_inference *inference,
					     const struct hp_image_counts *counted,
					     const struct hp_counts_procedure *procedure);
/* The relative deviation of a ratio because windows saw only a part of the time. What they saw is
 * exact, so only the rest of the time adds to it: the finite population correction (Cochran, Sampling
 * Techniques, 1977, section 2.6). */
double counts_deviation_between(const struct hp_inference *inference,
				const struct hp_grouped_ratio *ratio);
/* The deviation, as a logarithm, of the ratio of a procedure's counts to its instructions. */
double counts_relative_deviation(const struct hp_inference *inference,
				 const struct hp_image_counts *counted,
				 const struct hp_grouped *part, const struct hp_grouped *whole);
/* Fills in `counts` of the rows of procedures. requires: files open, code of rows known. */
struct hp_error *counts_fill_rows(struct hp_inference *inference);

#endif
