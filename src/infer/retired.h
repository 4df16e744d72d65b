/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples of retired instructions. Each stands for a known number of instructions executed at its
 * address, so they count executions independently of time.
 */
#ifndef INFER_RETIRED_H
#define INFER_RETIRED_H

#include "terms.h"

/* Fills in the instructions of rows of procedures that windows did not count absolutely. Called
 * after counts_fill_rows. */
struct hp_error *retired_fill_rows(struct hp_inference *inference);

/* Terms from samples of this event for the graph's blocks; none if it was not sampled. */
struct hp_error *retired_terms_of(const struct hp_inference *inference,
				  const struct hp_loaded_part *part, const struct hp_cfg *cfg,
				  evidence_vector *terms);

#endif
