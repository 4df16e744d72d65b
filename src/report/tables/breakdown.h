/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The columns and objects of the view whose rows are split by the keys of --by. */
#ifndef REPORT_TABLES_BREAKDOWN_H
#define REPORT_TABLES_BREAKDOWN_H

#include "columns.h"
#include "../common/json.h"
#include "../common/state.h"

/* One column per key, in the order of --by; for people, or for CSV. */
struct hp_error *breakdown_columns(const struct report *report, bool for_people,
				   struct columns *columns);
json_t *breakdown_object(const struct report *report, const struct hp_row *row);

#endif
