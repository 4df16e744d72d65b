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
	*window = (struct hp_window){ 0 };
}
