/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opening.h"
#include "tuning.h"

#include <hpcprof/base/thread.h>

#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

int event_id_compare(const void *left, const void *right)
{
	const struct event_id *a = left;
	const struct event_id *b = right;

	return (a->id > b->id) - (a->id < b->id);
}

int hp_sampler_cpu(const struct hp_sampler *sampler)
{
	return sampler->cpus[hp_ring_set_current(&sampler->rings)];
}

static const struct event_id *find_id(const struct hp_sampler *sampler,
				      const struct hp_record *record)
{
	struct event_id wanted = { .id = record->id };

	if (!sampler->id_count)
		return NULL;
	return bsearch(&wanted, sampler->ids, sampler->id_count, sizeof(wanted), event_id_compare);
}

bool hp_sampler_is_deep(const struct hp_sampler *sampler, const struct hp_record *record)
{
	const struct event_id *found = sampler->has_deep ? find_id(sampler, record) : NULL;

	return found && sampler_is_deep_slot(sampler, found->slot);
}

size_t hp_sampler_event_of(const struct hp_sampler *sampler, const struct hp_record *record)
{
	const struct event_id *found = find_id(sampler, record);

	/* The dummy event has no samples, but may lose records, which count for the first event. */
	return found && found->slot < sampler_event_slots(sampler)
		       ? found->slot % sampler->events->count
		       : 0;
}

/* A part of the descriptors, closed by one thread. */
struct closing {
	const int *fds;
	size_t count;
	pthread_t thread;
	bool is_apart;
};

static void *close_part(void *context)
{
	const struct closing *closing = context;

	for (size_t i = 0; i < closing->count; i++) {
		if (closing->fds[i] >= 0)
			close(closing->fds[i]);
	}
	return NULL;
}

/* Uses several threads if there are many descriptors. The caller closes the last part. */
static void close_all(const struct hp_sampler *sampler)
{
	struct closing parts[CLOSERS];
	size_t count = sampler->fd_count / CLOSER_LEAST + 1;
	size_t begin = 0;

	if (count > CLOSERS)
		count = CLOSERS;
	for (size_t i = 0; i < count; i++) {
		size_t end = sampler->fd_count * (i + 1) / count;

		parts[i] = (struct closing){ .fds = sampler->fds + begin, .count = end - begin };
		parts[i].is_apart = i + 1 < count &&
				    hp_thread_start(&parts[i].thread, close_part, &parts[i]) == 0;
		if (!parts[i].is_apart)
			close_part(&parts[i]);
		begin = end;
	}
	for (size_t i = 0; i < count; i++) {
		if (parts[i].is_apart)
			pthread_join(parts[i].thread, NULL);
	}
}

struct hp_error *hp_sampler_replay(struct hp_sampler *sampler, const struct hp_event_list *events,
				   const struct hp_rate *rates, struct hp_record_layout layout)
{
	struct hp_ring *rings = calloc(1, sizeof(*rings));
	struct hp_error *error;

	*sampler = (struct hp_sampler){ .events = events, .rates = rates, .stack_count = 1 };
	sampler->cpus = calloc(1, sizeof(*sampler->cpus));
	sampler->ids = calloc(events->count, sizeof(*sampler->ids));
	if (!rings || !sampler->cpus || !sampler->ids) {
		free(rings);
		return hp_error_create_no_memory();
	}
	error = hp_ring_set_create(&sampler->rings, rings, 1, layout);
	if (error)
		return error;
	sampler->rings.heap[0].ring = sampler->rings.rings;
	for (size_t i = 0; i < events->count; i++)
		sampler->ids[i] = (struct event_id){ i, i };
	sampler->id_count = events->count;
	return NULL;
}

void hp_sampler_set_cpu(struct hp_sampler *sampler, int cpu)
{
	sampler->cpus[0] = cpu;
}

void hp_sampler_close(struct hp_sampler *sampler)
{
	hp_ring_set_clear(&sampler->rings);
	if (sampler->fd_count)
		close_all(sampler);
	free(sampler->cpus);
	free(sampler->fds);
	free(sampler->drawn);
	free(sampler->ids);
	free(sampler->redraws);
	free(sampler->is_on);
	*sampler = (struct hp_sampler){ 0 };
}

/* The slot that samples the event at present. */
static size_t slot_of(const struct hp_sampler *sampler, size_t event)
{
	return sampler->stack * sampler->events->count + event;
}

static void switch_one(const struct hp_sampler *sampler, size_t at, bool on)
{
	if (sampler->fds[at] >= 0)
		ioctl(sampler->fds[at], on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

static void switch_slot(const struct hp_sampler *sampler, size_t slot, bool on)
{
	for (size_t at = slot; at < sampler->fd_count; at += sampler->slots)
		switch_one(sampler, at, on);
}

void hp_sampler_switch(struct hp_sampler *sampler, size_t event, bool on)
{
	sampler->is_on[event] = on;
	switch_slot(sampler, slot_of(sampler, event), on);
}

void hp_sampler_enable(struct hp_sampler *sampler)
{
	for (size_t i = 0; i < sampler->events->count; i++)
		if (!sampler->on || sampler->on[i])
			hp_sampler_switch(sampler, i, true);
	if (sampler->has_deep)
		switch_slot(sampler, sampler_event_slots(sampler), true);
}

void hp_sampler_disable(struct hp_sampler *sampler)
{
	for (size_t i = 0; i < sampler->events->count; i++)
		hp_sampler_switch(sampler, i, false);
	if (sampler->has_deep)
		switch_slot(sampler, sampler_event_slots(sampler), false);
}

/* For each thread and CPU separately, so that hardly a sample is missed. */
static void exchange(const struct hp_sampler *sampler, size_t old, size_t new)
{
	for (size_t at = 0; at < sampler->fd_count; at += sampler->slots) {
		switch_one(sampler, at + old, false);
		switch_one(sampler, at + new, true);
	}
}

void hp_sampler_copy_stack(struct hp_sampler *sampler, size_t stack)
{
	size_t count = sampler->events->count;

	for (size_t i = 0; stack != sampler->stack && i < count; i++) {
		if (sampler->is_on[i])
			exchange(sampler, slot_of(sampler, i), stack * count + i);
		sampler->redraws[i].at = 0;
		sampler->redraws[i].mirrored = false;
	}
	sampler->stack = stack;
	sampler->rings.layout.stack_bytes = sampler->stack_bytes[stack];
}

/* For each event of a thread the kernel asks the CPU on which the thread was last; with thousands
 * of threads this takes longer than everything else. Stopping a ring is immediate. */
void hp_sampler_stop(struct hp_sampler *sampler)
{
	const struct hp_ring_set *rings = &sampler->rings;

	for (size_t i = 0; i < rings->count; i++) {
		if (rings->rings[i].control &&
		    ioctl(rings->rings[i].fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1) < 0) {
			hp_sampler_disable(sampler);
			return;
		}
	}
}

static void add_counts(const struct hp_sampler *sampler, size_t slot, struct hp_sampler_count *sum)
{
	for (size_t at = slot; at < sampler->fd_count; at += sampler->slots) {
		struct hp_sampler_count one;

		if (sampler->fds[at] < 0 ||
		    read(sampler->fds[at], &one, sizeof(one)) != sizeof(one))
			continue;
		sum->value += one.value;
		sum->enabled_ns += one.enabled_ns;
		sum->running_ns += one.running_ns;
	}
}

struct hp_sampler_count hp_sampler_read(const struct hp_sampler *sampler, size_t event)
{
	struct hp_sampler_count sum = { 0 };

	for (size_t i = 0; i < sampler->stack_count; i++)
		add_counts(sampler, i * sampler->events->count + event, &sum);
	return sum;
}

void hp_sampler_times(const struct hp_sampler *sampler, size_t event, uint64_t *enabled_ns,
		      uint64_t *running_ns)
{
	struct hp_sampler_count sum = hp_sampler_read(sampler, event);

	*enabled_ns = sum.enabled_ns;
	*running_ns = sum.running_ns;
	/* A thread's event for one CPU counts as enabled while the thread is on any CPU. For
	 * children that have ended, the kernel (6.18) leaves out CPUs on which they never were.
	 * Then the time is too short, and a lack of counters may go unnoticed; none is ever
	 * invented. */
	if (sampler->of_threads)
		*enabled_ns /= sampler->rings.count;
	if (*enabled_ns < *running_ns)
		*enabled_ns = *running_ns;
}

static bool redraw_is_due(const struct hp_sampler *sampler, size_t event, uint64_t now_ns,
			  uint64_t samples)
{
	const struct hp_redraw *redraw = &sampler->redraws[event];

	if (sampler->rates[event].frequency_hz > 0)
		return now_ns >= redraw->due_ns;
	return samples - redraw->samples >= SAMPLES_BETWEEN_REDRAWS * sampler->rings.count;
}

static void redraw_one(struct hp_sampler *sampler, size_t event, bool mirrored, size_t at)
{
	const struct hp_rate *rate = &sampler->rates[event];
	uint64_t period = mirrored ? hp_rate_mirror(rate, sampler->drawn[at])
				   : hp_rate_draw(rate, &sampler->random);

	if (sampler->fds[at] < 0)
		return;
	sampler->drawn[at] = period;
	ioctl(sampler->fds[at], PERF_EVENT_IOC_PERIOD, &period);
}

void hp_sampler_redraw(struct hp_sampler *sampler, size_t event, uint64_t now_ns, uint64_t samples)
{
	const struct hp_rate *rate = &sampler->rates[event];
	struct hp_redraw *redraw = &sampler->redraws[event];
	size_t count = sampler->fd_count / sampler->slots;
	size_t last = redraw->at + REDRAWS_A_TIME < count ? redraw->at + REDRAWS_A_TIME : count;

	if (rate->kernel_frequency || !redraw_is_due(sampler, event, now_ns, samples))
		return;
	for (; redraw->at < last; redraw->at++)
		redraw_one(sampler, event, redraw->mirrored,
			   redraw->at * sampler->slots + slot_of(sampler, event));
	if (redraw->at < count)
		return;
	redraw->at = 0;
	redraw->mirrored = !redraw->mirrored;
	redraw->samples = samples;
	if (rate->frequency_hz > 0)
		redraw->due_ns =
			now_ns + (uint64_t)(SAMPLES_BETWEEN_REDRAWS * 1e9 / rate->frequency_hz);
}
