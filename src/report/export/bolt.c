/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BOLT's pre-aggregated profile, for perf2bolt -pa: "B FROM TO COUNT MISPREDICTED" of a branch that was
 * taken, "F FROM TO COUNT" of code that ran through from one instruction to another. Windows do not
 * see mispredictions.
 */
#include "counted_code.h"
#include "export.h"

#include <inttypes.h>

struct hp_error *export_bolt(struct report *report, FILE *out)
{
	struct counted_code code;
	struct hp_error *error = counted_code_find(report, &code);

	for (size_t i = 0; !error && i < code.branches.count; i++)
		fprintf(out, "B %" PRIx64 " %" PRIx64 " %" PRIu64 " 0\n", code.branches.at[i].from,
			code.branches.at[i].to, code.branches.at[i].count);
	for (size_t i = 0; !error && i < code.ranges.count; i++)
		fprintf(out, "F %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", code.ranges.at[i].from,
			code.ranges.at[i].to, code.ranges.at[i].count);
	counted_code_clear(&code);
	return error;
}
