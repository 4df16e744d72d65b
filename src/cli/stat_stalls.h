/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hpcprof stat --stalls: the events that a stack needs on this core, the stacks made from their
 * counts, and their output.
 */
#ifndef HPCPROF_CLI_STAT_STALLS_H
#define HPCPROF_CLI_STAT_STALLS_H

#include "stat.h"

#include <hpcprof/stack/stack.h>

#include <jansson.h>

enum stat_mode { STAT_ANY_MODE, STAT_USER_MODE, STAT_KERNEL_MODE };

struct stat_stalls {
	const struct hp_stack_table *table;
	enum hp_stack_accounting accounting; /* beside HP_STACK_INTERVAL */
	uint32_t *numbers; /* per event of the table: its number in the list; owned */
};
/* Returns the error for a machine without counters, in one line that names alternatives:
 * NOT_PERMITTED. */
struct hp_error *stat_stalls_refusal(const struct hp_machine *machine);
void stat_stalls_clear(struct stat_stalls *stalls);

/* Adds the events of the machine's core to the list; stat_stalls_refusal if there are no
 * counters. */
struct hp_error *stat_stalls_events(struct stat_stalls *stalls, const struct hp_machine *machine,
				    enum stat_mode mode, struct hp_event_list *events);
/* The same for the counts of a text, from a core of this name (NULL: unknown); does not look at the
 * machine. */
struct hp_error *stat_stalls_replayed(struct stat_stalls *stalls, const char *core,
				      struct hp_event_list *events);
/* Adds an event that a text has counts of. */
struct hp_error *stat_add_replayed(struct hp_event_list *events, const char *name, uint64_t config,
				   int group);
/* Whether the accounting that is shown needs the event. */
bool stat_stalls_needs(const struct stat_stalls *stalls, size_t event);

struct hp_error *stat_stalls_stack(const struct stat_stalls *stalls,
				   const struct hp_mux_estimates *estimates,
				   struct hp_stack *stack);

/* Prints a bar per component, and what the components mean. */
void stat_stalls_text(FILE *stream, const struct stat_stalls *stalls, const struct hp_stack *stack);
/* Prints one line for the interval that ends at `end_s`. */
void stat_stalls_line(FILE *stream, double end_s, const struct hp_stack *stack);
/* Adds `cpi`, `stack` and `stalls`; false when memory is short. */
bool stat_stalls_json(json_t *object, const struct stat_stalls *stalls,
		      const struct hp_stack *stack);

#endif
