/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record_stalls.h"

#include "events_stalls.h"
#include "stat_stalls.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/sample/rate.h>

#include <string.h>

static const struct hp_event *find_unit(const struct hp_event_list *events, enum hp_unit unit)
{
	for (size_t i = 0; i < events->count; i++)
		if (events->events[i].unit == unit)
			return &events->events[i];
	return NULL;
}

/* Returns the mode of the event as a modifier: "u", "k", or "". */
static const char *mode_of(const struct hp_event *cycles)
{
	return cycles && cycles->exclude_kernel ? "u" : cycles && cycles->exclude_user ? "k" : "";
}

static struct hp_error *add(const struct hp_machine *machine, const char *encoding,
			    const char *mode, struct hp_event_list *events)
{
	_cleanup_free_ char *text = NULL;

	if (asprintf(&text, "%s%s%s", encoding, *mode ? ":" : "", mode) < 0)
		return hp_error_create_no_memory();
	return hp_event_parse(text, machine, events);
}

/* Samples by frequency: one period would suit only some of the events, as stalls are frequent and
 * misses may be rare. */
static struct hp_error *add_stall_event(const struct hp_machine *machine,
					const struct hp_stack_event *stall, const char *mode,
					double frequency_hz, struct hp_event_list *events)
{
	size_t first = events->count;
	struct hp_error *error = add(machine, stall->encoding, mode, events);

	for (size_t i = first; !error && i < events->count; i++) {
		struct hp_event *event = &events->events[i];
		char *name;

		if (asprintf(&name, HP_STALLS_PREFIX "%s/%s", stall->name, mode_of(event)) < 0)
			return hp_error_create_no_memory();
		free(event->name);
		event->name = name;
		event->frequency_hz = frequency_hz;
		event->set = HP_STALLS_SET;
	}
	return error;
}

struct hp_error *record_stalls_add(const struct hp_machine *machine, double frequency_hz,
				   struct hp_event_list *events)
{
	const struct hp_stack_table *table = hp_stack_table_sampled(&machine->cpu);
	const struct stat_stalls stalls = { .table = table, .accounting = HP_STACK_INTERVAL };
	struct hp_error *error = NULL;
	const char *mode;

	if (!machine->has_cycles)
		return stat_stalls_refusal(machine);
	if (!(frequency_hz > 0))
		frequency_hz = HP_DEFAULT_FREQUENCY_HZ;
	if (!find_unit(events, HP_UNIT_CYCLES))
		error = add(machine, "cycles", "", events);
	mode = mode_of(find_unit(events, HP_UNIT_CYCLES));
	if (!error && !find_unit(events, HP_UNIT_INSTRUCTIONS))
		error = add(machine, "instructions", mode, events);
	/* The first two are cycles and instructions. */
	for (size_t i = 2; !error && i < table->event_count; i++)
		if (stat_stalls_needs(&stalls, i))
			error = add_stall_event(machine, &table->events[i], mode, frequency_hz,
						events);
	return error;
}
