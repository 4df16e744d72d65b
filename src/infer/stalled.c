/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/infer/stalled.h>

#include <hpcprof/mux/metric.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Index of the table's first two events. */
enum { CYCLES, INSTRUCTIONS };

/* --- which events ------------------------------------------------------------------------------ */

static size_t find_unit(const struct hp_profiles *profiles, enum hp_unit unit)
{
	size_t i = 0;

	while (i < profiles->events.count && profiles->events.at[i].info->unit != unit)
		i++;
	return i;
}

static bool same_modes(const struct hp_event_info *a, const struct hp_event_info *b)
{
	struct hp_event_modes one = hp_event_modes(a->name), other = hp_event_modes(b->name);

	return one.has_user == other.has_user && one.has_kernel == other.has_kernel;
}

/* Whether samples of the event tell how often it happened. An event that never happened in the
 * whole program, although it must have, does not count. */
static bool is_alive(const struct hp_loaded_event *event, const struct hp_stack_event *of)
{
	if (event->enabled_ns && !event->running_ns)
		return false;
	return event->all.samples || of->is_rare;
}

/* Events that some epochs lack are not comparable with those that all have. */
static bool is_in_all(const struct hp_profiles *profiles, const char *name)
{
	for (size_t i = 0; i < profiles->epochs.count; i++) {
		const struct hp_epoch_meta *meta = profiles->epochs.at[i].meta;
		size_t j = 0;

		while (j < meta->event_count && strcmp(meta->events[j].info.name, name) != 0)
			j++;
		if (j == meta->event_count)
			return false;
	}
	return true;
}

static uint32_t find_event(const struct hp_profiles *profiles, const struct hp_stack_table *table,
			   size_t number)
{
	size_t cycles = find_unit(profiles, HP_UNIT_CYCLES), at = 0;

	if (cycles == profiles->events.count)
		return HP_MUX_NO_EVENT;
	if (number == CYCLES)
		at = cycles;
	else if (number == INSTRUCTIONS)
		at = find_unit(profiles, HP_UNIT_INSTRUCTIONS);
	else
		while (at < profiles->events.count &&
		       !hp_event_is_stall_event(profiles->events.at[at].info->name,
						table->events[number].name))
			at++;
	if (at == profiles->events.count ||
	    !is_in_all(profiles, profiles->events.at[at].info->name) ||
	    !same_modes(profiles->events.at[at].info, profiles->events.at[cycles].info) ||
	    !is_alive(&profiles->events.at[at], &table->events[number]))
		return HP_MUX_NO_EVENT;
	return (uint32_t)at;
}

bool hp_stalled_exists(const struct hp_profiles *profiles)
{
	for (size_t i = 0; i < profiles->events.count; i++)
		if (hp_event_is_of_stalls(profiles->events.at[i].info->name))
			return true;
	return false;
}

bool hp_stalled_has_cpi(const struct hp_profiles *profiles)
{
	return find_unit(profiles, HP_UNIT_CYCLES) < profiles->events.count &&
	       find_unit(profiles, HP_UNIT_INSTRUCTIONS) < profiles->events.count;
}

struct hp_error *hp_stalled_create(const struct hp_profiles *profiles, struct hp_stalled **created)
{
	_cleanup_(hp_stalled_destroy_scope) struct hp_stalled *stalled =
		calloc(1, sizeof(*stalled));

	if (!stalled)
		return hp_error_create_no_memory();
	stalled->profiles = profiles;
	stalled->table = hp_stack_table_sampled(hp_profiles_cpu(profiles));
	stalled->events = calloc(stalled->table->event_count, sizeof(*stalled->events));
	if (!stalled->events)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < stalled->table->event_count; i++)
		stalled->events[i] = find_event(profiles, stalled->table, i);
	*created = hp_steal(stalled);
	return NULL;
}

void hp_stalled_destroy(struct hp_stalled *stalled)
{
	free(stalled->events);
	free(stalled);
}

/* --- stacks ------------------------------------------------------------------------------------ */

/* Events per sample at this place or, if it has none, on average. */
static double weight_of_one(const struct hp_loaded_event *event, const struct hp_tally *tally)
{
	const struct hp_tally *of = tally->samples ? tally : &event->all;

	return of->samples ? of->weight / (double)of->samples : 0;
}

static struct hp_mux_estimate estimate_of(const struct hp_tally *tally, double variance)
{
	double half = hp_mux_quantile(INFINITY) * sqrt(variance);

	return (struct hp_mux_estimate){
		.count = tally->weight,
		.low = fmax(tally->weight - half, 0),
		.high = tally->weight + half,
		.freedom = INFINITY,
		.verdict = variance > 0 ? HP_MUX_ESTIMATED : HP_MUX_EXACT,
	};
}

struct hp_error *hp_stalled_stack(const struct hp_stalled *stalled, const struct hp_tally *tallies,
				  struct hp_stack *stack)
{
	size_t count = stalled->table->event_count;
	_cleanup_free_ struct hp_mux_estimate *events = calloc(count, sizeof(*events));
	_cleanup_free_ double *covariance = calloc(count * count, sizeof(*covariance));
	_cleanup_free_ uint32_t *groups = calloc(count, sizeof(*groups));
	_cleanup_free_ uint32_t *numbers = calloc(count, sizeof(*numbers));
	struct hp_mux_estimates estimates = { count, events, covariance, groups, 1, 0, 0 };

	if (!events || !covariance || !groups || !numbers)
		return hp_error_create_no_memory();
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = stalled->events[i];
		double one, variance;

		numbers[i] = at == HP_MUX_NO_EVENT ? HP_MUX_NO_EVENT : i;
		if (at == HP_MUX_NO_EVENT)
			continue;
		one = weight_of_one(&stalled->profiles->events.at[at], &tallies[at]);
		variance = one * one * ((double)tallies[at].samples + 1);
		events[i] = estimate_of(&tallies[at], variance);
		covariance[i * count + i] = variance;
	}
	return hp_stack_create(stalled->table, &estimates, numbers, stack);
}

/* --- limits ------------------------------------------------------------------------------------ */

static double most_of(const struct hp_stack *stack, enum hp_stack_component component)
{
	const struct hp_stack_part *part = &stack->parts[component];

	return part->is_known ? part->high / stack->cpi * stack->cycles : INFINITY;
}

/* Loads that miss, whichever level serves them; levels that are part of the data cache are included
 * in it. */
static double most_of_misses(const struct hp_stack *stack)
{
	static const enum hp_stack_component levels[] = { HP_STACK_L2, HP_STACK_L3, HP_STACK_MEMORY,
							  HP_STACK_DCACHE };
	double sum = 0;
	bool any = false;

	for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++) {
		const struct hp_stack_part *part = &stack->parts[levels[i]];

		if (!part->is_known || part->within == HP_STACK_DCACHE)
			continue;
		sum += most_of(stack, levels[i]);
		any = true;
	}
	return any ? sum : INFINITY;
}

void hp_stalled_limits(const struct hp_stack *stack, double limits[HP_CAUSE_DYNAMIC_COUNT])
{
	static const struct {
		enum hp_cause_kind cause;
		enum hp_stack_component component;
	} same[] = {
		{ HP_CAUSE_ICACHE, HP_STACK_ICACHE },	      { HP_CAUSE_ITLB, HP_STACK_ITLB },
		{ HP_CAUSE_MISPREDICT, HP_STACK_MISPREDICT }, { HP_CAUSE_DTLB, HP_STACK_DTLB },
		{ HP_CAUSE_STORE_BUFFER, HP_STACK_STORE },    { HP_CAUSE_DIVIDER, HP_STACK_LONG },
		{ HP_CAUSE_FETCH, HP_STACK_FETCH },
	};

	for (unsigned i = 0; i < HP_CAUSE_DYNAMIC_COUNT; i++)
		limits[i] = INFINITY;
	if (!(stack->cpi > 0))
		return;
	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++)
		limits[same[i].cause] = most_of(stack, same[i].component);
	limits[HP_CAUSE_DCACHE] = most_of_misses(stack);
}
