/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "statistics.h"

#include <stdio.h>
#include <string.h>

static void note_refusal(struct hp_shadow_statistics *statistics,
			 const struct window_result *result)
{
	const struct hp_error *error = result->error;

	statistics->refusals[result->refusal]++;
	if (error)
		snprintf(statistics->reasons[result->refusal],
			 sizeof(statistics->reasons[result->refusal]), "%s%s%s", error->message,
			 error->advice ? "; " : "", error->advice ? error->advice : "");
}

static void note_call(struct hp_shadow_statistics *statistics, const struct hp_window *window)
{
	struct hp_shadow_system_call *call = statistics->calls;
	const struct hp_shadow_system_call *end = call + HP_SHADOW_SYSTEM_CALLS;

	while (call < end && call->count && strcmp(call->name, window->end_call) != 0)
		call++;
	if (call == end)
		return;
	call->count++;
	snprintf(call->name, sizeof(call->name), "%s", window->end_call);
}

static void add_window(struct hp_shadow_statistics *statistics, const struct hp_window *window,
		       double beside)
{
	uint64_t covered_ns = hp_window_duration_ns(window);

	statistics->windows++;
	statistics->ends[window->end]++;
	if (window->end == HP_WINDOW_SYSTEM_CALL)
		note_call(statistics, window);
	if (!window->block_count)
		return;
	statistics->useful++;
	statistics->covered_ns += covered_ns;
	statistics->beside_ns += (uint64_t)(beside * (double)covered_ns);
}

void statistics_add(struct hp_shadow_statistics *statistics, const struct window_order *order,
		    const struct window_result *result, double beside)
{
	switch (result->outcome) {
	case WINDOW_MADE:
		statistics->late += order->room == ROOM_AFTER;
		statistics->crowded += order->room != ROOM_OF_ITS_OWN && order->room != ROOM_AFTER;
		add_window(statistics, &result->window, beside);
		break;
	case WINDOW_REFUSED:
		note_refusal(statistics, result);
		break;
	case WINDOW_NOT_NOW:
		/* Else what it needs is being made, or its thread has ended. */
		statistics->refusals[HP_SHADOW_IN_KERNEL] += result->was_in_call;
		break;
	}
	statistics->samples += result->samples;
	statistics->matched += result->matched;
	statistics->copied_bytes += result->copied_bytes;
	statistics->replay_ns += result->replay_ns;
	if (result->price_ns)
		statistics->price_ns = result->price_ns;
	if (!result->is_paced)
		return;
	statistics->paced += result->outcome == WINDOW_MADE && result->window.block_count;
	statistics->aside_ns += result->recording_ns;
}
