/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "state_sampler.h"

#include <hpcprof/base/bytes.h>
#include <hpcprof/base/thread.h>
#include <hpcprof/base/vector.h>
#include <hpcprof/pmu/open.h>
#include <hpcprof/pmu/registers.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { ABI_64 = 2 };

void state_sampler_init(struct state_sampler *sampler)
{
	*sampler = (struct state_sampler){ .fd = -1 };
}

void state_sampler_end(struct state_sampler *sampler)
{
	hp_ring_unmap(&sampler->ring);
	if (sampler->fd >= 0)
		close(sampler->fd);
	sampler->fd = -1;
}

void state_sampler_close(struct state_sampler *sampler)
{
	state_sampler_end(sampler);
	sampler->count = 0;
	sampler->tick = 0;
	sampler->waits = 0;
}

void state_sampler_clear(struct state_sampler *sampler)
{
	state_sampler_close(sampler);
	free(sampler->samples);
	state_sampler_init(sampler);
}

struct hp_error *state_sampler_open(struct state_sampler *sampler, pid_t pid, pid_t tid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = MATCH_PERIOD_NS,
		.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = hp_sampled_registers(),
		.sample_stack_user = MATCH_STACK_BYTES,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	int failure = 0;

	state_sampler_close(sampler);
	sampler->pid = pid;
	sampler->tid = tid;
	sampler->fd = hp_perf_event_open(&attr, tid, -1, -1);
	if (sampler->fd < 0)
		return hp_error_create_errno(errno, "sampling a thread's registers");
	/* As large as the limit of locked memory permits. */
	for (size_t pages = MATCH_RING_MOST_PAGES; pages; pages /= 2) {
		failure = hp_ring_map(&sampler->ring, sampler->fd, pages);
		if (!failure)
			return NULL;
	}
	return hp_error_advise(
		hp_error_create_errno(failure, "no room in memory for a thread's registers"),
		"record with smaller rings: -m 16");
}

bool state_sampler_enable(struct state_sampler *sampler)
{
	/* If it fails, all waits are of the window. */
	(void)hp_thread_waits(sampler->pid, sampler->tid, &sampler->waits);
	return ioctl(sampler->fd, PERF_EVENT_IOC_ENABLE, 0) == 0;
}

void state_sampler_stopped(struct state_sampler *sampler)
{
	sampler->waits++;
}

bool state_sampler_has_waited(const struct state_sampler *sampler)
{
	uint64_t waits;

	return !hp_thread_waits(sampler->pid, sampler->tid, &waits) || waits > sampler->waits;
}

uint64_t state_sampler_disable(struct state_sampler *sampler)
{
	uint64_t cpu_ns = 0;
	uint64_t ticks;

	hp_error_destroy(state_sampler_drain(sampler));
	if (read(sampler->fd, &cpu_ns, sizeof(cpu_ns)) != sizeof(cpu_ns) ||
	    ioctl(sampler->fd, PERF_EVENT_IOC_DISABLE, 0) < 0)
		return 0;
	ticks = cpu_ns / MATCH_PERIOD_NS;
	if (ticks > sampler->tick)
		cpu_ns -= (ticks - sampler->tick) * MATCH_PERIOD_NS;
	return cpu_ns;
}

/* --- records ---------------------------------------------------------------------------------- */

/* The stack that was dumped, of which `filled` bytes are valid. */
static bool take_stack(struct hp_reader *reader, struct match_sample *sample)
{
	const uint8_t *bytes;
	uint64_t size;
	uint64_t filled;

	sample->stack_bytes = 0;
	if (!hp_read_copy(reader, &size, sizeof(size)))
		return false;
	if (!size)
		return true;
	if (size > MATCH_STACK_BYTES || !hp_read_bytes(reader, size, &bytes) ||
	    !hp_read_copy(reader, &filled, sizeof(filled)))
		return false;
	if (filled > size)
		return false;
	memcpy(sample->stack, bytes, filled);
	sample->stack_bytes = (uint32_t)filled;
	return true;
}

static bool take_sample(struct state_sampler *sampler, struct hp_reader *reader)
{
	uint64_t registers[HP_SAMPLED_REGISTERS];
	struct match_sample *sample;
	uint64_t time_ns;
	uint64_t abi;

	if (!hp_read_copy(reader, &time_ns, sizeof(time_ns)) ||
	    !hp_read_copy(reader, &abi, sizeof(abi)))
		return false;
	sampler->tick++;
	/* A sample without registers of 64-bit code only counts as a tick. */
	if (abi != ABI_64)
		return true;
	if (!hp_read_copy(reader, registers, sizeof(registers)) ||
	    !hp_grow((void **)&sampler->samples, &sampler->capacity, sampler->count + 1,
		     sizeof(*sample)))
		return false;
	sample = &sampler->samples[sampler->count];
	sample->time_ns = time_ns;
	sample->follows_wait = false;
	sample->tick = sampler->tick - 1;
	for (unsigned i = 0; i < HP_SAMPLED_GENERAL; i++)
		sample->general[i] = registers[hp_sampled_register_place(i)];
	sample->ip = registers[hp_sampled_register_place(HP_SAMPLED_ADDRESS)];
	sample->flags = registers[hp_sampled_register_place(HP_SAMPLED_FLAGS)];
	if (!take_stack(reader, sample))
		return false;
	sampler->count++;
	return true;
}

bool state_sampler_take(struct state_sampler *sampler, const uint8_t *record, size_t size)
{
	struct hp_reader reader = hp_reader_over(record, size);
	struct perf_event_header header;
	uint64_t id;
	uint64_t lost;

	if (!hp_read_copy(&reader, &header, sizeof(header)) || header.size != size)
		return false;
	switch (header.type) {
	case PERF_RECORD_SAMPLE:
		return take_sample(sampler, &reader);
	case PERF_RECORD_LOST:
		if (!hp_read_copy(&reader, &id, sizeof(id)) ||
		    !hp_read_copy(&reader, &lost, sizeof(lost)))
			return false;
		sampler->tick += lost;
		return true;
	case PERF_RECORD_LOST_SAMPLES:
		if (!hp_read_copy(&reader, &lost, sizeof(lost)))
			return false;
		sampler->tick += lost;
		return true;
	default:
		return true;
	}
}

/* --- the ring --------------------------------------------------------------------------------- */

struct hp_error *state_sampler_drain(struct state_sampler *sampler)
{
	struct hp_ring *ring = &sampler->ring;
	bool is_sound = hp_ring_begin(ring);
	enum hp_ring_peek found;
	const uint8_t *record;
	size_t size;
	size_t known = sampler->count;
	bool has_waited;

	while ((found = hp_ring_peek(ring, &record, &size)) == HP_RING_RECORD) {
		sampler->damaged += !state_sampler_take(sampler, record, size);
		hp_ring_next(ring, size);
	}
	hp_ring_end(ring);
	has_waited = sampler->count > known && state_sampler_has_waited(sampler);
	for (size_t i = known; i < sampler->count; i++)
		sampler->samples[i].follows_wait = has_waited;
	/* Then the number of lost ticks is unknown. */
	if (!is_sound || found == HP_RING_DAMAGED)
		return hp_error_create(HP_ERROR_DAMAGED,
				       "the kernel's ring of registers is damaged");
	return NULL;
}
