/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tuning.h"

#include <hpcprof/base/search.h>
#include <hpcprof/pmu/open.h>
#include <hpcprof/pmu/registers.h>
#include <hpcprof/pmu/ring.h>
#include <hpcprof/sample/rate.h>

#include <alloca.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* --- measuring -------------------------------------------------------------------------------- */

struct probe {
	int fd;
	struct hp_ring ring;
};

/* Room for twice the samples of one stretch. */
static size_t probe_pages(uint32_t stack_bytes)
{
	size_t wanted = 2 * (COST_STRETCH_NS / COST_PERIOD_NS) * (size_t)stack_bytes;
	size_t pages = 1;

	while (pages * (size_t)sysconf(_SC_PAGESIZE) < wanted)
		pages *= 2;
	return pages;
}

static bool probe_open(const struct hp_event *event, uint32_t stack_bytes, struct probe *probe)
{
	struct perf_event_attr attr = { 0 };

	hp_event_to_attr(event, &attr);
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	attr.sample_period = event->unit == HP_UNIT_NS ? COST_PERIOD_NS : COST_PERIOD_CYCLES;
	attr.disabled = 1;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	if (stack_bytes) {
		attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr.sample_regs_user = hp_sampled_registers();
		attr.sample_stack_user = stack_bytes;
	}
	probe->fd = hp_perf_event_open(&attr, 0, -1, -1);
	if (probe->fd < 0)
		return false;
	if (hp_ring_map(&probe->ring, probe->fd, probe_pages(stack_bytes)) == 0)
		return true;
	close(probe->fd);
	return false;
}

static void probe_close(struct probe *probe)
{
	hp_ring_unmap(&probe->ring);
	close(probe->fd);
}

/*
 * A dependent chain takes the same time for the same work, whatever runs beside it. It is not
 * inlined, because the compiler might make different loops of the copies.
 */
static __attribute__((noinline)) uint64_t work(uint64_t steps)
{
	uint64_t value = steps;

	for (uint64_t i = 0; i < steps; i++) {
		value = value * 6364136223846793005u + 1;
		__asm__ volatile("" : "+r"(value));
	}
	return value;
}

static uint64_t time_of_work(uint64_t steps)
{
	uint64_t start = hp_clock_monotonic_ns();

	work(steps);
	return hp_clock_monotonic_ns() - start;
}

static uint64_t samples_in(struct probe *probe)
{
	const uint8_t *bytes;
	uint64_t count = 0;
	size_t size;

	hp_ring_begin(&probe->ring);
	for (; hp_ring_peek(&probe->ring, &bytes, &size) == HP_RING_RECORD; count++)
		hp_ring_next(&probe->ring, size);
	hp_ring_end(&probe->ring);
	return count;
}

static uint64_t count_of(const struct probe *probe)
{
	uint64_t count = 0;

	return read(probe->fd, &count, sizeof(count)) == sizeof(count) ? count : 0;
}

HP_ORDER_VALUES(compare_u64, uint64_t);

/* The lower quartile, since other programs only make a stretch longer. */
static double lower_quartile(uint64_t *values, size_t count)
{
	size_t quarter = count / 4;

	qsort(values, count, sizeof(*values), compare_u64);
	return (double)values[quarter];
}

static struct hp_sample_cost measure(const struct hp_event *event, struct probe *probe)
{
	struct hp_sample_cost cost = { 0 };
	uint64_t plain_ns[COST_ROUNDS];
	uint64_t sampled_ns[COST_ROUNDS];
	uint64_t samples[COST_ROUNDS];
	uint64_t units[COST_ROUNDS];
	uint64_t steps = 20000;
	double taken;

	steps = steps * COST_STRETCH_NS / (time_of_work(steps) + 1) + 1;
	for (size_t i = 0; i < COST_ROUNDS; i++) {
		plain_ns[i] = time_of_work(steps);
		units[i] = count_of(probe);
		ioctl(probe->fd, PERF_EVENT_IOC_ENABLE, 0);
		sampled_ns[i] = time_of_work(steps);
		ioctl(probe->fd, PERF_EVENT_IOC_DISABLE, 0);
		units[i] = count_of(probe) - units[i];
		samples[i] = samples_in(probe);
	}
	taken = lower_quartile(samples, COST_ROUNDS);
	if (taken < 1)
		return cost;
	cost.sample_ns = fmax(lower_quartile(sampled_ns, COST_ROUNDS) -
				      lower_quartile(plain_ns, COST_ROUNDS),
			      0) /
			 taken;
	cost.units_per_ns = event->unit == HP_UNIT_NS
				    ? 1
				    : lower_quartile(units, COST_ROUNDS) /
					      lower_quartile(sampled_ns, COST_ROUNDS);
	return cost;
}

struct hp_sample_cost hp_measure_cost(const struct hp_event *event, uint32_t stack_bytes)
{
	struct hp_sample_cost cost = { 0 };
	/* The kernel copies what there is. */
	char *stack = alloca(stack_bytes + 1);
	struct probe probe;

	memset(stack, 1, stack_bytes + 1);
	__asm__ volatile("" : : "r"(stack) : "memory");
	if ((event->unit != HP_UNIT_NS && event->unit != HP_UNIT_CYCLES) ||
	    !probe_open(event, stack_bytes, &probe))
		return cost;
	cost = measure(event, &probe);
	probe_close(&probe);
	return cost;
}

/* --- deciding --------------------------------------------------------------------------------- */

/*
 * For events that the kernel counts one by one: each is a sample if they are rare (as perf's users
 * expect of tracepoints), otherwise each hundredth. The kernel's frequency mode takes longer to
 * find their rate than most programs run. 0: a frequency is better.
 */
static uint64_t default_period(const struct hp_event *event)
{
	if (event->type == PERF_TYPE_TRACEPOINT || event->type == PERF_TYPE_BREAKPOINT)
		return 1;
	if (event->type != PERF_TYPE_SOFTWARE || event->unit == HP_UNIT_NS)
		return 0;
	if (event->config == PERF_COUNT_SW_PAGE_FAULTS ||
	    event->config == PERF_COUNT_SW_PAGE_FAULTS_MIN)
		return FAULTS_PER_SAMPLE;
	return 1;
}

enum hp_rate_limit hp_rate_decide(const struct hp_event *event, const struct hp_rate_wishes *wishes,
				  struct hp_sample_cost cost, struct hp_rate *rate)
{
	uint64_t period = event->period ? event->period : wishes->period;
	double hz = event->frequency_hz > 0 ? event->frequency_hz : wishes->frequency_hz;
	double units_per_s = cost.units_per_ns * 1e9;
	enum hp_rate_limit limit = HP_RATE_AS_WISHED;

	if (event->frequency_hz > 0 || (hz > 0 && !event->period))
		period = 0;
	if (!period && hz <= 0)
		period = default_period(event);
	*rate = (struct hp_rate){ .period = period };
	/* A period with an unknown rate is accepted; the kernel's own limit still holds. */
	if (period && units_per_s <= 0)
		return HP_RATE_AS_WISHED;
	if (period)
		hz = units_per_s / (double)period;
	else if (hz <= 0)
		hz = wishes->default_hz > 0 ? wishes->default_hz : HP_DEFAULT_FREQUENCY_HZ;
	if (!wishes->no_cap && hz > HP_FREQUENCY_CAP_HZ) {
		hz = HP_FREQUENCY_CAP_HZ;
		limit = HP_RATE_CAPPED;
	}
	if (wishes->overhead_percent > 0 && cost.sample_ns > 0) {
		double affordable_hz = wishes->overhead_percent / 100 * 1e9 / cost.sample_ns;

		if (hz > affordable_hz) {
			hz = fmax(affordable_hz, 1);
			limit = HP_RATE_IN_BUDGET;
		}
	}
	rate->frequency_hz = hz;
	if (units_per_s <= 0)
		rate->kernel_frequency = true;
	else if (!period || limit != HP_RATE_AS_WISHED)
		rate->period = (uint64_t)fmax(units_per_s / hz, 1);
	return limit;
}

static uint64_t draw_within(const struct hp_rate *rate, uint64_t parts, struct hp_random *random)
{
	if (rate->period < SMALLEST_RANDOMISED_PERIOD)
		return rate->period;
	return hp_random_between(random, rate->period - rate->period / parts,
				 rate->period + rate->period / parts);
}

uint64_t hp_rate_draw(const struct hp_rate *rate, struct hp_random *random)
{
	return draw_within(rate, PERIOD_PARTS, random);
}

uint64_t hp_rate_draw_first(const struct hp_rate *rate, struct hp_random *random)
{
	return draw_within(rate, FIRST_PARTS, random);
}

uint64_t hp_rate_count(const struct hp_rate *rate, uint64_t period, struct hp_random *random)
{
	uint64_t mean = rate->period;
	uint64_t difference = period > mean ? period - mean : mean - period;

	if (difference <= mean / FIRST_PARTS || period > 2 * mean)
		return 1;
	return (period + hp_random_between(random, 0, mean - 1)) / mean;
}

uint64_t hp_rate_mirror(const struct hp_rate *rate, uint64_t period)
{
	return 2 * rate->period - period;
}

uint64_t hp_rate_period_class(uint64_t period)
{
	/* Small periods are exact: rounding to integers would move them to another class. */
	if (period < EXACT_PERIODS)
		return period ? period : 1;
	return (uint64_t)llround(
		exp2(round(log2((double)period) * classes_per_octave) / classes_per_octave));
}
