/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state that the steps of hp_sampler_open share. Each (thread, CPU) has the same slots, in
 * this order: the first stack size of all events, the second stack size of all events, and so on;
 * then the slot of deep samples; then the dummy's.
 */
#ifndef SAMPLE_OPENING_H
#define SAMPLE_OPENING_H

#include <hpcprof/sample/sampler.h>

#include <linux/perf_event.h>

struct event_id {
	uint64_t id;
	size_t slot;
};

struct opening {
	struct hp_sampler *sampler;
	const struct hp_sampler_options *options;
	const struct hp_machine *machine;
	struct hp_event *events; /* changed while they are opened: precise levels */
	int *cpus;
	size_t cpu_count;
	bool dummy;
};

/* Number of slots of events. */
static inline size_t sampler_event_slots(const struct hp_sampler *sampler)
{
	return sampler->events->count * sampler->stack_count;
}

static inline bool sampler_is_deep_slot(const struct hp_sampler *sampler, size_t slot)
{
	return sampler->has_deep && slot == sampler_event_slots(sampler);
}

int event_id_compare(const void *left, const void *right);

/* The size of a CPU's ring, unless the user chose one. For pieces of stack, larger ones are needed;
 * INFINITY: as large as rings may be. */
size_t opening_ring_pages(size_t cpus, double stack_bytes_per_s);

/* The attributes with which a slot is opened now. */
struct perf_event_attr opening_attr(const struct opening *opening, size_t slot);

#endif
