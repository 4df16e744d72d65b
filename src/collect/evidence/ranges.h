/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Straight-line code from branch records. All code between one taken branch and the next was
 * executed, and hardware that counts cycles per record also reports how long it took. Records are
 * aggregated at once and never kept.
 *
 * A sample lies somewhere behind the last branch of its record, so it stands for time in the code
 * from there on. Executions are estimated from that time and the duration of the same code in other
 * records, not from the number of records: slow code is still running at the time of a sample, and
 * so is missing from the sample's own record.
 *
 * Memory is bounded; what does not fit is counted as such.
 */
#ifndef COLLECT_EVIDENCE_RANGES_H
#define COLLECT_EVIDENCE_RANGES_H

#include "../maps/process.h"

#include <hpcprof/db/db.h>

struct ranges;

/* `recording`: when it began, CLOCK_REALTIME; it tells recordings apart. */
struct hp_error *ranges_create(uint64_t recording, struct ranges **ranges);
void ranges_destroy(struct ranges *ranges);

/* Takes the branches of one sample, which stands for so many cycles, of the context. Records
 * without cycles, with gaps, or with a count that the hardware's field was too short for say
 * nothing. */
void ranges_take(struct ranges *ranges, const struct hp_record *record, uint64_t cycles,
		 const struct context *context);

/* Time to write: there is not much room left. */
bool ranges_is_full(const struct ranges *ranges);

/* Adds what there is to the epoch; kept for the next try when that fails. */
struct hp_error *ranges_write(struct ranges *ranges, const struct names *commands,
			      struct hp_epoch_writer *writer);

#endif
