/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "windows.h"

#include "counted.h"

#include <hpcprof/base/number.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void windows_create(struct windows *windows, struct attributor *attributor, uint64_t recording)
{
	/* Each recording begins its groups at a random one, so that recordings of a few windows
	 * each fill all groups when they are added up. */
	struct hp_random random = hp_random_seeded(recording | 1);

	*windows = (struct windows){
		.attributor = attributor,
		.is_on = true,
		.recording = recording,
		.many_items = WINDOWS_MANY_ITEMS,
	};
	for (size_t i = 0; i < HP_ARRAY_COUNT(windows->next_group); i++)
		windows->next_group[i] =
			(unsigned)hp_random_between(&random, 0, HP_EVIDENCE_WINDOWS - 1);
	attributor->processes->keeps_past = true;
}

void windows_clear(struct windows *windows)
{
	for (size_t i = 0; i < windows->waiting.count; i++)
		hp_window_clear(&windows->waiting.at[i]);
	hp_vector_free(&windows->waiting);
	hp_vector_free(&windows->times);
	hp_vector_free(&windows->ticks);
	hp_window_evidence_clear(&windows->counted);
	*windows = (struct windows){ 0 };
}

void windows_add_time(struct windows *windows, uint32_t command, double units)
{
	if (!windows->is_on || !hp_vector_reserve(&windows->times, (size_t)command + 1))
		return;
	while (windows->times.count <= command)
		windows->times.at[windows->times.count++] = 0;
	windows->times.at[command] += units;
}

/* Without memory the tick is dropped: less is known of where windows were, but nothing wrong. */
void windows_add_tick(struct windows *windows, const struct window_tick *tick)
{
	if (!windows->is_on)
		return;
	if (windows->ticks.count < WINDOWS_MOST_TICKS) {
		(void)hp_vector_push(&windows->ticks, *tick);
		return;
	}
	windows->ticks.at[windows->next_tick] = *tick;
	windows->next_tick = (windows->next_tick + 1) % WINDOWS_MOST_TICKS;
}

/* --- one window ------------------------------------------------------------------------------- */

struct placing {
	struct windows *windows;
	struct context context;
	const struct mapping *hint;
	struct counted counted;
	struct counted ticks;
	struct counted events;
	unsigned group; /* group of the window's first part */
	bool is_relative;
	bool is_short_of_memory;
};

_Static_assert((int)HP_LANES <= (int)HP_EVIDENCE_GROUPS, "lanes are groups of an item");

/* False where nothing is known to have been mapped. */
static bool place(struct placing *placing, struct counted *counted, hp_runtime_address address,
		  uint32_t *number, hp_image_offset *offset)
{
	struct image *image;

	if (!attributor_place(placing->windows->attributor, &placing->context, address.value,
			      &placing->hint, &image, &offset->value))
		return false;
	return counted_image(counted, image, number);
}

static void add_item(struct placing *placing, struct counted *counted,
		     const struct hp_counted_place *place, const uint64_t counts[HP_WINDOW_PARTS])
{
	struct hp_window_item item = { .place = *place };

	memcpy(item.counts, counts, sizeof(item.counts));
	placing->is_short_of_memory |= !hp_vector_push(&counted->window, item);
}

static void place_block(struct placing *placing, const struct hp_window_block *block)
{
	struct hp_counted_place item = {
		.kind = HP_COUNTED_BLOCK,
		.is_relative = placing->is_relative,
		.bytes = block->size_bytes,
		.instructions = block->instructions,
	};

	if (!hp_window_count(block->counts))
		return;
	if (!block->instructions || block->instructions > block->size_bytes ||
	    !place(placing, &placing->counted, block->address, &item.image, &item.at))
		placing->counted.dropped++;
	else
		add_item(placing, &placing->counted, &item, block->counts);
}

static void place_edge(struct placing *placing, const struct hp_window_edge *edge)
{
	static const uint8_t kinds[HP_WINDOW_EDGE_KINDS] = {
		[HP_WINDOW_EDGE_FALL] = HP_COUNTED_FALL,
		[HP_WINDOW_EDGE_TAKEN] = HP_COUNTED_TAKEN,
		[HP_WINDOW_EDGE_JUMP] = HP_COUNTED_JUMP,
		[HP_WINDOW_EDGE_JUMP_INDIRECT] = HP_COUNTED_INDIRECT_JUMP,
		[HP_WINDOW_EDGE_CALL] = HP_COUNTED_CALL,
		[HP_WINDOW_EDGE_CALL_INDIRECT] = HP_COUNTED_INDIRECT_CALL,
		[HP_WINDOW_EDGE_RETURN] = HP_COUNTED_RETURN,
		[HP_WINDOW_EDGE_SYSTEM_CALL] = HP_COUNTED_SYSTEM_CALL,
	};
	struct hp_counted_place item = { .is_relative = placing->is_relative };

	if (!hp_window_count(edge->counts))
		return;
	if (edge->kind >= HP_WINDOW_EDGE_KINDS ||
	    !place(placing, &placing->counted, edge->from, &item.image, &item.at) ||
	    !place(placing, &placing->counted, edge->to, &item.to_image, &item.to)) {
		placing->counted.dropped++;
		return;
	}
	item.kind = kinds[edge->kind];
	add_item(placing, &placing->counted, &item, edge->counts);
}

/* --- what happened in what was simulated ------------------------------------------------------ */

static void place_event(struct placing *placing, hp_runtime_address address,
			struct hp_counted_place item, const uint64_t counts[HP_WINDOW_PARTS])
{
	if (!place(placing, &placing->events, address, &item.image, &item.at))
		return;
	if (item.kind != HP_COUNTED_BLOCK) {
		item.to_image = item.image;
		if (item.kind != HP_COUNTED_EVENT + HP_EVENT_STRIDE)
			item.to = item.at;
	}
	add_item(placing, &placing->events, &item, counts);
}

static void place_cycles(struct placing *placing, const struct hp_window_timed *timed)
{
	struct hp_counted item = { .kind = timed->resizes    ? HP_COUNTED_RESIZED_CYCLES
					   : timed->is_block ? HP_COUNTED_BLOCK_CYCLES
							     : HP_COUNTED_CYCLES };

	if (!place(placing, &placing->events, timed->address, &item.image, &item.at))
		return;
	item.to_image = item.image;
	item.to = timed->resizes ? (hp_image_offset){ timed->resizes } : item.at;
	memcpy(item.counts, timed->cycles, sizeof(timed->cycles));
	placing->is_short_of_memory |= !hp_vector_push(&placing->events.items, item);
}

static void place_events(struct placing *placing, const struct hp_window *window)
{
	for (size_t i = 0; i < window->simulated_count; i++) {
		const struct hp_window_block *block = &window->simulated[i];

		place_event(placing, block->address,
			    (struct hp_counted_place){ .kind = HP_COUNTED_BLOCK,
						       .bytes = block->size_bytes,
						       .instructions = block->instructions },
			    block->counts);
	}
	for (size_t i = 0; i < window->event_count; i++) {
		const struct hp_window_event *event = &window->events[i];
		place_event(placing, event->address,
			    (struct hp_counted_place){
				    .kind = (uint8_t)(HP_COUNTED_EVENT + event->kind),
				    .to = { (uint64_t)event->value },
			    },
			    event->counts);
	}
	for (size_t i = 0; i < window->timed_count; i++)
		place_cycles(placing, &window->timed[i]);
}

static struct hp_error *add_events(struct placing *placing, const struct hp_window *window)
{
	struct windows *windows = placing->windows;
	struct hp_window_stratum stratum = {
		.recording = windows->recording,
		.command = windows->attributor->processes->commands.text[placing->context.command],
	};

	for (size_t i = 0; i < HP_LATENCIES; i++)
		stratum.latencies[i] = window->latencies[i];
	stratum.latencies[HP_LATENCIES] = window->latencies[HP_LATENCY_L2] != 0;
	return counted_add_window(&placing->events, &stratum, &stratum.events, &stratum.event_count,
				  HP_WINDOW_LIST_EVENTS, placing->group, &windows->counted);
}

/* --- where its time went ---------------------------------------------------------------------- */

static void place_tick(struct placing *placing, const struct window_tick *tick, size_t part)
{
	struct hp_counted_place item = { .kind = HP_COUNTED_TICK,
					 .is_relative = placing->is_relative };
	uint64_t counts[HP_WINDOW_PARTS] = { 0 };

	if (!tick->count || !place(placing, &placing->ticks, (hp_runtime_address){ tick->address },
				   &item.image, &item.at))
		return;
	item.to_image = item.image;
	item.to = item.at;
	counts[part] = tick->count;
	add_item(placing, &placing->ticks, &item, counts);
}

static void place_ticks(struct placing *placing, const struct hp_window *window)
{
	const struct windows *windows = placing->windows;

	for (size_t i = 0; i < windows->ticks.count; i++) {
		const struct window_tick *tick = &windows->ticks.at[i];
		size_t part = 0;

		while (part < window->part_count && tick->time_ns > window->parts[part].end_ns)
			part++;
		if (tick->tid == (uint32_t)window->tid && tick->time_ns > window->time_ns &&
		    part < window->part_count)
			place_tick(placing, tick, part);
	}
}

static struct hp_error *add_ticks(struct placing *placing)
{
	struct windows *windows = placing->windows;
	struct hp_window_stratum stratum = {
		.recording = windows->recording,
		.command = windows->attributor->processes->commands.text[placing->context.command],
	};

	return counted_add_window(&placing->ticks, &stratum, &stratum.ticks, &stratum.tick_count,
				  HP_WINDOW_LIST_TICKS, placing->group, &windows->counted);
}

/* --- to sums ---------------------------------------------------------------------------------- */

static struct hp_error *add_up(struct placing *placing, const struct hp_window *window)
{
	struct windows *windows = placing->windows;
	const struct names *commands = &windows->attributor->processes->commands;
	struct hp_window_stratum stratum = {
		.recording = windows->recording,
		.command = commands->text[placing->context.command],
	};
	struct hp_window_group *groups =
		&(placing->is_relative ? stratum.relative : stratum.groups)[placing->group];

	groups->windows = 1;
	for (size_t i = 0; i < window->part_count; i++)
		groups[i].time_ns = window->parts[i].duration_ns;
	return counted_add_window(&placing->counted, &stratum, &stratum.items, &stratum.item_count,
				  HP_WINDOW_LIST_ITEMS, placing->group, &windows->counted);
}

static size_t items_waiting(const struct windows *windows)
{
	size_t count = 0;

	for (size_t i = 0; i < windows->counted.stratum_count; i++)
		count += windows->counted.strata[i].item_count;
	return count;
}

static void note(struct windows *windows, bool is_refusal, const char *what)
{
	hp_error_destroy(hp_window_evidence_add_reason(&windows->counted, is_refusal, what, 1));
}

/* A window that cannot be placed completely is dropped: its counts would be too low. */
static void place_window(struct windows *windows, const struct hp_window *window)
{
	struct placing placing = { .windows = windows, .is_relative = window->is_truncated };
	unsigned *next = &windows->next_group[placing.is_relative];
	struct hp_error *error = NULL;

	if (!processes_at(windows->attributor->processes, (uint32_t)window->pid, window->time_ns,
			  &placing.context)) {
		note(windows, true, "address space not known");
		return;
	}
	if (items_waiting(windows) > WINDOWS_OF_MANY * windows->many_items) {
		note(windows, true, "the epoch could not be written");
		space_release(placing.context.space);
		return;
	}
	placing.group = *next % HP_EVIDENCE_WINDOWS * HP_WINDOW_PARTS;
	placing.is_short_of_memory = !hp_vector_reserve(&placing.counted.window,
							window->block_count + window->edge_count);
	for (size_t i = 0; i < window->block_count; i++)
		place_block(&placing, &window->blocks[i]);
	for (size_t i = 0; i < window->edge_count; i++)
		place_edge(&placing, &window->edges[i]);
	place_ticks(&placing, window);
	place_events(&placing, window);
	if (!placing.is_short_of_memory)
		error = add_up(&placing, window);
	if (!error && !placing.is_short_of_memory)
		error = add_ticks(&placing);
	if (!error && !placing.is_short_of_memory)
		error = add_events(&placing, window);
	if (error || placing.is_short_of_memory)
		note(windows, true, "memory");
	else
		(*next)++;
	hp_error_destroy(error);
	counted_clear(&placing.counted);
	counted_clear(&placing.ticks);
	counted_clear(&placing.events);
	space_release(placing.context.space);
}

/* --- in and out ------------------------------------------------------------------------------- */

static void take_first(struct windows *windows)
{
	place_window(windows, &windows->waiting.at[0]);
	hp_window_clear(&windows->waiting.at[0]);
	windows->waiting.count--;
	memmove(windows->waiting.at, windows->waiting.at + 1,
		windows->waiting.count * sizeof(*windows->waiting.at));
}

static void note_end(struct windows *windows, const struct hp_window *window)
{
	char what[sizeof(window->end_call) + 40];

	snprintf(what, sizeof(what), "%s%s%s", hp_window_end_name(window->end),
		 *window->end_call ? " " : "", window->end_call);
	note(windows, false, what);
}

void windows_add(struct windows *windows, struct hp_window *window)
{
	note_end(windows, window);
	if (window->block_count && hp_window_duration_ns(window)) {
		/* No map change can be that late. */
		if (windows->waiting.count == WINDOWS_MOST_WAITING)
			take_first(windows);
		if (hp_vector_push(&windows->waiting, *window)) {
			*window = (struct hp_window){ 0 };
			return;
		}
		note(windows, true, "memory");
	}
	hp_window_clear(window);
}

void windows_place(struct windows *windows, uint64_t taken_ns)
{
	if (!windows->waiting.count)
		return;
	while (windows->waiting.count && windows->waiting.at[0].time_ns < taken_ns &&
	       hp_window_end_ns(&windows->waiting.at[0]) < taken_ns)
		take_first(windows);
	jit_forget(&windows->attributor->jit);
}

bool windows_are_full(const struct windows *windows)
{
	return items_waiting(windows) > windows->many_items;
}

/* The time of commands since the last flush, as strata without items. */
static struct hp_error *add_times(struct windows *windows, double unit_ns)
{
	const struct names *commands = &windows->attributor->processes->commands;
	struct hp_error *error = NULL;

	for (size_t i = 0; i < windows->times.count && !error; i++) {
		struct hp_window_stratum stratum = {
			.recording = windows->recording,
			.command = commands->text[i],
			.time_ns = (uint64_t)(windows->times.at[i] * unit_ns),
		};
		const struct hp_window_evidence time = { .strata = &stratum, .stratum_count = 1 };

		if (!stratum.time_ns)
			continue;
		error = hp_window_evidence_add(&windows->counted, &time);
		windows->times.at[i] -= (double)stratum.time_ns / unit_ns;
	}
	return error;
}

struct hp_error *windows_write(struct windows *windows, struct hp_epoch_writer *writer,
			       double unit_ns)
{
	struct hp_error *error = add_times(windows, unit_ns);

	if (!error)
		error = hp_epoch_writer_evidence(writer, &windows->counted);
	if (!error)
		hp_window_evidence_clear(&windows->counted);
	return error;
}
