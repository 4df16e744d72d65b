/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A text of counts (count/replay_file.c) that somebody else wrote, replayed: groups, estimates, and
 * the stack that they make of it. What a stack claims of itself is checked.
 */
#include "fuzz.h"

#include <hpcprof/count/replay.h>
#include <hpcprof/stack/stack.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct hp_stack_table *table;
static uint32_t numbers[64];

static void check(const struct hp_counting_report *report, void *context)
{
	struct hp_stack stack;
	double sum = 0;

	(void)context;
	if (hp_stack_create(table, report->estimates, numbers, &stack) || isnan(stack.cpi))
		return;
	for (unsigned i = 0; i < HP_STACK_COMPONENTS; i++) {
		const struct hp_stack_part *part = &stack.parts[i];
		double likely = part->values[HP_STACK_INTERVAL];

		if (!part->is_known)
			continue;
		if (!(part->low <= part->high))
			abort();
		if (part->within == HP_STACK_OTHER && !isnan(likely))
			sum += likely;
	}
	if (!(fabs(sum - stack.cpi) <= 1e-6 * (stack.cpi + fabs(stack.excess) + 1)))
		abort();
}

/* The events of the stack, as far as the text has them. */
static void run(struct hp_replay *replay)
{
	struct hp_event events[64] = { 0 };
	size_t names[64];
	struct hp_event_list list = { events, 0 };
	struct hp_rotation_sets sets = { 0 };
	struct hp_machine machine = { .root = (char[]){ "/proc/nonexistent" } };
	struct hp_grouping_options grouping = { .counters = (uint32_t)(replay->slice_count % 3) };
	struct hp_counting_options options = {
		.events = &list,
		.rotation_sets = &sets,
		.policy = HP_MUX_ADAPTIVE,
		.method = HP_MUX_BEST,
		.interval_ns = 10,
		.report = check,
	};
	struct hp_error *error;

	table = hp_stack_table_named(replay->core ? replay->core : "zen-4");
	for (size_t i = 0; table && i < table->event_count; i++) {
		const struct hp_stack_event *event = &table->events[i];

		numbers[i] = (uint32_t)i;
		names[i] = hp_replay_find(replay, event->name);
		events[i] = (struct hp_event){ .name = (char *)(uintptr_t)event->name,
					       .type = PERF_TYPE_RAW,
					       .config = i,
					       .unit = i ? HP_UNIT_EVENTS : HP_UNIT_CYCLES,
					       .group = event->group ? (int)event->group : -1 };
		list.count++;
	}
	if (!table)
		return;
	error = hp_replay_group(replay, names, &list, &machine, &grouping, &sets);
	if (!error && sets.count)
		error = hp_replay_run(replay, names, &options);
	hp_error_destroy(error);
	for (size_t i = 0; i < list.count; i++)
		free(events[i].absent);
	hp_rotation_sets_clear(&sets);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct hp_replay *replay = NULL;
	int fd = memfd_create("counts", MFD_CLOEXEC);
	struct hp_error *error;
	char path[32];

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	error = hp_replay_create(path, &replay);
	close(fd);
	if (!error && replay->slice_count < 1000)
		run(replay);
	hp_error_destroy(error);
	hp_replay_destroy(replay);
	return 0;
}
