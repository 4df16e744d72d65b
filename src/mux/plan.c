/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/mux/plan.h>

#include <inttypes.h>
#include <stddef.h>

uint32_t hp_mux_plan_first(const struct hp_mux_plan *plan, uint32_t group)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < group; i++)
		first += plan->groups[i].event_count;
	return first;
}

uint32_t hp_mux_plan_events(const struct hp_mux_plan *plan)
{
	return hp_mux_plan_first(plan, plan->group_count) + plan->always_count;
}

uint32_t hp_mux_plan_share(const struct hp_mux_plan *plan, uint32_t group)
{
	return plan->groups[group].share ? plan->groups[group].share : 1;
}

struct hp_error *hp_mux_plan_check(const struct hp_mux_plan *plan)
{
	uint64_t events = plan->always_count;

	if (plan->group_count == 0 || plan->group_count > HP_MUX_MAX_GROUPS)
		return hp_error_create(HP_ERROR_USAGE, "%" PRIu32 " groups of events, not 1 to %d",
				       plan->group_count, HP_MUX_MAX_GROUPS);
	for (uint32_t i = 0; i < plan->group_count; i++) {
		events += plan->groups[i].event_count;
		if (plan->groups[i].share > HP_MUX_MAX_SHARE)
			return hp_error_create(HP_ERROR_USAGE,
					       "a share of %" PRIu32 ", more than %d",
					       plan->groups[i].share, HP_MUX_MAX_SHARE);
	}
	if (events == 0 || events > HP_MUX_MAX_EVENTS)
		return hp_error_create(HP_ERROR_USAGE, "%" PRIu64 " events to count, not 1 to %d",
				       events, HP_MUX_MAX_EVENTS);
	return NULL;
}

bool hp_mux_slice_is_sound(const struct hp_mux_plan *plan, const struct hp_mux_slice *slice,
			   uint64_t after_ns)
{
	return slice->group < plan->group_count && slice->begin_ns >= after_ns &&
	       slice->end_ns >= slice->begin_ns && slice->running_ns <= slice->enabled_ns;
}

struct hp_error *hp_mux_slice_check(const struct hp_mux_plan *plan,
				    const struct hp_mux_slice *slice, uint64_t after_ns)
{
	if (slice->group >= plan->group_count)
		return hp_error_create(HP_ERROR_USAGE,
				       "a slice of group %" PRIu32 ", of %" PRIu32 " groups",
				       slice->group, plan->group_count);
	if (slice->begin_ns < after_ns || slice->end_ns < slice->begin_ns)
		return hp_error_create(HP_ERROR_USAGE, "a slice that ends before it begins, or "
						       "begins before the last one ended");
	if (slice->running_ns > slice->enabled_ns)
		return hp_error_create(HP_ERROR_USAGE,
				       "a slice that counted for %" PRIu64 " ns of %" PRIu64,
				       slice->running_ns, slice->enabled_ns);
	return NULL;
}
