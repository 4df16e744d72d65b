/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which way the branches of one image went, as the registers of samples or branch records told it,
 * by link-time address.
 */
#ifndef REPORT_WAYS_H
#define REPORT_WAYS_H

#include "counted.h"

struct outcomes_counted {
	double taken;
	double straight;
};

/* A conditional jump. */
struct way {
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

struct ways {
	HP_VECTOR(struct way) branches;	      /* by address, distinct */
	HP_VECTOR(struct jump_counted) jumps; /* by address */
};

void ways_destroy(struct ways *ways);

/* Adds where indirect jumps were seen to go. */
struct hp_error *ways_jumps_of(const struct report *report, const struct report_part *part,
			       jump_vector *jumps);

/* What is known of the graph's conditional jumps, and of those through tables. */
struct hp_error *ways_terms_of(struct report *report, const struct report_part *part,
			       const struct hp_cfg *cfg, evidence_vector *terms);

#endif
