/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "advice.h"

#include "../tuning.h"

#include <hpcprof/infer/inference.h>

#include <math.h>

const char *advice_level(const struct hp_analysed_insn *insn)
{
	const struct hp_happened *seen = insn->happened;
	double all, far;

	if (!seen || !seen->cycles)
		return NULL;
	all = seen->cycles[HP_LANE_MEMORY] - seen->cycles[HP_LANE_NO_DCACHE];
	far = seen->cycles[HP_LANE_MEMORY] - seen->cycles[HP_LANE_NO_FAR];
	if (!(all > 0))
		return NULL;
	return far >= clear_level * all		? "L3 or memory"
	       : far <= (1 - clear_level) * all ? "L2"
						: NULL;
}

static const char *for_data(const struct hp_happened *seen)
{
	if (seen->mean[HP_EVENT_LINE_SPLIT] >= noticeable_event)
		return "align the data: accesses reach over two cache lines";
	if (seen->mean[HP_EVENT_STRIDED] >= strided_share)
		return "its addresses move by a constant stride: touch fewer lines (smaller "
		       "elements, or "
		       "hot fields in an array of their own), or prefetch some iterations ahead";
	if (seen->mean[HP_EVENT_STRIDED] < scattered_share)
		return "its addresses are scattered: process keys in sorted order, make the data "
		       "smaller, or prefetch as soon as the address is known";
	return NULL;
}

static const char *for_kind(enum hp_cause_kind kind, const struct hp_happened *seen)
{
	switch ((unsigned)kind) {
	case HP_CAUSE_DCACHE:
		return for_data(seen);
	case HP_CAUSE_DTLB:
		return seen->mean[HP_EVENT_TLB2_MISS] >= noticeable_event
			       ? "its pages are many: try huge pages "
				 "(GLIBC_TUNABLES=glibc.malloc.hugetlb=1, or madvise)"
			       : NULL;
	case HP_CAUSE_MISPREDICT:
		return seen->mean[HP_EVENT_MISPREDICTED] >= noticeable_event
			       ? "no predictor knows this branch: select with a conditional move, "
				 "or sort "
				 "or partition the data"
			       : NULL;
	case HP_CAUSE_STORE_FORWARD:
		return seen->mean[HP_EVENT_FORWARD_FAILED] >= noticeable_event
			       ? "it loads bytes of several stores that were just made: load them "
				 "as they "
				 "were stored, or store them at once"
			       : NULL;
	case HP_CAUSE_DIVIDER:
		return "multiply by the inverse, or divide fewer times";
	case HP_CAUSE_ICACHE:
		return "hot code is larger than the cache: order it by use (hpcprof export "
		       "--format=bolt or llvm-profgen)";
	default:
		return NULL;
	}
}

/* Fewer lines are in fewer pages, too. */
static const char *for_joint(const struct stall *stall, const struct hp_analysed_insn **culprit)
{
	const struct hp_joint_cause *joint = stall->insn->joint;

	if (!joint || joint->low < certain_cause || !joint->has_culprit ||
	    !(joint->kinds >> HP_CAUSE_DCACHE & 1))
		return NULL;
	*culprit = hp_analysis_insn(stall->analysis, joint->culprit.value);
	return *culprit && (*culprit)->happened ? for_data((*culprit)->happened) : NULL;
}

const char *advice_for(const struct stall *stall, const struct hp_analysed_insn **culprit)
{
	for (uint32_t i = 0; i < stall->insn->cause_count; i++) {
		const struct hp_cause *cause =
			&stall->analysis->causes[stall->insn->first_cause + i];

		if (cause->low < certain_cause || !cause->has_culprit)
			continue;
		*culprit = hp_analysis_insn(stall->analysis, cause->culprit.value);
		return *culprit && (*culprit)->happened
			       ? for_kind((enum hp_cause_kind)cause->kind, (*culprit)->happened)
			       : NULL;
	}
	return for_joint(stall, culprit);
}
