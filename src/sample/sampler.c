/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tuning.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/cpu_list.h>
#include <hpcprof/base/thread.h>
#include <hpcprof/pmu/open.h>
#include <hpcprof/sample/sampler.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

struct event_id {
	uint64_t id;
	size_t event;
};

/* Everything sampler_open's steps share. */
struct opening {
	struct hp_sampler *sampler;
	const struct hp_sampler_options *options;
	const struct hp_machine *machine;
	struct hp_event *events; /* resolved as they open: precise levels */
	int *cpus;
	size_t cpu_count;
	bool dummy;
};

static int *fd_at(const struct opening *opening, size_t thread, size_t cpu, size_t event)
{
	struct hp_sampler *sampler = opening->sampler;

	return &sampler->fds[(thread * opening->cpu_count + cpu) * sampler->events_each + event];
}

/* Offline, an event would not open, and the kernel does not say whose fault that is. */
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

/* --- attributes ------------------------------------------------------------------------------- */

static void ask_for_side_band(const struct hp_sampler *sampler, struct perf_event_attr *attr)
{
	attr->mmap = 1;
	attr->mmap2 = 1;
	attr->comm = 1;
	attr->comm_exec = 1;
	attr->task = 1;
	attr->build_id = !sampler->no_build_ids;
}

static void set_rate(const struct hp_rate *rate, struct hp_random *random,
		     struct perf_event_attr *attr)
{
	if (rate->kernel_frequency) {
		attr->freq = 1;
		attr->sample_freq = (uint64_t)rate->frequency_hz;
	} else {
		attr->sample_period = hp_rate_draw_first(rate, random);
	}
}

static void set_common(const struct opening *opening, struct perf_event_attr *attr)
{
	struct hp_record_layout layout = opening->sampler->rings.layout;

	attr->size = sizeof(*attr);
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	if (layout.identifier)
		attr->sample_type |= PERF_SAMPLE_IDENTIFIER;
	if (layout.period)
		attr->sample_type |= PERF_SAMPLE_PERIOD;
	if (layout.callchain) {
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
		attr->exclude_callchain_user = opening->options->no_user_callchain;
		attr->exclude_callchain_kernel = attr->exclude_kernel;
	}
	/* The dummy has no samples, and no branches. */
	if (layout.branches && attr->type != PERF_TYPE_SOFTWARE) {
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = PERF_SAMPLE_BRANCH_USER |
					   (opening->options->call_branches
						    ? PERF_SAMPLE_BRANCH_CALL_STACK
						    : PERF_SAMPLE_BRANCH_ANY);
	}
	if (layout.registers) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER;
		attr->sample_regs_user = layout.registers;
	}
	if (layout.stack_bytes) {
		attr->sample_type |= PERF_SAMPLE_STACK_USER;
		attr->sample_stack_user = layout.stack_bytes;
	}
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->inherit = opening->options->threads[0] != -1;
	attr->watermark = 1;
	attr->wakeup_watermark =
		(uint32_t)(opening->sampler->ring_pages * (size_t)sysconf(_SC_PAGESIZE) / 2);
}

static bool is_deep_event(const struct opening *opening, size_t event)
{
	return opening->sampler->has_deep && event == opening->options->events->count;
}

static void set_beginning(const struct opening *opening, bool starts_on,
			  struct perf_event_attr *attr)
{
	attr->disabled = opening->options->start_disabled || opening->options->enable_on_exec ||
			 !starts_on;
	attr->enable_on_exec = !opening->options->start_disabled &&
			       opening->options->enable_on_exec && starts_on;
}

static struct perf_event_attr attr_of(const struct opening *opening, size_t event)
{
	struct hp_sampler *sampler = opening->sampler;
	struct perf_event_attr attr = { 0 };

	if (event < opening->options->events->count) {
		bool starts_on = !opening->options->on || opening->options->on[event];

		hp_event_to_attr(&opening->events[event], &attr);
		/* Cycles do not pass on a CPU that has nothing to do either. */
		attr.exclude_idle = hp_event_is_clock(&opening->events[event]);
		set_rate(&sampler->rates[event], &sampler->random, &attr);
		set_beginning(opening, starts_on, &attr);
	} else {
		bool is_deep = is_deep_event(opening, event);

		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = is_deep ? PERF_COUNT_SW_CPU_CLOCK : PERF_COUNT_SW_DUMMY;
		attr.exclude_kernel = 1;
		attr.exclude_hv = 1;
		if (is_deep) {
			attr.sample_period = opening->options->deep_period_ns;
			set_beginning(opening, true, &attr);
		}
	}
	set_common(opening, &attr);
	if (is_deep_event(opening, event))
		attr.sample_stack_user = opening->options->deep_stack_bytes;
	if (event == (opening->dummy ? sampler->events_each - 1 : 0))
		ask_for_side_band(sampler, &attr);
	return attr;
}

/* --- opening ---------------------------------------------------------------------------------- */

/*
 * What the kernel may dislike without the event being impossible, given up one at a time. Returns
 * true when the open is worth another try.
 */
static bool relax(struct opening *opening, size_t event, const struct perf_event_attr *attr,
		  int failure)
{
	if (failure != EINVAL && failure != EOPNOTSUPP && failure != ENOENT && failure != E2BIG)
		return false;
	if (attr->precise_ip && opening->events[event].best_precise) {
		opening->events[event].precise--;
		return true;
	}
	if (attr->build_id) {
		opening->sampler->no_build_ids = true; /* before Linux 5.12 */
		return true;
	}
	return false;
}

static int group_leader(const struct opening *opening, size_t thread, size_t cpu, size_t event)
{
	const struct hp_event_list *events = opening->options->events;

	if (event >= events->count || events->events[event].group < 0)
		return -1;
	for (size_t i = 0; i < event; i++) {
		if (events->events[i].group == events->events[event].group &&
		    (!opening->options->turn_of ||
		     (opening->options->turn_of[i] == opening->options->turn_of[event] &&
		      hp_event_same_pmu(&events->events[i], &events->events[event]))))
			return *fd_at(opening, thread, cpu, i);
	}
	return -1;
}

/* A thread that ended meanwhile and a CPU that went offline are not errors. */
static bool is_gone(const struct opening *opening, size_t event, int failure)
{
	/* There are paths without deep samples, too. */
	if (is_deep_event(opening, event))
		return true;
	return (failure == ESRCH && opening->options->thread_count > 1) || failure == ENODEV;
}

static struct hp_error *open_one(struct opening *opening, size_t thread, size_t cpu, size_t event)
{
	pid_t pid = opening->options->threads[thread];
	int group = group_leader(opening, thread, cpu, event);
	int *fd = fd_at(opening, thread, cpu, event);
	struct perf_event_attr attr;

	do {
		attr = attr_of(opening, event);
		/* Members of a group follow their leader. */
		if (group >= 0) {
			attr.disabled = 0;
			attr.enable_on_exec = 0;
		}
		*fd = hp_perf_event_open(&attr, pid, opening->cpus[cpu], group);
	} while (*fd < 0 && relax(opening, event, &attr, errno));
	if (*fd >= 0 || is_gone(opening, event, errno))
		return NULL;
	if (event >= opening->options->events->count)
		return hp_error_create_errno(errno, "opening the side-band event");
	return hp_machine_open_error(opening->machine, &opening->events[event], pid, errno);
}

static struct hp_error *open_all(struct opening *opening)
{
	struct hp_error *error = NULL;
	bool any = false;

	for (size_t thread = 0; thread < opening->options->thread_count; thread++) {
		for (size_t cpu = 0; cpu < opening->cpu_count; cpu++) {
			for (size_t i = 0; i < opening->sampler->events_each; i++) {
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

/* The first open event of a CPU: the one whose ring the others share. */
static int ring_owner(const struct opening *opening, size_t cpu)
{
	for (size_t thread = 0; thread < opening->options->thread_count; thread++) {
		for (size_t i = 0; i < opening->sampler->events_each; i++) {
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
	sampler->rings_shrunk = sampler->ring_pages < wanted;
	return NULL;
}

static struct hp_error *share_rings(struct opening *opening)
{
	for (size_t cpu = 0; cpu < opening->cpu_count; cpu++) {
		int owner = ring_owner(opening, cpu);

		for (size_t thread = 0; thread < opening->options->thread_count; thread++) {
			for (size_t i = 0; i < opening->sampler->events_each; i++) {
				int fd = *fd_at(opening, thread, cpu, i);

				if (fd >= 0 && fd != owner &&
				    ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, owner) < 0)
					return hp_error_create_errno(errno, "sharing a ring");
			}
		}
	}
	return NULL;
}

static size_t default_ring_pages(size_t cpus)
{
	size_t limit = ALL_RINGS_BYTES / (size_t)sysconf(_SC_PAGESIZE) / (cpus ? cpus : 1);
	size_t pages = DEFAULT_RING_PAGES;

	while (pages > limit && pages > 1)
		pages /= 2;
	return pages;
}

/* --- event ids -------------------------------------------------------------------------------- */

static int compare_ids(const void *left, const void *right)
{
	const struct event_id *a = left;
	const struct event_id *b = right;

	return (a->id > b->id) - (a->id < b->id);
}

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
		id->event = i % sampler->events_each;
		sampler->id_count++;
	}
	qsort(sampler->ids, sampler->id_count, sizeof(*sampler->ids), compare_ids);
	return NULL;
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
	return bsearch(&wanted, sampler->ids, sampler->id_count, sizeof(wanted), compare_ids);
}

bool hp_sampler_is_deep(const struct hp_sampler *sampler, const struct hp_record *record)
{
	const struct event_id *found = sampler->has_deep ? find_id(sampler, record) : NULL;

	return found && found->event == sampler->events->count;
}

size_t hp_sampler_event_of(const struct hp_sampler *sampler, const struct hp_record *record)
{
	const struct event_id *found = find_id(sampler, record);

	/* The dummy has no samples, but it can lose records: they are put to the first event. */
	return found && found->event < sampler->events->count ? found->event : 0;
}

/* --- all together ----------------------------------------------------------------------------- */

static struct hp_error *prepare(struct opening *opening)
{
	const struct hp_sampler_options *options = opening->options;
	struct hp_sampler *sampler = opening->sampler;
	struct hp_record_layout layout = { 0 };
	struct hp_ring *rings;

	/* Something that is never switched off has to carry the side-band. */
	opening->dummy = options->start_disabled || options->on;
	sampler->has_deep = options->deep_stack_bytes &&
			    options->thread_count * opening->cpu_count <= MOST_DEEP;
	sampler->events_each = options->events->count + sampler->has_deep + opening->dummy;
	layout.identifier = sampler->events_each > 1;
	for (size_t i = 0; i < options->events->count; i++)
		layout.period |= options->rates[i].period != 1;
	layout.callchain = options->callchain;
	layout.branches = options->branches;
	layout.registers = options->registers;
	layout.stack_bytes = options->stack_bytes;
	sampler->of_threads = options->threads[0] != -1;
	sampler->ring_pages = options->ring_pages ? options->ring_pages
						  : default_ring_pages(opening->cpu_count);
	sampler->fd_count = options->thread_count * opening->cpu_count * sampler->events_each;
	sampler->fds = malloc((sampler->fd_count + 1) * sizeof(*sampler->fds));
	sampler->drawn = calloc(sampler->fd_count + 1, sizeof(*sampler->drawn));
	sampler->redraws = calloc(options->events->count + 1, sizeof(*sampler->redraws));
	rings = calloc(opening->cpu_count + 1, sizeof(*rings));
	if (!sampler->fds || !sampler->drawn || !sampler->redraws || !rings) {
		free(rings);
		sampler->fd_count = 0;
		return hp_error_create_no_memory();
	}
	for (size_t i = 0; i < sampler->fd_count; i++)
		sampler->fds[i] = -1;
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
	/* Ours alone: a command that we record was forked before. */
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

/* A part of the descriptors, and the thread that closes them. */
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

/* By several threads where there are many. The last part is the caller's. */
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
	*sampler = (struct hp_sampler){ 0 };
}

void hp_sampler_switch(struct hp_sampler *sampler, size_t event, bool on)
{
	unsigned long request = on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;

	for (size_t at = event; at < sampler->fd_count; at += sampler->events_each)
		if (sampler->fds[at] >= 0)
			ioctl(sampler->fds[at], request, 0);
}

void hp_sampler_enable(struct hp_sampler *sampler)
{
	for (size_t i = 0; i < sampler->events->count; i++)
		if (!sampler->on || sampler->on[i])
			hp_sampler_switch(sampler, i, true);
	if (sampler->has_deep)
		hp_sampler_switch(sampler, sampler->events->count, true);
}

void hp_sampler_disable(struct hp_sampler *sampler)
{
	for (size_t i = 0; i < sampler->events->count + sampler->has_deep; i++)
		hp_sampler_switch(sampler, i, false);
}

/* The kernel looks for each thread's event on the CPU that the thread was on last: for 5,000 threads that
 * takes longer than all the rest. A ring stops at once. */
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

struct hp_sampler_count hp_sampler_read(const struct hp_sampler *sampler, size_t event)
{
	struct hp_sampler_count sum = { 0 };

	for (size_t at = event; at < sampler->fd_count; at += sampler->events_each) {
		struct hp_sampler_count one;

		if (sampler->fds[at] < 0 ||
		    read(sampler->fds[at], &one, sizeof(one)) != sizeof(one))
			continue;
		sum.value += one.value;
		sum.enabled_ns += one.enabled_ns;
		sum.running_ns += one.running_ns;
	}
	return sum;
}

void hp_sampler_times(const struct hp_sampler *sampler, size_t event, uint64_t *enabled_ns,
		      uint64_t *running_ns)
{
	struct hp_sampler_count sum = hp_sampler_read(sampler, event);

	*enabled_ns = sum.enabled_ns;
	*running_ns = sum.running_ns;
	/* A thread's event for one CPU is enabled while the thread is on any of them. But of
	 * children that have ended the kernel (6.18) leaves out CPUs where they never were: then
	 * this is too little, and a lack of counters may go unnoticed; none is ever made up. */
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
	size_t count = sampler->fd_count / sampler->events_each;
	size_t last = redraw->at + REDRAWS_A_TIME < count ? redraw->at + REDRAWS_A_TIME : count;

	if (rate->kernel_frequency || !redraw_is_due(sampler, event, now_ns, samples))
		return;
	for (; redraw->at < last; redraw->at++)
		redraw_one(sampler, event, redraw->mirrored,
			   redraw->at * sampler->events_each + event);
	if (redraw->at < count)
		return;
	redraw->at = 0;
	redraw->mirrored = !redraw->mirrored;
	redraw->samples = samples;
	if (rate->frequency_hz > 0)
		redraw->due_ns =
			now_ns + (uint64_t)(SAMPLES_BETWEEN_REDRAWS * 1e9 / rate->frequency_hz);
}
