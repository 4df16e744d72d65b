/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places counted by breakpoints during short periods: hits per active time, multiplied by the total
 * time of the command.
 */
#ifndef INFER_PROBES_H
#define INFER_PROBES_H

#include "terms.h"

/* Terms from probes for the graph's blocks; blocks without hits get none. */
struct hp_error *probes_terms_of(const struct hp_inference *inference,
				 const struct hp_loaded_part *part, const struct hp_cfg *cfg,
				 evidence_vector *terms);

#endif
