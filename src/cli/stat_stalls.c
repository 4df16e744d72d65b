/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stat_stalls.h"

#include <hpcprof/base/buffer.h>
#include <hpcprof/base/vector.h>
#include <hpcprof/pmu/machine.h>

#include <string.h>

void stat_stalls_clear(struct stat_stalls *stalls)
{
	free(stalls->numbers);
	stalls->numbers = NULL;
}

/* --- which events ----------------------------------------------------------------------------- */

/* The events of the stack and of its ranges, and those of the other accounting if that is shown. */
bool stat_stalls_needs(const struct stat_stalls *stalls, size_t event)
{
	const struct hp_stack_table *table = stalls->table;

	for (size_t i = 0; i < table->row_count; i++) {
		const char *const *formulas = table->rows[i].formulas;

		if (hp_stack_formula_needs(table, formulas[HP_STACK_INTERVAL], event) ||
		    hp_stack_formula_needs(table, formulas[HP_STACK_MULTI_STAGE], event) ||
		    hp_stack_formula_needs(table, formulas[stalls->accounting], event))
			return true;
	}
	return false;
}

static struct hp_error *make_numbers(struct stat_stalls *stalls)
{
	stalls->numbers = calloc(stalls->table->event_count, sizeof(*stalls->numbers));
	if (!stalls->numbers)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < stalls->table->event_count; i++)
		stalls->numbers[i] = HP_MUX_NO_EVENT;
	return NULL;
}

/* Replaces the encoding by the public name; modifiers stay. */
static struct hp_error *rename_event(struct hp_event *event, const char *name)
{
	const char *modifiers = strrchr(event->name, ':');
	char *renamed;

	if (asprintf(&renamed, "%s%s", name, modifiers ? modifiers : "") < 0)
		return hp_error_create_no_memory();
	free(event->name);
	event->name = renamed;
	return NULL;
}

/* Adds some of the table's events, which are counted at the same time if possible. */
static struct hp_error *add_group(struct stat_stalls *stalls, const struct hp_machine *machine,
				  const char *modifiers, const size_t *members, size_t count,
				  struct hp_event_list *events)
{
	const struct hp_stack_event *table = stalls->table->events;
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	size_t before = events->count;
	FILE *stream = open_memstream(&text, &size);
	struct hp_error *error;

	if (!stream)
		return hp_error_create_no_memory();
	fputs(count > 1 ? "{" : "", stream);
	for (size_t i = 0; i < count; i++)
		fprintf(stream, "%s%s", i ? "," : "", table[members[i]].encoding);
	fprintf(stream, "%s%s", count > 1 ? "}" : "", modifiers);
	if (fclose(stream) != 0)
		return hp_error_create_no_memory();
	error = hp_event_parse(text, machine, events);
	if (!error && events->count - before != count)
		error = hp_error_create(
			HP_ERROR_NOT_PERMITTED,
			"this machine has cores of several kinds, and a stack describes "
			"only one: count events with -e");
	for (size_t i = 0; !error && i < count; i++) {
		stalls->numbers[members[i]] = (uint32_t)(before + i);
		if (members[i] > 1)
			error = rename_event(&events->events[before + i], table[members[i]].name);
	}
	return error;
}

struct hp_error *stat_stalls_refusal(const struct hp_machine *machine)
{
	const char *advice;

	return hp_error_create(
		HP_ERROR_NOT_PERMITTED,
		"%s, so there is no stack of stalls to count: hpcprof record --shadow "
		"and then hpcprof report --stack make one without counters",
		hp_event_why_no_cycles(machine, &advice));
}

struct hp_error *stat_stalls_events(struct stat_stalls *stalls, const struct hp_machine *machine,
				    enum stat_mode mode, struct hp_event_list *events)
{
	static const char *const modifiers[] = { "", ":u", ":k" };
	const struct hp_stack_table *table = hp_stack_table_of(&machine->cpu);
	_cleanup_free_ size_t *members = calloc(table->event_count, sizeof(*members));
	struct hp_error *error;

	stalls->table = table;
	if (!members)
		return hp_error_create_no_memory();
	if (!machine->has_cycles)
		return stat_stalls_refusal(machine);
	error = make_numbers(stalls);
	for (size_t i = 0; !error && i < table->event_count; i++) {
		size_t count = 0;

		if (stalls->numbers[i] != HP_MUX_NO_EVENT ||
		    (i > 1 && !stat_stalls_needs(stalls, i)))
			continue;
		members[count++] = i;
		for (size_t j = i + 1; table->events[i].group && j < table->event_count; j++)
			if (table->events[j].group == table->events[i].group &&
			    stat_stalls_needs(stalls, j))
				members[count++] = j;
		error = add_group(stalls, machine, modifiers[mode], members, count, events);
	}
	return error;
}

/* --- of a text -------------------------------------------------------------------------------- */

struct hp_error *stat_add_replayed(struct hp_event_list *events, const char *name, uint64_t config,
				   int group)
{
	struct hp_event event = { .type = PERF_TYPE_RAW, .config = config, .group = group };
	struct hp_event *longer;

	if (strcmp(name, "cycles") == 0 || strcmp(name, "instructions") == 0) {
		event.type = PERF_TYPE_HARDWARE;
		event.unit = *name == 'c' ? HP_UNIT_CYCLES : HP_UNIT_INSTRUCTIONS;
		event.config = *name == 'c' ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_HW_INSTRUCTIONS;
	}
	event.exclude_hypervisor = true;
	longer = reallocarray(events->events, events->count + 1, sizeof(*longer));
	if (!longer)
		return hp_error_create_no_memory();
	events->events = longer;
	longer[events->count] = event;
	longer[events->count].name = strdup(name);
	if (!longer[events->count].name)
		return hp_error_create_no_memory();
	events->count++;
	return NULL;
}

/* POWER's formulas do not fit (src/stack/tables.h). */
static struct hp_error *no_table(const char *core)
{
	_cleanup_(hp_buffer_free) struct hp_buffer names = { 0 };
	const struct hp_stack_table *table;

	for (size_t i = 0; (table = hp_stack_table_at(i)); i++)
		hp_buffer_printf(&names, "%s%s", i ? ", " : "", table->name);
	return hp_error_advise(hp_error_create(HP_ERROR_DAMAGED,
					       "there is no table of stall events of the core '%s'",
					       core),
			       "there are tables of: %s", hp_buffer_text(&names));
}

struct hp_error *stat_stalls_replayed(struct stat_stalls *stalls, const char *core,
				      struct hp_event_list *events)
{
	const struct hp_stack_table *table = hp_stack_table_named(core ? core : "generic");
	struct hp_error *error;

	if (!table)
		return no_table(core);
	stalls->table = table;
	error = make_numbers(stalls);
	for (size_t i = 0; !error && i < table->event_count; i++) {
		unsigned group = table->events[i].group;

		if (i > 1 && !stat_stalls_needs(stalls, i))
			continue;
		stalls->numbers[i] = (uint32_t)events->count;
		error = stat_add_replayed(events,
					  i > 1 ? table->events[i].name : table->events[i].symbol,
					  i, group ? (int)group : -1);
	}
	return error;
}

/* --- the stack -------------------------------------------------------------------------------- */

struct hp_error *stat_stalls_stack(const struct stat_stalls *stalls,
				   const struct hp_mux_estimates *estimates, struct hp_stack *stack)
{
	return hp_stack_create(stalls->table, estimates, stalls->numbers, stack);
}
