/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples of retired instructions. Each stands for a known number of instructions executed at its
 * address, so they count executions independently of time.
 */
#ifndef INFER_RETIRED_H
#define INFER_RETIRED_H

#include "terms.h"

/* Rows of procedures whose instructions windows did not count absolutely get those of the samples;
 * after counts_fill_rows. */
struct hp_error *retired_fill_rows(struct hp_inference *inference);

/* What the samples say of the graph's blocks; nothing where there are none. */
struct hp_error *retired_terms_of(const struct hp_inference *inference,
				  const struct hp_loaded_part *part, const struct hp_cfg *cfg,
				  evidence_vector *terms);

#endif
