/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opening.h"
#include "tuning.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/cpu_list.h>
#include <hpcprof/pmu/open.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int *fd_at(const struct opening *opening, size_t thread, size_t cpu, size_t slot)
{
	struct hp_sampler *sampler = opening->sampler;

	return &sampler->fds[(thread * opening->cpu_count + cpu) * sampler->slots + slot];
}

/* Checks that all CPUs are online. On an offline CPU an event would not open, and the kernel does
 * not report which CPU is the reason. */
static struct hp_error *check_online(const int *cpus, size_t count)
{
	_cleanup_free_ int *online = NULL;
	size_t online_count;
	size_t at = 0;
	struct hp_error *error = hp_cpu_list_parse(NULL, &online, &online_count);

	for (size_t i = 0; !error && i < count; i++) {
		while (at < online_count && online[at] < cpus[i])
			at++;
		if (at == online_count || online[at] != cpus[i])
			error = hp_error_advise(
				hp_error_create(HP_ERROR_USAGE, "there is no CPU %d online",
						cpus[i]),
				"list the CPUs with: cat /sys/devices/system/cpu/online");
	}
	return error;
}

/* --- opening ---------------------------------------------------------------------------------- */

/*
 * Gives up one optional setting after another that this kernel may refuse. True when opening is
 * worth another try.
 */
static bool relax(struct opening *opening, size_t slot, const struct perf_event_attr *attr,
		  int failure)
{
	struct hp_event *event = &opening->events[slot % opening->sampler->events->count];

	if (failure != EINVAL && failure != EOPNOTSUPP && failure != ENOENT && failure != E2BIG)
		return false;
	if (attr->precise_ip && event->best_precise) {
		event->precise--;
		return true;
	}
	if (attr->build_id) {
		opening->sampler->no_build_ids = true; /* before Linux 5.12 */
		return true;
	}
	return false;
}

static int group_leader(const struct opening *opening, size_t thread, size_t cpu, size_t slot)
{
	const struct hp_event_list *events = opening->options->events;
	const uint32_t *turn_of = opening->options->turn_of;
	size_t event = slot % events->count;

	if (slot >= sampler_event_slots(opening->sampler) || events->events[event].group < 0)
		return -1;
	for (size_t i = 0; i < event; i++) {
		if (events->events[i].group == events->events[event].group &&
		    (!turn_of || (turn_of[i] == turn_of[event] &&
				  hp_event_same_pmu(&events->events[i], &events->events[event]))))
			return *fd_at(opening, thread, cpu, slot - event + i);
	}
	return -1;
}

/* A thread that has ended and a CPU that went offline are no errors. */
static bool is_gone(const struct opening *opening, size_t slot, int failure)
{
	/* Call paths work without deep samples. */
	if (sampler_is_deep_slot(opening->sampler, slot))
		return true;
	return (failure == ESRCH && opening->options->thread_count > 1) || failure == ENODEV;
}

static struct hp_error *open_one(struct opening *opening, size_t thread, size_t cpu, size_t slot)
{
	pid_t pid = opening->options->threads[thread];
	int group = group_leader(opening, thread, cpu, slot);
	int *fd = fd_at(opening, thread, cpu, slot);
	struct perf_event_attr attr;

	do {
		attr = opening_attr(opening, slot);
		/* Members of a group follow their leader. */
		if (group >= 0) {
			attr.disabled = 0;
			attr.enable_on_exec = 0;
		}
		*fd = hp_perf_event_open(&attr, pid, opening->cpus[cpu], group);
	} while (*fd < 0 && relax(opening, slot, &attr, errno));
	if (*fd >= 0 || is_gone(opening, slot, errno))
		return NULL;
	if (slot >= sampler_event_slots(opening->sampler))
		return hp_error_create_errno(errno, "opening the side-band event");
	return hp_machine_open_error(opening->machine,
				     &opening->events[slot % opening->options->events->count], pid,
				     errno);
}

static struct hp_error *open_all(struct opening *opening)
{
	struct hp_error *error = NULL;
	bool any = false;

	for (size_t thread = 0; thread < opening->options->thread_count; thread++) {
		for (size_t cpu = 0; cpu < opening->cpu_count; cpu++) {
			for (size_t i = 0; i < opening->sampler->slots; i++) {
				error = open_one(opening, thread, cpu, i);
				if (error)
					return error;
				any |= *fd_at(opening, thread, cpu, i) >= 0;
			}
		}
	}
	if (!any)
		return hp_error_create(HP_ERROR_NOT_FOUND,
				       "the target ended before it could be sampled");
	return NULL;
}

/* --- rings ------------------------------------------------------------------------------------ */

size_t opening_ring_pages(size_t cpus, double stack_bytes_per_s)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t limit = ALL_RINGS_BYTES / page / (cpus ? cpus : 1);
	size_t pages = DEFAULT_RING_PAGES;

	while (pages < limit && (double)(pages * page) < stack_bytes_per_s * RING_STACK_MS / 1000)
		pages *= 2;
	while (pages > limit && pages > 1)
		pages /= 2;
	return pages;
}

/* How much stack is copied per second, at most, on a CPU where samples are as frequent as wanted. */
static double most_stack_per_s(const struct hp_sampler *sampler,
			       const struct hp_sampler_options *options)
{
	uint32_t largest = 0;
	double hz = 0;

	for (size_t i = 0; i < sampler->stack_count; i++) {
		if (sampler->stack_bytes[i] > largest)
			largest = sampler->stack_bytes[i];
	}
	for (size_t i = 0; i < options->events->count; i++) {
		/* A period of unknown rate: as large as rings may be. */
		hz += options->rates[i].frequency_hz > 0 ? options->rates[i].frequency_hz
							 : INFINITY;
	}
	return largest ? hz * largest : 0;
}

/* The first open event of a CPU, whose ring the others share. */
static int ring_owner(const struct opening *opening, size_t cpu)
{
	for (size_t thread = 0; thread < opening->options->thread_count; thread++) {
		for (size_t i = 0; i < opening->sampler->slots; i++) {
			if (*fd_at(opening, thread, cpu, i) >= 0)
				return *fd_at(opening, thread, cpu, i);
		}
	}
	return -1;
}

static int map_rings(struct opening *opening)
{
	struct hp_sampler *sampler = opening->sampler;

	for (size_t cpu = 0; cpu < opening->cpu_count; cpu++) {
		int owner = ring_owner(opening, cpu);
		int failure = owner < 0 ? 0
					: hp_ring_map(&sampler->rings.rings[cpu], owner,
						      sampler->ring_pages);

		if (!failure)
			continue;
		while (cpu-- > 0)
			hp_ring_unmap(&sampler->rings.rings[cpu]);
		return failure;
	}
	return 0;
}

static struct hp_error *map_rings_that_fit(struct opening *opening)
{
	struct hp_sampler *sampler = opening->sampler;
	size_t wanted = sampler->ring_pages;
	int failure;

	while ((failure = map_rings(opening))) {
		if (sampler->ring_pages == 1 || (failure != EPERM && failure != ENOMEM))
			return hp_machine_mmap_error(
				opening->machine,
				opening->cpu_count * 2 * (size_t)sysconf(_SC_PAGESIZE), failure);
		sampler->ring_pages /= 2;
	}
	/* The default size may exceed what an ordinary user may lock, which needs no warning. */
	if (!opening->options->ring_pages)
		wanted = opening_ring_pages(opening->cpu_count, 0);
	sampler->rings_shrunk = sampler->ring_pages < wanted;
	return NULL;
}

static struct hp_error *share_rings(struct opening *opening)
{
	for (size_t cpu = 0; cpu < opening->cpu_count; cpu++) {
		int owner = ring_owner(opening, cpu);

		for (size_t thread = 0; thread < opening->options->thread_count; thread++) {
			for (size_t i = 0; i < opening->sampler->slots; i++) {
				int fd = *fd_at(opening, thread, cpu, i);

				if (fd >= 0 && fd != owner &&
				    ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, owner) < 0)
					return hp_error_create_errno(errno, "sharing a ring");
			}
		}
	}
	return NULL;
}

/* --- event ids -------------------------------------------------------------------------------- */

static struct hp_error *learn_ids(struct hp_sampler *sampler)
{
	if (!sampler->rings.layout.identifier)
		return NULL;
	sampler->ids = calloc(sampler->fd_count, sizeof(*sampler->ids));
	if (!sampler->ids)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < sampler->fd_count; i++) {
		struct event_id *id = &sampler->ids[sampler->id_count];

		if (sampler->fds[i] < 0)
			continue;
		if (ioctl(sampler->fds[i], PERF_EVENT_IOC_ID, &id->id) < 0)
			return hp_error_create_errno(errno, "asking for an event's number");
		id->slot = i % sampler->slots;
		sampler->id_count++;
	}
	qsort(sampler->ids, sampler->id_count, sizeof(*sampler->ids), event_id_compare);
	return NULL;
}

/* --- sizes of the stack ----------------------------------------------------------------------- */

/* Only one size if several would take too many events. */
static void choose_stacks(struct opening *opening)
{
	const struct hp_sampler_options *options = opening->options;
	struct hp_sampler *sampler = opening->sampler;
	size_t most = sampler->of_threads ? MOST_INHERITED : MOST_OF_CPUS;
	size_t each = options->thread_count * opening->cpu_count * options->events->count;

	sampler->stack_count = 1;
	sampler->stack_bytes[0] = options->stack_bytes;
	if (!options->stack_count || each * options->stack_count > most)
		return;
	sampler->stack_count = options->stack_count;
	for (size_t i = 0; i < options->stack_count; i++) {
		sampler->stack_bytes[i] = options->stacks[i];
		if (options->stacks[i] == options->stack_bytes)
			sampler->stack = i;
	}
}

/* --- all together ----------------------------------------------------------------------------- */

static struct hp_error *prepare(struct opening *opening)
{
	const struct hp_sampler_options *options = opening->options;
	struct hp_sampler *sampler = opening->sampler;
	struct hp_record_layout layout = { 0 };
	struct hp_ring *rings;

	sampler->of_threads = options->threads[0] != -1;
	choose_stacks(opening);
	/* An event that is never disabled must carry the side-band records. */
	opening->dummy = options->start_disabled || options->on || sampler->stack_count > 1;
	sampler->has_deep = options->deep_stack_bytes &&
			    options->thread_count * opening->cpu_count <= MOST_DEEP;
	sampler->slots = sampler_event_slots(sampler) + sampler->has_deep + opening->dummy;
	layout.identifier = sampler->slots > 1;
	for (size_t i = 0; i < options->events->count; i++)
		layout.period |= options->rates[i].period != 1;
	layout.callchain = options->callchain;
	layout.branches = options->branches;
	layout.registers = options->registers;
	layout.stack_bytes = options->stack_bytes;
	sampler->ring_pages = options->ring_pages
				      ? options->ring_pages
				      : opening_ring_pages(opening->cpu_count,
							   most_stack_per_s(sampler, options));
	sampler->fd_count = options->thread_count * opening->cpu_count * sampler->slots;
	sampler->fds = malloc((sampler->fd_count + 1) * sizeof(*sampler->fds));
	sampler->drawn = calloc(sampler->fd_count + 1, sizeof(*sampler->drawn));
	sampler->redraws = calloc(options->events->count + 1, sizeof(*sampler->redraws));
	sampler->is_on = calloc(options->events->count + 1, sizeof(*sampler->is_on));
	rings = calloc(opening->cpu_count + 1, sizeof(*rings));
	if (!sampler->fds || !sampler->drawn || !sampler->redraws || !sampler->is_on || !rings) {
		free(rings);
		sampler->fd_count = 0;
		return hp_error_create_no_memory();
	}
	for (size_t i = 0; i < sampler->fd_count; i++)
		sampler->fds[i] = -1;
	for (size_t i = 0; i < options->events->count; i++)
		sampler->is_on[i] = !options->start_disabled && (!options->on || options->on[i]);
	return hp_ring_set_create(&sampler->rings, rings, opening->cpu_count, layout);
}

struct hp_error *hp_sampler_open(struct hp_sampler *sampler,
				 const struct hp_sampler_options *options,
				 const struct hp_machine *machine, struct hp_event *resolved)
{
	struct opening opening = {
		.sampler = sampler,
		.options = options,
		.machine = machine,
		.events = resolved,
	};
	struct hp_error *error;

	*sampler = (struct hp_sampler){
		.events = options->events,
		.rates = options->rates,
		.on = options->on,
		.random = hp_random_seeded(hp_clock_realtime_ns() ^ (uint64_t)getpid() << 32),
	};
	/* This changes only hpcprof: a recorded command was forked before. */
	hp_raise_descriptor_limit();
	error = hp_cpu_list_parse(options->cpus, &opening.cpus, &opening.cpu_count);
	if (error)
		return error;
	if (options->cpus)
		error = check_online(opening.cpus, opening.cpu_count);
	if (!error)
		error = prepare(&opening);
	if (!error)
		error = open_all(&opening);
	if (!error)
		error = map_rings_that_fit(&opening);
	if (!error)
		error = share_rings(&opening);
	if (!error)
		error = learn_ids(sampler);
	sampler->cpus = opening.cpus;
	if (error)
		hp_sampler_close(sampler);
	return error;
}
