/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sampled instructions: each sample stands for so many that were retired where it is. That says how
 * often code ran, whatever time it took.
 */
#ifndef INFER_RETIRED_H
#define INFER_RETIRED_H

#include "terms.h"

/* The event that counts instructions; inference->profiles->events.count when none was sampled. */
size_t retired_event(const struct hp_inference *inference);

/* Rows of procedures whose instructions windows did not count absolutely get those of the samples;
 * after counts_fill_rows. */
struct hp_error *retired_fill_rows(struct hp_inference *inference);

/* What the samples say of the graph's blocks; nothing where there are none. */
struct hp_error *retired_terms_of(const struct hp_inference *inference,
				  const struct hp_loaded_part *part, const struct hp_cfg *cfg,
				  evidence_vector *terms);

#endif
