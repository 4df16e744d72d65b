/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Branch records with cycles: how often straight-line code was executed in all sampled cycles, and
 * how many cycles passed from one taken branch to the next.
 */
#ifndef INFER_RECORDS_H
#define INFER_RECORDS_H

#include "terms.h"

/* Terms for executions of the graph's blocks; blocks in no record get none. */
struct hp_error *records_terms_of(const struct hp_inference *inference,
				  const struct hp_loaded_part *part, const struct hp_cfg *cfg,
				  evidence_vector *terms);

#endif
