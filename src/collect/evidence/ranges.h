/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Straight code out of branch records: what lies between one taken branch and the next ran as a
 * whole, and hardware that counts the cycles in between says how long it took. Aggregated as they
 * come; records themselves are never kept.
 *
 * The sample itself came somewhere behind its last branch: what it stands for is time of the code
 * from there on. Executions come of that time over how long the same code takes, and not of what is
 * in records: what is slow is under way at the moment of a sample, and never in its record.
 *
 * Memory is bounded; what there is no room for is counted.
 */
#ifndef COLLECT_EVIDENCE_RANGES_H
#define COLLECT_EVIDENCE_RANGES_H

#include "../maps/process.h"

#include <hpcprof/db/db.h>

struct ranges;

/* `recording`: when it began, CLOCK_REALTIME; it tells recordings apart. */
struct hp_error *ranges_create(uint64_t recording, struct ranges **ranges);
void ranges_destroy(struct ranges *ranges);

/* Takes the branches of one sample, which stands for so many cycles, of the context. Records without cycles, with gaps, or
 * with a count that the hardware's field was too short for say nothing. */
void ranges_take(struct ranges *ranges, const struct hp_record *record, uint64_t cycles,
		 const struct context *context);

/* Time to write: there is not much room left. */
bool ranges_is_full(const struct ranges *ranges);

/* Adds what there is to the epoch; kept for the next try when that fails. */
struct hp_error *ranges_write(struct ranges *ranges, const struct names *commands,
			      struct hp_epoch_writer *writer);

#endif
