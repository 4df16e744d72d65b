/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording of more events than counters: groups of sampled events take turns (Anderson et al.
 * 1997, section 4.1: DCPI's mux), by the schedulers of src/mux, slice by slice.
 *
 * Single samples are not scaled. The epoch stores for how long each event was sampled and for how
 * long the target ran meanwhile; the ratio scales all samples of the event.
 */
#ifndef HPCPROF_SAMPLE_TURNS_H
#define HPCPROF_SAMPLE_TURNS_H

#include <hpcprof/mux/scheduler.h>
#include <hpcprof/pmu/groups.h>
#include <hpcprof/sample/sampler.h>

struct hp_turn_rotation_set;

struct hp_turns {
	struct hp_sampler *sampler;
	const struct hp_rotation_sets *rotation_sets; /* borrowed */
	struct hp_turn_rotation_set *at;	      /* those of more than one group */
	size_t count;
	/* of each event: groups of all rotation sets numbered through; HP_NO_TURN */
	uint32_t *group_of;
	bool *on; /* per event: whether it is on now */
	size_t event_count;
	uint64_t slice_ns; /* asked for; 0: as short as rotating costs allow */
	double cost_ns;	   /* recent cost of a rotation */
	uint64_t turn_ns;  /* when the running slice ends */
};

#define HP_NO_TURN UINT32_MAX

/* `rotation sets` NULL: everything at once, and nothing ever turns. */
struct hp_error *hp_turns_create(struct hp_turns *turns,
				 const struct hp_rotation_sets *rotation_sets, size_t event_count,
				 enum hp_mux_policy policy, uint64_t slice_ns);
void hp_turns_clear(struct hp_turns *turns);

/* Begins the first turns; call it when the events are open. */
void hp_turns_begin(struct hp_turns *turns, struct hp_sampler *sampler, uint64_t now_ns);
/* Switches each rotation set to its next group when its slice has ended. */
void hp_turns_go(struct hp_turns *turns, uint64_t now_ns);

/* For how long an event would have counted without rotation: the time of all groups of its rotation
 * set. False if the event does not take turns. */
bool hp_turns_enabled_ns(const struct hp_turns *turns, size_t event, uint64_t *enabled_ns);

#endif
