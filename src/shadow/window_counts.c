/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "window_counts.h"

#include "tuning.h"

#include <hpcprof/base/cleanup.h>

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

size_t window_sample_count(const struct window_maker *maker)
{
	return maker->is_recorded ? maker->log.call_count
				  : maker->sampler.count + maker->end.is_known;
}

/* One sample for the moment before each recorded call. Only its time is used
 * (hp_engine_call.moment). */
static struct hp_engine_sample *samples_of_calls(const struct call_log *log)
{
	struct hp_engine_sample *samples = calloc(log->call_count + 1, sizeof(*samples));

	for (size_t i = 0; samples && i < log->call_count; i++)
		samples[i].time_ns = log->calls[i].user_ns;
	return samples;
}

/* The samples with registers and stacks, and the window's end state. */
static struct hp_engine_sample *samples_of_sampler(const struct window_maker *maker)
{
	const struct state_sampler *sampler = &maker->sampler;
	struct hp_engine_sample *samples = calloc(sampler->count + 1, sizeof(*samples));

	for (size_t i = 0; samples && i < sampler->count; i++) {
		const struct match_sample *from = &sampler->samples[i];

		memcpy(samples[i].general, from->general, sizeof(samples[i].general));
		samples[i].ip = from->ip;
		samples[i].flags = from->flags;
		samples[i].follows_call = from->follows_wait;
		samples[i].stack = from->stack;
		samples[i].stack_bytes = from->stack_bytes;
		samples[i].time_ns = (from->tick + 1) * MATCH_PERIOD_NS;
	}
	if (samples && maker->end.is_known)
		samples[sampler->count] = end_state_sample(&maker->end);
	return samples;
}

struct hp_engine_sample *window_samples(const struct window_maker *maker)
{
	if (maker->is_recorded)
		return samples_of_calls(&maker->log);
	return samples_of_sampler(maker);
}

static bool is_vdso(const struct areas *areas, hp_runtime_address address)
{
	const struct area *area = areas_find(areas, address.value);

	return area && area->kind == AREA_VDSO;
}

/* Drops the counts of code in the vdso: the copy runs our replacement there (vdso_calls.h). */
static void drop_vdso(const struct areas *areas, struct hp_window *window)
{
	size_t blocks = 0;
	size_t edges = 0;

	for (size_t i = 0; i < window->block_count; i++) {
		const struct hp_window_block *block = &window->blocks[i];

		if (is_vdso(areas, block->address))
			window->instructions -=
				block->instructions * hp_window_count(block->counts);
		else
			window->blocks[blocks++] = *block;
	}
	for (size_t i = 0; i < window->edge_count; i++) {
		const struct hp_window_edge *edge = &window->edges[i];

		if (!is_vdso(areas, edge->from) && !is_vdso(areas, edge->to))
			window->edges[edges++] = *edge;
	}
	window->block_count = blocks;
	window->edge_count = edges;
}

/* Drops all parts from `kept` on. */
static void keep_parts(struct hp_window *window, size_t kept)
{
	size_t blocks = 0;
	size_t edges = 0;

	window->part_count = kept;
	window->instructions = 0;
	for (size_t i = 0; i < window->block_count; i++) {
		struct hp_window_block *block = &window->blocks[i];

		memset(&block->counts[kept], 0, (HP_WINDOW_PARTS - kept) * sizeof(uint64_t));
		window->instructions += block->instructions * hp_window_count(block->counts);
		if (hp_window_count(block->counts))
			window->blocks[blocks++] = *block;
	}
	for (size_t i = 0; i < window->edge_count; i++) {
		struct hp_window_edge *edge = &window->edges[i];

		memset(&edge->counts[kept], 0, (HP_WINDOW_PARTS - kept) * sizeof(uint64_t));
		if (hp_window_count(edge->counts))
			window->edges[edges++] = *edge;
	}
	window->block_count = blocks;
	window->edge_count = edges;
}

void window_drop_impossible(struct hp_window *window)
{
	double instructions[HP_WINDOW_PARTS] = { 0 };
	size_t possible = 0;

	for (size_t i = 0; i < window->block_count; i++)
		for (size_t part = 0; part < HP_WINDOW_PARTS; part++)
			instructions[part] += (double)window->blocks[i].counts[part] *
					      window->blocks[i].instructions;
	while (possible < window->part_count &&
	       instructions[possible] <=
		       most_instructions_per_ns * ((double)window->parts[possible].duration_ns +
						   2.0 * HP_WINDOW_SAMPLE_NS))
		possible++;
	if (possible < window->part_count)
		keep_parts(window, possible);
}

/* The time of a cut between parts, CLOCK_MONOTONIC. */
static uint64_t time_of(const struct window_maker *maker, const struct hp_window *window,
			size_t cut)
{
	if (cut == HP_REPLAY_START)
		return window->time_ns;
	if (maker->is_recorded)
		return maker->log.calls[cut].entered_ns;
	return cut < maker->sampler.count ? maker->sampler.samples[cut].time_ns
					  : maker->end.time_ns;
}

void window_take_counts(const struct window_maker *maker, const struct hp_engine_sample *samples,
			struct hp_replay *replay, struct hp_window *window)
{
	const struct shadow_calls *calls = &maker->calls;
	uint64_t from_ns;

	window->end = (uint8_t)replay->end;
	window->end_detail = replay->end_detail;
	if (replay->end == HP_WINDOW_SYSTEM_CALL)
		shadow_calls_describe_end(calls, replay->end_detail, window->end_call,
					  sizeof(window->end_call));
	/* Without samples, the time that the counts belong to is unknown. */
	if (!replay->block_count || !window_sample_count(maker))
		return;
	window->time_ns = time_of(maker, window, replay->cuts[0]);
	window->part_count = replay->part_count;
	from_ns = replay->cuts[0] == HP_REPLAY_START ? 0 : samples[replay->cuts[0]].time_ns;
	for (size_t i = 0; i < replay->part_count; i++) {
		uint64_t to_ns = samples[replay->cuts[i + 1]].time_ns;

		window->parts[i] = (struct hp_window_part){
			.end_ns = time_of(maker, window, replay->cuts[i + 1]),
			.duration_ns = to_ns - from_ns,
		};
		from_ns = to_ns;
	}
	window->instructions = replay->instructions;
	window->blocks = hp_steal(replay->blocks);
	window->block_count = replay->block_count;
	window->edges = hp_steal(replay->edges);
	window->edge_count = replay->edge_count;
	replay->block_count = replay->edge_count = 0;
	drop_vdso(calls->areas, window);
	window_drop_impossible(window);
}
