/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The view whose rows are told apart by what --by asks for: processes, and places in the code. */
#ifndef REPORT_BREAKDOWN_H
#define REPORT_BREAKDOWN_H

#include "columns.h"
#include "json.h"
#include "model.h"

/* Understands --by, comma-separated: our words and perf's. USAGE for others. */
struct hp_error *breakdown_parse(struct report *report);

/* The rows are of threads or CPUs: of the shares of profiles. */
bool breakdown_needs_shares(const struct report *report);

/* What --by asks for and the epoch does not keep apart, with the way to it; else NULL. */
struct hp_error *breakdown_check(const struct report *report, const char *stamp,
				 const struct hp_epoch_meta *meta);

/* What of a stratum's process, thread and CPU the rows are told apart by: a number in
 * report->groups. */
struct hp_error *breakdown_group(struct report *report, const struct hp_stratum *stratum,
				 uint32_t *group);

/* One column per key, in the order asked for; for people, or as CSV. */
struct hp_error *breakdown_columns(const struct report *report, bool for_people,
				   struct columns *columns);
void breakdown_forget(struct report *report);
json_t *breakdown_object(const struct report *report, const struct row *row);

#endif
