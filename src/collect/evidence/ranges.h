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

/* `recording`: its start (CLOCK_REALTIME), which identifies it. */
struct hp_error *ranges_create(uint64_t recording, struct ranges **ranges);
void ranges_destroy(struct ranges *ranges);

/* Takes the branch records of one sample of the context, which stands for so many cycles. Records
 * without cycles, with gaps, or with a count beyond the hardware's field are ignored. */
void ranges_take(struct ranges *ranges, const struct hp_record *record, uint64_t cycles,
		 const struct context *context);

/* Whether it is time to write, because little room is left. */
bool ranges_is_full(const struct ranges *ranges);

/* Adds everything to the epoch. If that fails, it is kept for the next try. */
struct hp_error *ranges_write(struct ranges *ranges, const struct names *commands,
			      struct hp_epoch_writer *writer);

#endif
