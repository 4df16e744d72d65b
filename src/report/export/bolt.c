/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BOLT's pre-aggregated profile, for perf2bolt -pa: "B FROM TO COUNT MISPREDICTED" is a taken
 * branch, "F FROM TO COUNT" is code that was executed from one instruction to another without a
 * branch. BOLT uses the counts of fall-throughs between blocks, so these are written, not the
 * counts of blocks. Windows do not see mispredictions.
 *
 * Without the relocations of a file's code, BOLT builds no graph of a procedure that the compiler
 * split into a hot and a cold part (g++ does so wherever exceptions are caught). perf2bolt reports
 * all fall-throughs there as "mismatching disassembled function contents" and uses none of them.
 */
#include "../tuning.h"
#include "counted_code.h"
#include "export.h"

#include <inttypes.h>

static bool is_divided(const struct hp_procedure *const *parts, size_t count,
		       const struct hp_procedure *owner)
{
	for (size_t i = 0; i < count; i++)
		if (parts[i]->owner == owner && parts[i] != owner)
			return true;
	return false;
}

/* The share of fall-throughs that are in procedures of several parts. */
static double divided_share(const struct counted_code *code)
{
	const struct hp_procedure *const *parts;
	const struct hp_procedure *last = NULL;
	double divided = 0;
	double whole = 0;
	bool is_last_divided = false;
	size_t count;

	hp_image_procedures(code->part->file, &parts, &count);
	for (size_t i = 0; i < code->falls.count; i++) {
		hp_link_address from = { code->falls.at[i].from };
		const struct hp_procedure *owner =
			hp_image_procedure_at(code->part->file, from)->owner;

		if (owner != last)
			is_last_divided = is_divided(parts, count, owner);
		last = owner;
		whole += code->falls.at[i].runs;
		divided += is_last_divided ? code->falls.at[i].runs : 0;
	}
	return whole > 0 ? divided / whole : 0;
}

static void tell_of_divided(const struct report *report, const struct counted_code *code)
{
	double share = divided_share(code);

	if (share >= noticeable_divided && !hp_image_has_relocations(code->part->file))
		hp_profiles_warn(report->profiles,
				 "link the program with -Wl,--emit-relocs, or compile it with "
				 "-fno-reorder-blocks-and-partition",
				 "BOLT cannot use %.0f %% of the counts: the compiler divided "
				 "procedures of %s into hot and cold parts, and the file has no "
				 "relocations",
				 100 * share, code->part->image->short_name);
}

struct hp_error *export_bolt(struct report *report, FILE *out)
{
	struct counted_code code;
	struct hp_error *error = counted_code_find(report, false, &code);

	for (size_t i = 0; !error && i < code.branches.count; i++)
		fprintf(out, "B %" PRIx64 " %" PRIx64 " %" PRIu64 " 0\n", code.branches.at[i].from,
			code.branches.at[i].to, code.branches.at[i].count);
	for (size_t i = 0; !error && i < code.falls.count; i++)
		fprintf(out, "F %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", code.falls.at[i].from,
			code.falls.at[i].to, code.falls.at[i].count);
	if (!error)
		tell_of_divided(report, &code);
	counted_code_clear(&code);
	return error;
}
