/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/base/number.h>
#include <hpcprof/model/window.h>

#include <stdlib.h>

const char *hp_window_end_name(enum hp_window_end end)
{
	static const char *const names[HP_WINDOW_ENDS] = {
		[HP_WINDOW_COMPLETE] = "complete",
		[HP_WINDOW_TIME] = "time limit",
		[HP_WINDOW_EXITS] = "work limit",
		[HP_WINDOW_SYSTEM_CALL] = "system call",
		[HP_WINDOW_CLOCK] = "clock",
		[HP_WINDOW_RANDOM] = "random number",
		[HP_WINDOW_PROCESSOR] = "processor number",
		[HP_WINDOW_TRANSACTION] = "transaction",
		[HP_WINDOW_WAIT] = "wait instruction",
		[HP_WINDOW_INTERRUPT] = "trap instruction",
		[HP_WINDOW_FAR] = "far branch",
		[HP_WINDOW_UNDECODABLE] = "undecodable",
		[HP_WINDOW_UNREADABLE] = "no code",
		[HP_WINDOW_WRITABLE_CODE] = "writable code",
		[HP_WINDOW_SIGNAL] = "signal",
		[HP_WINDOW_DIED] = "died",
		[HP_WINDOW_CACHE_FULL] = "cache full",
		[HP_WINDOW_NO_SAMPLES] = "no samples",
		[HP_WINDOW_FORBIDDEN] = "forbidden call",
		[HP_WINDOW_LOST] = "path lost",
		[HP_WINDOW_ROUNDS] = "repeated states",
	};

	return (size_t)end < HP_ARRAY_COUNT(names) ? names[end] : "unknown";
}

const char *hp_shadow_refusal_name(enum hp_shadow_refusal refusal)
{
	static const char *const names[HP_SHADOW_REFUSALS] = {
		[HP_SHADOW_BUDGET] = "over budget",
		[HP_SHADOW_NOT_PERMITTED] = "not permitted",
		[HP_SHADOW_TRACED] = "already traced",
		[HP_SHADOW_OTHER_MACHINE] = "not 64-bit x86",
		[HP_SHADOW_MEMORY] = "too little memory to spare",
		[HP_SHADOW_MAPPINGS] = "too many mappings",
		[HP_SHADOW_IN_KERNEL] = "in a system call",
		[HP_SHADOW_FAILED] = "failed",
	};

	return (size_t)refusal < HP_ARRAY_COUNT(names) ? names[refusal] : "unknown";
}

const char *hp_event_kind_name(enum hp_event_kind kind)
{
	static const char *const names[HP_EVENT_KINDS] = {
		[HP_EVENT_L1_MISS] = "l1_miss",
		[HP_EVENT_L1_UNKNOWN] = "l1_unknown",
		[HP_EVENT_L2_MISS] = "l2_miss",
		[HP_EVENT_L2_UNKNOWN] = "l2_unknown",
		[HP_EVENT_DTLB_MISS] = "dtlb_miss",
		[HP_EVENT_DTLB_UNKNOWN] = "dtlb_unknown",
		[HP_EVENT_TLB2_MISS] = "tlb2_miss",
		[HP_EVENT_TLB2_UNKNOWN] = "tlb2_unknown",
		[HP_EVENT_PREFETCHED] = "prefetched",
		[HP_EVENT_PREFETCHED_LATE] = "prefetched_late",
		[HP_EVENT_FORWARDED_YOUNG] = "forwarded_young",
		[HP_EVENT_FORWARD_FAILED] = "forward_failed",
		[HP_EVENT_ALIAS_4K] = "alias_4k",
		[HP_EVENT_LINE_SPLIT] = "line_split",
		[HP_EVENT_PAGE_SPLIT] = "page_split",
		[HP_EVENT_L1I_MISS] = "l1i_miss",
		[HP_EVENT_L1I_UNKNOWN] = "l1i_unknown",
		[HP_EVENT_L2I_MISS] = "l2i_miss",
		[HP_EVENT_L2I_UNKNOWN] = "l2i_unknown",
		[HP_EVENT_ITLB_MISS] = "itlb_miss",
		[HP_EVENT_ITLB_UNKNOWN] = "itlb_unknown",
		[HP_EVENT_TLB2I_MISS] = "tlb2i_miss",
		[HP_EVENT_TLB2I_UNKNOWN] = "tlb2i_unknown",
		[HP_EVENT_DECODED_MISS] = "decoded_miss",
		[HP_EVENT_MISPREDICTED] = "mispredicted",
		[HP_EVENT_BRANCH_UNKNOWN] = "branch_unknown",
		[HP_EVENT_STRIDED] = "strided",
		[HP_EVENT_WALK_MISS] = "walk_miss",
		[HP_EVENT_WALK_UNKNOWN] = "walk_unknown",
		[HP_EVENT_STRIDE] = "stride",
		[HP_EVENT_ADDRESS_LOADED] = "address_loaded",
		[HP_EVENT_CHASED] = "chased",
		[HP_EVENT_LINES] = "lines",
		[HP_EVENT_PAGES] = "pages",
		[HP_EVENT_MET] = "met",
		[HP_EVENT_L2_LIKELY_MISS] = "l2_likely_miss",
		[HP_EVENT_TLB2_LIKELY_MISS] = "tlb2_likely_miss",
	};

	return (size_t)kind < HP_ARRAY_COUNT(names) ? names[kind] : "unknown";
}

uint64_t hp_window_end_ns(const struct hp_window *window)
{
	return window->part_count ? window->parts[window->part_count - 1].end_ns : window->time_ns;
}

uint64_t hp_window_duration_ns(const struct hp_window *window)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < window->part_count; i++)
		sum += window->parts[i].duration_ns;
	return sum;
}

void hp_window_clear(struct hp_window *window)
{
	free(window->blocks);
	free(window->edges);
	free(window->simulated);
	free(window->events);
	free(window->timed);
	*window = (struct hp_window){ 0 };
}
