/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "counters.h"

#include <hpcprof/pmu/open.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* One event of a group, in the order in which they are opened. */
struct counter_slot {
	const struct hp_event *event;
	bool is_reference;
	bool has_value; /* it is one of the requested events */
	bool leads;
	size_t value; /* index of its value in a reading */
};

/* State of opening counters. */
struct opening {
	struct counters *counters;
	const struct counter_options *options;
	const struct hp_machine *machine;
};

/* --- what is opened --------------------------------------------------------------------------- */

static bool never_turns(const struct hp_rotation_set *rotation_set)
{
	return rotation_set->software && rotation_set->group_count == 1;
}

static void add_slot(struct counter_group *group, const struct hp_event *event, int64_t value)
{
	group->slots[group->slot_count++] = (struct counter_slot){
		.event = event,
		.is_reference = value < 0,
		.has_value = value >= 0,
		.value = value >= 0 ? (size_t)value : 0,
	};
}

/* Groups the events of one PMU; the first one leads, and is read for all. */
static void arrange(struct counter_group *group, bool apart)
{
	struct counter_slot *slots = group->slots;

	for (size_t i = 1; i < group->slot_count; i++) {
		struct counter_slot slot = slots[i];
		size_t place = i;

		if (hp_event_is_slots(slot.event)) {
			/* Events counted as parts of it must follow it. */
			memmove(&slots[1], &slots[0], i * sizeof(*slots));
			slots[0] = slot;
			continue;
		}
		for (size_t j = 0; j < i; j++)
			if (hp_event_same_pmu(slots[j].event, slot.event))
				place = j + 1;
		memmove(&slots[place + 1], &slots[place], (i - place) * sizeof(*slots));
		slots[place] = slot;
	}
	for (size_t i = 0; i < group->slot_count; i++)
		slots[i].leads = i == 0 || apart ||
				 !hp_event_same_pmu(slots[i].event, slots[i - 1].event);
}

static struct hp_error *make_group(struct counters *counters, size_t number)
{
	const struct hp_rotation_set *rotation_set = counters->rotation_set;
	const struct hp_counter_group *from = &rotation_set->groups[number];
	struct counter_group *group = &counters->groups[number];
	size_t room = from->count + rotation_set->always_count + 1;

	group->slots = calloc(room, sizeof(*group->slots));
	if (!group->slots)
		return hp_error_create_no_memory();
	if (rotation_set->has_reference)
		add_slot(group, &rotation_set->reference, -1);
	for (uint32_t i = 0; i < from->count; i++)
		add_slot(group, &counters->events->events[from->events[i]], i);
	for (uint32_t i = 0; i < rotation_set->always_count; i++) {
		size_t value = from->count + i;

		if (rotation_set->reference_event == rotation_set->always[i]) {
			group->slots[0].has_value = true;
			group->slots[0].value = value;
		} else {
			add_slot(group, &counters->events->events[rotation_set->always[i]],
				 (int64_t)value);
		}
	}
	if (from->count + rotation_set->always_count > counters->value_count)
		counters->value_count = from->count + rotation_set->always_count;
	arrange(group, never_turns(rotation_set));
	group->first_fd = counters->fds_each;
	counters->fds_each += group->slot_count;
	return NULL;
}

/* --- opening ---------------------------------------------------------------------------------- */

static int *fd_at(const struct counters *counters, size_t place, size_t group, size_t slot)
{
	return &counters->fds[place * counters->fds_each + counters->groups[group].first_fd + slot];
}

static struct perf_event_attr attr_of(const struct opening *opening, size_t group,
				      const struct counter_slot *slot,
				      const struct counter_place *place)
{
	const struct counter_options *options = opening->options;
	struct perf_event_attr attr = { 0 };

	hp_event_to_attr(slot->event, &attr);
	attr.precise_ip = 0;
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			   PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr.inherit = place->pid != -1;
	attr.disabled = slot->leads;
	attr.enable_on_exec = slot->leads && options->enable_on_exec &&
			      group == options->first_group;
	if (slot->is_reference && options->overflow_units) {
		attr.sample_period = options->overflow_units;
		attr.sample_type = PERF_SAMPLE_IP;
		attr.wakeup_events = 1;
	}
	return attr;
}

static struct hp_error *ask_for_signals(int fd)
{
	if (fcntl(fd, F_SETOWN, getpid()) < 0 ||
	    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC) < 0)
		return hp_error_create_errno(errno, "asking for the overflow's signal");
	return NULL;
}

/* A thread that has ended and a CPU that went offline are no errors. */
static bool is_gone(const struct opening *opening, int failure)
{
	return (failure == ESRCH && opening->options->place_count > 1) || failure == ENODEV;
}

static struct hp_error *open_group(const struct opening *opening, size_t number, size_t place_index)
{
	struct counters *counters = opening->counters;
	const struct counter_place *place = &counters->places[place_index];
	struct counter_group *group = &counters->groups[number];
	int leader = -1;

	for (size_t i = 0; i < group->slot_count; i++) {
		struct counter_slot *slot = &group->slots[i];
		struct perf_event_attr attr = attr_of(opening, number, slot, place);
		int *fd = fd_at(counters, place_index, number, i);

		*fd = hp_perf_event_open(&attr, place->pid, place->cpu, slot->leads ? -1 : leader);
		if (*fd < 0 && errno == EINVAL && !slot->leads && place_index == 0) {
			/* It cannot be in the group of its leader (a breakpoint with a clock, for
			 * example). */
			slot->leads = true;
			attr = attr_of(opening, number, slot, place);
			*fd = hp_perf_event_open(&attr, place->pid, place->cpu, -1);
		}
		if (*fd < 0 && is_gone(opening, errno))
			return NULL;
		if (*fd < 0)
			return hp_machine_open_error(opening->machine, slot->event, place->pid,
						     errno);
		if (slot->leads)
			leader = *fd;
		if (slot->is_reference && opening->options->overflow_units) {
			struct hp_error *error = ask_for_signals(*fd);

			if (error)
				return error;
		}
	}
	return NULL;
}

struct hp_error *counters_open(struct counters *counters,
			       const struct hp_rotation_set *rotation_set,
			       const struct counter_options *options,
			       const struct hp_machine *machine)
{
	struct opening opening = { counters, options, machine };
	struct hp_error *error = NULL;

	*counters = (struct counters){ .rotation_set = rotation_set, .events = options->events };
	counters->groups = calloc(rotation_set->group_count + 1, sizeof(*counters->groups));
	counters->places = calloc(options->place_count + 1, sizeof(*counters->places));
	if (!counters->groups || !counters->places)
		return hp_error_create_no_memory();
	memcpy(counters->places, options->places, options->place_count * sizeof(*options->places));
	for (uint32_t i = 0; !error && i < rotation_set->group_count; i++)
		error = make_group(counters, i);
	if (error)
		return error;
	counters->fds =
		malloc((options->place_count * counters->fds_each + 1) * sizeof(*counters->fds));
	if (!counters->fds)
		return hp_error_create_no_memory();
	counters->place_count = options->place_count;
	for (size_t i = 0; i < counters->place_count * counters->fds_each; i++)
		counters->fds[i] = -1;
	for (size_t place = 0; !error && place < counters->place_count; place++)
		for (size_t group = 0; !error && group < rotation_set->group_count; group++)
			error = open_group(&opening, group, place);
	return error;
}

void counters_close(struct counters *counters)
{
	for (size_t i = 0; counters->fds && i < counters->place_count * counters->fds_each; i++) {
		if (counters->fds[i] >= 0)
			close(counters->fds[i]);
	}
	for (uint32_t i = 0; counters->groups && i < counters->rotation_set->group_count; i++)
		free(counters->groups[i].slots);
	free(counters->groups);
	free(counters->places);
	free(counters->fds);
	*counters = (struct counters){ 0 };
}

/* --- counting --------------------------------------------------------------------------------- */

/* Only the leader is switched, which switches the group. PERF_IOC_FLAG_GROUP would interrupt the
 * target's CPU for each member, and again for each child. */
void counters_switch(const struct counters *counters, size_t group, size_t first_place,
		     size_t place_count, bool on)
{
	const struct counter_group *slots = &counters->groups[group];
	unsigned long request = on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;

	for (size_t place = first_place; place < first_place + place_count; place++) {
		for (size_t i = 0; i < slots->slot_count; i++) {
			int fd = *fd_at(counters, place, group, i);

			if (slots->slots[i].leads && fd >= 0)
				ioctl(fd, request, 0);
		}
	}
}

/* PERF_FORMAT_GROUP: count, enabled, running, then one value per member. */
enum { READ_HEADER = 3, MOST_VALUES = 1024 };

static void add_leader(const struct counter_group *group, size_t leader, const uint64_t *words,
		       size_t word_count, struct counter_reading *reading)
{
	if (leader == 0) {
		reading->enabled_ns += words[1];
		reading->running_ns += words[2];
	}
	for (size_t i = 0; i < words[0] && READ_HEADER + i < word_count; i++) {
		const struct counter_slot *slot = &group->slots[leader + i];
		uint64_t value = words[READ_HEADER + i];

		if (leader + i >= group->slot_count)
			break;
		if (slot->is_reference)
			reading->reference += value;
		if (slot->has_value)
			reading->values[slot->value] += value;
	}
}

bool counters_read(const struct counters *counters, size_t group, size_t first_place,
		   size_t place_count, struct counter_reading *reading)
{
	const struct counter_group *slots = &counters->groups[group];
	uint64_t words[READ_HEADER + MOST_VALUES];
	bool complete = true;

	for (size_t place = first_place; place < first_place + place_count; place++) {
		for (size_t i = 0; i < slots->slot_count; i++) {
			int fd = *fd_at(counters, place, group, i);
			ssize_t size;

			if (!slots->slots[i].leads || fd < 0)
				continue;
			size = read(fd, words, sizeof(words));
			complete = complete && !(size < 0 && errno == ECHILD);
			if (size >= (ssize_t)(READ_HEADER * sizeof(*words)))
				add_leader(slots, i, words, (size_t)size / sizeof(*words), reading);
		}
	}
	if (!counters->rotation_set->has_reference)
		reading->reference = reading->running_ns;
	return complete;
}
