/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "events_stalls.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/pmu/open.h>
#include <hpcprof/stack/table.h>

#include <stdio.h>
#include <string.h>

/* Returns whether the event opens for this process. */
static bool is_here(const char *encoding, const struct hp_machine *machine)
{
	struct hp_event_list events = { 0 };
	struct hp_error *error = hp_event_parse(encoding, machine, &events);
	bool here = false;

	if (!error && events.count) {
		struct perf_event_attr attr = { 0 };
		int fd;

		hp_event_to_attr(&events.events[0], &attr);
		fd = hp_perf_event_open(&attr, 0, -1, -1);
		here = fd >= 0;
		hp_cleanup_close(&fd);
	}
	hp_error_destroy(error);
	hp_event_list_clear(&events);
	return here;
}

/* "r00c1: base, branch-mispredict" */
static char *describe(const struct hp_stack_table *table, size_t event)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	const char *separator = ": ";

	if (!stream)
		return NULL;
	fputs(table->events[event].encoding, stream);
	for (size_t i = 0; i < table->row_count; i++) {
		const struct hp_stack_row *row = &table->rows[i];

		if (!hp_stack_formula_needs(table, row->formulas[HP_STACK_INTERVAL], event) &&
		    !hp_stack_formula_needs(table, row->formulas[HP_STACK_MULTI_STAGE], event))
			continue;
		fprintf(stream, "%s%s", separator, hp_stack_component_name(row->component));
		separator = ", ";
	}
	return fclose(stream) == 0 ? text : NULL;
}

struct hp_error *hp_stalls_enumerate(const struct hp_machine *machine,
				     bool (*each)(const struct hp_event_entry *entry,
						  void *context),
				     void *context)
{
	const struct hp_stack_table *table = hp_stack_table_of(&machine->cpu);
	_cleanup_free_ char *kind = NULL;

	if (asprintf(&kind, "%s of %s", HP_STALLS_SET, table->title) < 0)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < table->event_count; i++) {
		_cleanup_free_ char *description = describe(table, i);
		struct hp_event_entry entry = {
			.name = table->events[i].name,
			.kind = kind,
			.description = description,
			.here = is_here(table->events[i].encoding, machine),
		};

		if (!description)
			return hp_error_create_no_memory();
		if (!each(&entry, context))
			break;
	}
	return NULL;
}
