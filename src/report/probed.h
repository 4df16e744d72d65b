/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places that breakpoints counted for moments: so often in so much time, and therefore so often in
 * all of the time that the command ran.
 */
#ifndef REPORT_PROBED_H
#define REPORT_PROBED_H

#include "counted.h"

/* What the probes say of the graph's blocks; nothing of those that had no hits. */
struct hp_error *probed_terms_of(const struct report *report, const struct report_part *part,
				 const struct hp_cfg *cfg, evidence_vector *terms);

#endif
