/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fills in the kernel's attributes (struct perf_event_attr) of each event. */
#include "opening.h"

#include <time.h>
#include <unistd.h>

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
	/* The dummy event has neither samples nor branches. */
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
	if (layout.stack_bytes)
		attr->sample_type |= PERF_SAMPLE_STACK_USER;
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->inherit = opening->options->threads[0] != -1;
	attr->watermark = 1;
	attr->wakeup_watermark =
		(uint32_t)(opening->sampler->ring_pages * (size_t)sysconf(_SC_PAGESIZE) / 2);
}

static void set_beginning(const struct opening *opening, bool starts_on,
			  struct perf_event_attr *attr)
{
	attr->disabled = opening->options->start_disabled || opening->options->enable_on_exec ||
			 !starts_on;
	attr->enable_on_exec = !opening->options->start_disabled &&
			       opening->options->enable_on_exec && starts_on;
}

static void set_event(const struct opening *opening, size_t slot, struct perf_event_attr *attr)
{
	struct hp_sampler *sampler = opening->sampler;
	size_t event = slot % sampler->events->count;
	bool starts_on = slot / sampler->events->count == sampler->stack &&
			 (!opening->options->on || opening->options->on[event]);

	hp_event_to_attr(&opening->events[event], attr);
	/* Cycles do not pass on an idle CPU. */
	attr->exclude_idle = hp_event_is_clock(&opening->events[event]);
	set_rate(&sampler->rates[event], &sampler->random, attr);
	set_beginning(opening, starts_on, attr);
}

static void set_software(const struct opening *opening, bool is_deep, struct perf_event_attr *attr)
{
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = is_deep ? PERF_COUNT_SW_CPU_CLOCK : PERF_COUNT_SW_DUMMY;
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	if (is_deep) {
		attr->sample_period = opening->options->deep_period_ns;
		set_beginning(opening, true, attr);
	}
}

struct perf_event_attr opening_attr(const struct opening *opening, size_t slot)
{
	struct hp_sampler *sampler = opening->sampler;
	bool is_deep = sampler_is_deep_slot(sampler, slot);
	struct perf_event_attr attr = { 0 };

	if (slot < sampler_event_slots(sampler))
		set_event(opening, slot, &attr);
	else
		set_software(opening, is_deep, &attr);
	set_common(opening, &attr);
	if (is_deep)
		attr.sample_stack_user = opening->options->deep_stack_bytes;
	else if (attr.sample_type & PERF_SAMPLE_STACK_USER)
		attr.sample_stack_user =
			sampler->stack_bytes[slot / sampler->events->count % sampler->stack_count];
	if (slot == (opening->dummy ? sampler->slots - 1 : 0))
		ask_for_side_band(sampler, &attr);
	return attr;
}
