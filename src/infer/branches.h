/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The directions that the branches of one image took, by link-time address, from two sources: the
 * registers of samples, and branch records.
 */
#ifndef INFER_BRANCHES_H
#define INFER_BRANCHES_H

#include "terms.h"

struct outcomes_counted {
	double taken;
	double straight; /* not taken */
};

/* A conditional jump. */
struct branch_outcomes {
	uint64_t address;
	struct outcomes_counted by_registers;
	struct outcomes_counted by_records;
};

/* An indirect jump, inside the image. */
struct jump_counted {
	struct hp_known_jump ends;
	double count;
};

typedef HP_VECTOR(struct hp_known_jump) jump_vector;

struct branches {
	HP_VECTOR(struct branch_outcomes) branches; /* by address, distinct */
	HP_VECTOR(struct jump_counted) jumps;	    /* by address */
};

void branches_destroy(struct branches *ways);

/* Adds the observed targets of indirect jumps. */
struct hp_error *branches_jumps_of(const struct hp_inference *inference,
				   const struct hp_loaded_part *part, jump_vector *jumps);

/* Adds terms for the conditional jumps of the graph, and for its jumps through tables. */
struct hp_error *branches_terms_of(struct hp_inference *inference,
				   const struct hp_loaded_part *part, const struct hp_cfg *cfg,
				   evidence_vector *terms);

#endif
