/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unsymbolized profile that llvm-profgen makes a sample profile of: the number of ranges, each
 * "FROM-TO:COUNT"; the number of branches, each "FROM->TO:COUNT". Addresses are link-time addresses, so
 * llvm-profgen needs --use-offset=0: without it, it writes an empty profile and says nothing.
 */
#include "counted_code.h"
#include "export.h"

#include <inttypes.h>

struct hp_error *export_llvm_profgen(struct report *report, FILE *out)
{
	struct counted_code code;
	struct hp_error *error = counted_code_find(report, &code);

	if (!error)
		fprintf(out, "%zu\n", code.ranges.count);
	for (size_t i = 0; !error && i < code.ranges.count; i++)
		fprintf(out, "%" PRIx64 "-%" PRIx64 ":%" PRIu64 "\n", code.ranges.at[i].from,
			code.ranges.at[i].to, code.ranges.at[i].count);
	if (!error)
		fprintf(out, "%zu\n", code.branches.count);
	for (size_t i = 0; !error && i < code.branches.count; i++)
		fprintf(out, "%" PRIx64 "->%" PRIx64 ":%" PRIu64 "\n", code.branches.at[i].from,
			code.branches.at[i].to, code.branches.at[i].count);
	counted_code_clear(&code);
	return error;
}
