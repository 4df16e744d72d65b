/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scheduler.h"

#include <stdlib.h>
#include <string.h>

static const struct scheduler_kind *const kinds[HP_MUX_POLICY_COUNT] = {
	[HP_MUX_RR] = &hp_mux_rr,
	[HP_MUX_RR_RANDOM] = &hp_mux_rr_random,
	[HP_MUX_ROC] = &hp_mux_roc,
	[HP_MUX_ADAPTIVE] = &hp_mux_adaptive,
};

const char *hp_mux_policy_name(enum hp_mux_policy policy)
{
	return kinds[policy]->name;
}

bool hp_mux_policy_follows_rates(enum hp_mux_policy policy)
{
	return policy == HP_MUX_ROC;
}

bool hp_mux_policy_parse(const char *name, enum hp_mux_policy *policy)
{
	for (int i = 0; i < HP_MUX_POLICY_COUNT; i++) {
		if (strcmp(name, kinds[i]->name) == 0) {
			*policy = (enum hp_mux_policy)i;
			return true;
		}
	}
	return false;
}

struct hp_error *hp_mux_scheduler_create(const struct hp_mux_plan *plan,
					 const struct hp_mux_scheduler_options *options,
					 struct hp_mux_scheduler **created)
{
	_cleanup_(hp_mux_scheduler_destroy_scope) struct hp_mux_scheduler *scheduler = NULL;
	struct hp_error *error = hp_mux_plan_check(plan);

	if (error)
		return error;
	scheduler = calloc(1, sizeof(*scheduler));
	if (!scheduler)
		return hp_error_create_no_memory();
	scheduler->groups = calloc(plan->group_count, sizeof(*scheduler->groups));
	if (!scheduler->groups)
		return hp_error_create_no_memory();
	memcpy(scheduler->groups, plan->groups, plan->group_count * sizeof(*scheduler->groups));
	scheduler->plan = *plan;
	scheduler->plan.groups = scheduler->groups;
	for (uint32_t i = 0; i < plan->group_count; i++)
		scheduler->round += hp_mux_plan_share(plan, i);
	scheduler->random = hp_random_seeded(options->seed);
	scheduler->kind = kinds[options->policy];
	if (!scheduler->kind->create(scheduler))
		return hp_error_create_no_memory();
	*created = hp_steal(scheduler);
	return NULL;
}

void hp_mux_scheduler_destroy(struct hp_mux_scheduler *scheduler)
{
	if (scheduler->kind)
		scheduler->kind->destroy(scheduler);
	free(scheduler->groups);
	free(scheduler);
}

uint32_t hp_mux_scheduler_next(struct hp_mux_scheduler *scheduler)
{
	return scheduler->kind->next(scheduler);
}

void hp_mux_scheduler_observe(struct hp_mux_scheduler *scheduler, const struct hp_mux_slice *slice)
{
	if (!hp_mux_slice_is_sound(&scheduler->plan, slice, scheduler->now_ns))
		return;
	if (scheduler->kind->observe)
		scheduler->kind->observe(scheduler, slice);
	scheduler->now_ns = slice->end_ns;
}
