/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probes.h"

#include "counted.h"
#include "../tuning.h"

#include <hpcprof/base/file.h>
#include <hpcprof/base/number.h>
#include <hpcprof/pmu/breakpoints.h>
#include <hpcprof/target/cpu_times.h>

#include <errno.h>
#include <inttypes.h>
#include <linux/hw_breakpoint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 64 }; /* line size of the instruction cache */

/* Sums of one place, by group of moments. */
struct place_sums {
	uint64_t counts[HP_EVIDENCE_GROUPS];
	double times_ns[HP_EVIDENCE_GROUPS];
};

struct place {
	struct image *image; /* a reference; NULL: the slot is free */
	uint64_t offset;
	bool is_hot;
	bool has_sums;
	uint32_t moments;
	uint32_t bursts;  /* number of moments that ended in a burst */
	uint32_t command; /* the sums are of this command */
	struct place_sums sums;
};

struct armed {
	int fd;	     /* event that counts hits; -1: none */
	int half_fd; /* event that stops after half of the hits */
	struct place *place;
};

struct probes {
	uint64_t recording;
	double budget;
	double hit_ns;
	struct hp_random random;
	uint32_t *lines; /* numbers of samples, by a hash of the line */
	uint64_t samples;
	struct place *places; /* hash table */
	struct place *listed[PROBE_SLOTS / 2];
	size_t place_count;
	unsigned group;
	/* the address space of the latest sample; a reference, or NULL */
	struct space *space; /* a reference, or NULL */
	uint32_t pid;
	uint32_t tid;
	uint32_t command;
	uint64_t sampled_ns; /* when that sample was taken */
	/* The current moment. */
	struct armed armed[PROBES_AT_ONCE];
	bool is_armed;
	uint64_t slot_end_ns;
	uint64_t due_ns;
	struct probes_figures figures;
};

/* Why no place was counted, if not even hpcprof's own breakpoint counts. */
static const char *why_none(void)
{
	return hp_breakpoints_try(HW_BREAKPOINT_X) == HP_BREAKPOINTS_SILENT
		       ? "breakpoints open on this machine, but never fire (the hypervisor does "
			 "not "
			 "pass debug exceptions on?)"
		       : "this machine has no hardware breakpoints";
}

struct hp_error *probes_create(uint64_t recording, double budget, struct probes **created)
{
	struct probes *probes = calloc(1, sizeof(*probes));

	if (!probes)
		return hp_error_create_no_memory();
	probes->places = calloc(PROBE_SLOTS, sizeof(*probes->places));
	probes->lines = calloc(PROBE_LINES, sizeof(*probes->lines));
	if (!probes->places || !probes->lines) {
		free(probes->places);
		free(probes->lines);
		free(probes);
		return hp_error_create_no_memory();
	}
	probes->recording = recording;
	probes->budget = budget;
	probes->random = hp_random_seeded(recording | 1);
	probes->group = (unsigned)hp_random_between(&probes->random, 0, HP_EVIDENCE_GROUPS - 1);
	probes->slot_end_ns = hp_clock_monotonic_ns();
	probes->due_ns = probes->slot_end_ns;
	probes->hit_ns = hp_breakpoint_cost_ns(PROBE_COST_HITS);
	if (!(probes->hit_ns > 0))
		probes->figures.refusal = why_none();
	for (size_t i = 0; i < PROBES_AT_ONCE; i++)
		probes->armed[i].fd = -1;
	*created = probes;
	return NULL;
}

/* --- places ----------------------------------------------------------------------------------- */

void probes_notice(struct probes *probes, struct image *image, uint64_t offset)
{
	uint64_t hash = ((uintptr_t)image ^ offset << 16) * UINT64_C(0x9e3779b97f4a7c15);
	size_t at = hash >> 40;

	while (probes->places[at % PROBE_SLOTS].image &&
	       (probes->places[at % PROBE_SLOTS].image != image ||
		probes->places[at % PROBE_SLOTS].offset != offset))
		at++;
	if (probes->places[at % PROBE_SLOTS].image ||
	    probes->place_count == HP_ARRAY_COUNT(probes->listed))
		return;
	probes->places[at % PROBE_SLOTS] = (struct place){ .image = image, .offset = offset };
	image->references++;
	probes->listed[probes->place_count++] = &probes->places[at % PROBE_SLOTS];
}

/* Lines with the same hash share a counter, so a place may be left out although it could be
 * counted. */
static uint32_t *line_of(struct probes *probes, const struct image *image, uint64_t offset)
{
	uint64_t hash =
		((uintptr_t)image ^ offset / LINE_BYTES << 16) * UINT64_C(0x9e3779b97f4a7c15);

	return &probes->lines[hash >> 40 & (PROBE_LINES - 1)];
}

void probes_sample(struct probes *probes, const struct context *context, uint32_t tid,
		   uint64_t address, double time_ns)
{
	const struct mapping *mapping = space_find(context->space, address);

	probes->samples++;
	if (mapping && mapping->image)
		++*line_of(probes, mapping->image, mapping->offset + (address - mapping->start));
	probes->figures.time_ns += time_ns;
	probes->sampled_ns = hp_clock_monotonic_ns();
	probes->pid = context->pid;
	probes->tid = tid;
	probes->command = context->command < EVIDENCE_COMMANDS ? context->command : 0;
	if (probes->space == context->space)
		return;
	space_release(probes->space);
	probes->space = space_hold(context->space);
}

/* Address of the place in the thread's memory. False if it is not mapped there. */
static bool find_address(const struct probes *probes, const struct place *place, uint64_t *address)
{
	for (size_t i = 0; i < probes->space->count; i++) {
		const struct mapping *mapping = &probes->space->mappings[i];

		if (mapping->image != place->image || place->offset < mapping->offset ||
		    place->offset - mapping->offset >= mapping->end - mapping->start)
			continue;
		*address = mapping->start + (place->offset - mapping->offset);
		return true;
	}
	return false;
}

static bool is_armed_already(const struct probes *probes, const struct place *place)
{
	for (size_t i = 0; i < PROBES_AT_ONCE; i++)
		if (probes->armed[i].fd >= 0 && probes->armed[i].place == place)
			return true;
	return false;
}

/* Draws a place that may be counted in this thread now. Its sums are of one command at a time. */
static struct place *choose(struct probes *probes, uint64_t *address)
{
	for (unsigned i = 0; i < PROBE_TRIES && probes->place_count; i++) {
		struct place *place = probes->listed[hp_random_between(&probes->random, 0,
								       probes->place_count - 1)];

		if (!place->is_hot &&
		    *line_of(probes, place->image, place->offset) <=
			    probe_most_in_line * (double)probes->samples &&
		    !is_armed_already(probes, place) &&
		    (!place->has_sums || place->command == probes->command) &&
		    find_address(probes, place, address))
			return place;
	}
	return NULL;
}

/* --- a moment --------------------------------------------------------------------------------- */

static const char *why_not(int failure)
{
	switch (failure) {
	case ENOSPC:
		return "a debugger or another program uses the breakpoint registers";
	case EACCES:
	case EPERM:
		return "breakpoints of the target are not permitted";
	case ESRCH:
		return NULL; /* the thread has ended */
	default:
		return "the kernel refuses breakpoints";
	}
}

static bool can_pay(const struct probes *probes)
{
	double moment_cost =
		PROBES_AT_ONCE * (PROBE_MOST_HITS * probes->hit_ns + 2 * probe_arming_ns);

	return probes->figures.lost_ns + moment_cost <= probes->budget * probes->figures.time_ns;
}

/* Arms both breakpoints of a place; otherwise none, and sets errno. */
static bool arm(const struct probes *probes, uint64_t address, struct armed *armed)
{
	pid_t tid = (pid_t)probes->tid;
	int failure;

	armed->fd = hp_breakpoint_open(tid, address, PROBE_MOST_HITS);
	if (armed->fd < 0)
		return false;
	armed->half_fd = hp_breakpoint_open(tid, address, PROBE_MOST_HITS / 2);
	if (armed->half_fd >= 0)
		return true;
	failure = errno;
	close(armed->fd);
	errno = failure;
	return false;
}

static void begin(struct probes *probes, uint64_t now_ns)
{
	if (!probes->space || now_ns > probes->sampled_ns + probe_slot_ns || !can_pay(probes))
		return;
	for (size_t i = 0; i < PROBES_AT_ONCE; i++) {
		uint64_t address;
		struct armed armed = { .place = choose(probes, &address) };

		if (!armed.place)
			break;
		if (!arm(probes, address, &armed)) {
			/* One place is enough to count. */
			if (i == 0)
				probes->figures.refusal = why_not(errno);
			break;
		}
		probes->armed[i] = armed;
		probes->is_armed = true;
	}
}

/* The share of its CPU time that the process spends in user code. */
static double user_share(uint32_t pid)
{
	_cleanup_free_ char *text = hp_file_text("/proc/%" PRIu32 "/stat", pid);
	struct hp_cpu_times ticks = { 0 };

	if (!text || !hp_cpu_times_of_process(text, 1, &ticks))
		return 1;
	return (double)(ticks.user_ns + 1) / (double)(ticks.user_ns + ticks.system_ns + 1);
}

/* The share of a moment that the hits took, over all places. They began together, and each counted
 * until it had enough hits. */
static double lost_in(const struct probes *probes, const struct hp_breakpoint_count *counts,
		      size_t one)
{
	double lost = 0;

	for (size_t i = 0; i < PROBES_AT_ONCE; i++) {
		double longer =
			counts[i].running_ns > counts[one].running_ns
				? (double)counts[one].running_ns / (double)counts[i].running_ns
				: 1;

		lost += longer * (double)counts[i].hits * probes->hit_ns;
	}
	return lost;
}

/* Whether the hits came in a burst. A breakpoint stops counting after a number of hits. If they
 * come in bursts, as in a loop of a procedure that is called now and then, it stops in the middle
 * of one: the time before the burst is included, most of the burst is not, and the rate would be
 * too low, by a factor of a thousand for long bursts. Steady hits take the same time for each
 * half. */
static bool is_burst(const struct hp_breakpoint_count *half, const struct hp_breakpoint_count *all)
{
	double share = (double)half->running_ns / (double)all->running_ns;

	return all->hits >= PROBE_MOST_HITS &&
	       !(share >= probe_least_half && share <= 1 - probe_least_half);
}

/* One moment may look like a burst because a CPU was taken away, so several are required. */
static bool is_bursty(const struct place *place)
{
	return place->bursts * PROBE_MOMENTS_PER_BURST > place->moments;
}

static void take_one(struct probes *probes, const struct hp_breakpoint_count *counts,
		     const struct hp_breakpoint_count *half, size_t one, double share)
{
	const struct hp_breakpoint_count *count = &counts[one];
	struct place *place = probes->armed[one].place;
	double running_ns = (double)count->running_ns;
	double lost_ns = lost_in(probes, counts, one);

	probes->figures.lost_ns += (double)count->hits * probes->hit_ns + 2 * probe_arming_ns;
	probes->figures.hits += count->hits;
	place->moments++;
	place->bursts += is_burst(half, count);
	if ((double)count->hits * probes->hit_ns > probe_most_lost * running_ns ||
	    (place->bursts >= PROBE_ENOUGH_BURSTS && is_bursty(place))) {
		place->is_hot = true;
		place->has_sums = false;
	}
	if (place->is_hot || is_burst(half, count) || !(running_ns > 0) ||
	    lost_ns > probe_most_lost * running_ns)
		return;
	place->has_sums = true;
	place->command = probes->command;
	place->sums.counts[probes->group] += count->hits;
	place->sums.times_ns[probes->group] += (running_ns - lost_ns) * share;
}

static bool take_breakpoint(int fd, struct hp_breakpoint_count *count)
{
	bool is_fine = hp_breakpoint_read(fd, count);

	close(fd);
	return is_fine;
}

static void end(struct probes *probes)
{
	struct hp_breakpoint_count counts[PROBES_AT_ONCE] = { 0 };
	struct hp_breakpoint_count half[PROBES_AT_ONCE] = { 0 };
	bool is_counted[PROBES_AT_ONCE] = { false };
	double share = user_share(probes->pid);

	for (size_t i = 0; i < PROBES_AT_ONCE; i++) {
		if (probes->armed[i].fd < 0)
			continue;
		is_counted[i] = take_breakpoint(probes->armed[i].fd, &counts[i]);
		is_counted[i] &= take_breakpoint(probes->armed[i].half_fd, &half[i]);
	}
	for (size_t i = 0; i < PROBES_AT_ONCE; i++) {
		if (is_counted[i])
			take_one(probes, counts, &half[i], i, share);
		probes->armed[i] = (struct armed){ .fd = -1 };
	}
	probes->is_armed = false;
	probes->figures.moments++;
	probes->group = (probes->group + 1) % HP_EVIDENCE_GROUPS;
}

uint64_t probes_due_ns(const struct probes *probes)
{
	return probes->figures.refusal && !probes->is_armed ? UINT64_MAX : probes->due_ns;
}

void probes_go(struct probes *probes, uint64_t now_ns)
{
	if (now_ns < probes_due_ns(probes))
		return;
	if (probes->is_armed) {
		end(probes);
	} else {
		begin(probes, now_ns);
		if (probes->is_armed) {
			probes->due_ns = now_ns + probe_moment_ns;
			return;
		}
	}
	/* At a random time of the next slot. */
	if (probes->slot_end_ns < now_ns)
		probes->slot_end_ns = now_ns;
	probes->due_ns = probes->slot_end_ns +
			 hp_random_between(&probes->random, 0, probe_slot_ns - probe_moment_ns);
	probes->slot_end_ns += probe_slot_ns;
}

void probes_finish(struct probes *probes)
{
	if (probes->is_armed)
		end(probes);
}

struct probes_figures probes_figures(const struct probes *probes)
{
	return probes->figures;
}

static void forget_places(struct probes *probes)
{
	for (size_t i = 0; i < PROBE_SLOTS; i++)
		image_release(probes->places[i].image);
}

void probes_destroy(struct probes *probes)
{
	if (!probes)
		return;
	probes_finish(probes);
	forget_places(probes);
	space_release(probes->space);
	free(probes->places);
	free(probes->lines);
	free(probes);
}

/* --- to the epoch ----------------------------------------------------------------------------- */

static bool list_place(struct counted *counted, const struct place *place)
{
	struct hp_counted item = {
		.kind = HP_COUNTED_PROBE,
		.at = { place->offset },
		.to = { place->offset },
	};
	struct hp_counted time = item;
	bool any = false;

	time.kind = HP_COUNTED_PROBE_TIME;
	place->image->references++;
	if (!counted_image(counted, place->image, &item.image))
		return false;
	item.to_image = time.image = time.to_image = item.image;
	for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i++) {
		item.counts[i] = place->sums.counts[i];
		time.counts[i] = (uint64_t)place->sums.times_ns[i];
		any |= item.counts[i] > 0;
	}
	/* A place that was never hit has only a time. */
	return (!any || hp_vector_push(&counted->items, item)) &&
	       hp_vector_push(&counted->items, time);
}

static uint64_t hits_of(const struct place *place)
{
	uint64_t hits = 0;

	for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i++)
		hits += place->sums.counts[i];
	return hits;
}

static struct hp_error *write_command(struct probes *probes, uint32_t command,
				      const struct names *commands, struct hp_window_evidence *sum,
				      uint64_t *kept)
{
	struct hp_window_stratum stratum = {
		.recording = probes->recording,
		.command = commands->text[command],
	};
	struct counted counted = { 0 };
	struct hp_error *error;

	for (size_t i = 0; i < PROBE_SLOTS; i++) {
		const struct place *place = &probes->places[i];

		if (!place->has_sums || place->command != command || is_bursty(place))
			continue;
		if (list_place(&counted, place))
			*kept += hits_of(place);
		else
			counted.dropped++;
	}
	error = counted_add(&counted, &stratum, &stratum.probes, &stratum.probe_count, sum);
	counted_clear(&counted);
	return error;
}

struct hp_error *probes_write(struct probes *probes, const struct names *commands,
			      struct hp_epoch_writer *writer)
{
	struct hp_window_evidence sum = { 0 };
	struct hp_error *error = NULL;
	uint64_t kept = 0;
	bool is_of[EVIDENCE_COMMANDS] = { false };

	for (size_t i = 0; i < PROBE_SLOTS; i++)
		if (probes->places[i].has_sums)
			is_of[probes->places[i].command] = true;
	for (uint32_t i = 0; i < EVIDENCE_COMMANDS && !error; i++)
		if (is_of[i])
			error = write_command(probes, i, commands, &sum, &kept);
	if (!error)
		error = hp_epoch_writer_evidence(writer, &sum);
	hp_window_evidence_clear(&sum);
	if (!error)
		probes->figures.kept += kept;
	for (size_t i = 0; i < PROBE_SLOTS && !error; i++) {
		probes->places[i].has_sums = false;
		probes->places[i].sums = (struct place_sums){ 0 };
	}
	return error;
}
