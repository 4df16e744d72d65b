/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the registers of samples to the outcomes of branches: each sample's code is run forward from
 * the state it was in, as far as that is known, and which way its branches go is counted (DCPI
 * section 7, "instruction interpretation").
 *
 * Registers and stacks are never kept: only sums by branch are. Memory is bounded: files, decoded
 * instructions and branches; what there is no room for is counted.
 */
#ifndef COLLECT_EVIDENCE_OUTCOMES_H
#define COLLECT_EVIDENCE_OUTCOMES_H

#include "../maps/process.h"
#include "../tuning.h"

#include <hpcprof/db/db.h>

struct outcomes;

/* `recording`: when it began, CLOCK_REALTIME; it tells recordings apart. */
struct hp_error *outcomes_create(uint64_t recording, struct outcomes **outcomes);
void outcomes_destroy(struct outcomes *outcomes);

/* Told of code that begins at an offset, near samples: both ways of branches, and what is called.
 */
typedef void outcomes_beginning(void *context, struct image *image, uint64_t offset);
void outcomes_tell(struct outcomes *outcomes, outcomes_beginning *tell, void *context);

/* Follows one sample that was taken under the context: back by the branches that were recorded with
 * it, which say what truly ran; else ahead, by its registers; without either, not at all. */
void outcomes_follow(struct outcomes *outcomes, const struct hp_record *record,
		     const struct context *context);

/* Time to write: there is not much room left. */
bool outcomes_is_full(const struct outcomes *outcomes);

/* Adds what there is to the epoch; kept for the next try when that fails. */
struct hp_error *outcomes_write(struct outcomes *outcomes, const struct names *commands,
				struct hp_epoch_writer *writer);

#endif
