/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Outcomes of branches, from the registers of samples: the code at a sample is interpreted from the
 * sampled state, as far as that state is known, and the direction of each branch on the way is
 * counted (DCPI section 7, "instruction interpretation").
 *
 * Registers and stacks are not kept, only sums per branch. Memory is bounded (files, decoded
 * instructions, branches); what does not fit is counted as such.
 */
#ifndef COLLECT_EVIDENCE_OUTCOMES_H
#define COLLECT_EVIDENCE_OUTCOMES_H

#include "../maps/process.h"
#include "../tuning.h"

#include <hpcprof/db/db.h>

struct outcomes;

/* `recording`: its start (CLOCK_REALTIME), which identifies it. */
struct hp_error *outcomes_create(uint64_t recording, struct outcomes **outcomes);
void outcomes_destroy(struct outcomes *outcomes);

/* Called for code that begins at an offset near samples: both targets of a branch, and called
 * procedures. */
typedef void outcomes_beginning(void *context, struct image *image, uint64_t offset);
void outcomes_tell(struct outcomes *outcomes, outcomes_beginning *tell, void *context);

/* Follows one sample taken in this context: backwards by its branch records, which tell what was
 * really executed; without these, forwards by its registers; without both, not at all. */
void outcomes_follow(struct outcomes *outcomes, const struct hp_record *record,
		     const struct context *context);

/* Whether it is time to write, because little room is left. */
bool outcomes_is_full(const struct outcomes *outcomes);

/* Adds everything to the epoch. If that fails, it is kept for the next try. */
struct hp_error *outcomes_write(struct outcomes *outcomes, const struct names *commands,
				struct hp_epoch_writer *writer);

#endif
