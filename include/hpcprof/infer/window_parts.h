/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What parts of absolute windows took, beside what models say of the code that ran in them.
 *
 * What a block takes is the mean of all its simulated runs, in whatever windows these were. A window
 * may have other data than most: cycles of a cause are multiplied by how often its events were met
 * where this window was simulated, over how often they are on average in the same code. Code whose
 * time no model knows is taken to be like the rest of the part.
 */
#ifndef HPCPROF_INFER_WINDOW_PARTS_H
#define HPCPROF_INFER_WINDOW_PARTS_H

#include <hpcprof/analyze/penalties.h>
#include <hpcprof/infer/inference.h>
#include <hpcprof/model/evidence.h>

typedef HP_VECTOR(struct hp_timed_part) hp_timed_parts;

/* Adds the parts of one command; they are of windows `first` to `first` + HP_EVIDENCE_WINDOWS - 1.
 * Those that are too short, or of whose code too little was simulated, are left out. */
struct hp_error *hp_window_parts(const struct hp_window_stratum *stratum, double cycles_per_ns,
				 size_t first, hp_timed_parts *parts);

/* Of all commands that pass --comm. requires: hp_inference_create */
struct hp_error *hp_inference_penalties(const struct hp_inference *inference,
					struct hp_penalties *penalties);

#endif
