/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places that breakpoints counted for moments: so often in so much time, and therefore so often in
 * all of the time that the command ran.
 */
#ifndef INFER_PROBES_H
#define INFER_PROBES_H

#include "terms.h"

/* What the probes say of the graph's blocks; nothing of those that had no hits. */
struct hp_error *probes_terms_of(const struct hp_inference *inference,
				 const struct hp_loaded_part *part, const struct hp_cfg *cfg,
				 evidence_vector *terms);

#endif
