/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "matching.h"

#include <hpcprof/base/bytes.h>
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

enum {
	MOST_PAGES = 64,
	LEAST_PAGES = 2,
	ABI_64 = 2,
};

void matching_init(struct matching *matching)
{
	*matching = (struct matching){ .fd = -1 };
}

void matching_close(struct matching *matching)
{
	hp_ring_unmap(&matching->ring);
	if (matching->fd >= 0)
		close(matching->fd);
	matching->fd = -1;
	matching->count = 0;
	matching->tick = 0;
}

void matching_clear(struct matching *matching)
{
	matching_close(matching);
	free(matching->samples);
	matching_init(matching);
}

struct hp_error *matching_open(struct matching *matching, pid_t tid)
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

	matching_close(matching);
	matching->fd = hp_perf_event_open(&attr, tid, -1, -1);
	if (matching->fd < 0)
		return hp_error_create_errno(errno, "sampling a thread's registers");
	/* As much as the budget of locked memory has left. */
	for (size_t pages = MOST_PAGES; pages >= LEAST_PAGES; pages /= 2) {
		failure = hp_ring_map(&matching->ring, matching->fd, pages);
		if (!failure)
			return NULL;
	}
	return hp_error_advise(
		hp_error_create_errno(failure, "no room in memory for a thread's registers"),
		"record with smaller rings: -m 16");
}

bool matching_enable(struct matching *matching)
{
	return ioctl(matching->fd, PERF_EVENT_IOC_ENABLE, 0) == 0;
}

/* --- records ---------------------------------------------------------------------------------- */

/* What was dumped, of which `filled` bytes are of the stack. */
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

static bool take_sample(struct matching *matching, struct hp_reader *reader)
{
	uint64_t registers[HP_SAMPLED_REGISTERS];
	struct match_sample *sample;
	uint64_t time_ns;
	uint64_t abi;

	if (!hp_read_copy(reader, &time_ns, sizeof(time_ns)) ||
	    !hp_read_copy(reader, &abi, sizeof(abi)))
		return false;
	matching->tick++;
	/* Without registers of 64-bit code it is a tick and no more. */
	if (abi != ABI_64)
		return true;
	if (!hp_read_copy(reader, registers, sizeof(registers)) ||
	    !hp_grow((void **)&matching->samples, &matching->capacity, matching->count + 1,
		     sizeof(*sample)))
		return false;
	sample = &matching->samples[matching->count];
	sample->time_ns = time_ns;
	sample->tick = matching->tick - 1;
	for (unsigned i = 0; i < HP_SAMPLED_GENERAL; i++)
		sample->general[i] = registers[hp_sampled_register_place(i)];
	sample->ip = registers[hp_sampled_register_place(HP_SAMPLED_ADDRESS)];
	sample->flags = registers[hp_sampled_register_place(HP_SAMPLED_FLAGS)];
	if (!take_stack(reader, sample))
		return false;
	matching->count++;
	return true;
}

bool matching_take(struct matching *matching, const uint8_t *record, size_t size)
{
	struct hp_reader reader = hp_reader_over(record, size);
	struct perf_event_header header;
	uint64_t id;
	uint64_t lost;

	if (!hp_read_copy(&reader, &header, sizeof(header)) || header.size != size)
		return false;
	switch (header.type) {
	case PERF_RECORD_SAMPLE:
		return take_sample(matching, &reader);
	case PERF_RECORD_LOST:
		if (!hp_read_copy(&reader, &id, sizeof(id)) ||
		    !hp_read_copy(&reader, &lost, sizeof(lost)))
			return false;
		matching->tick += lost;
		return true;
	case PERF_RECORD_LOST_SAMPLES:
		if (!hp_read_copy(&reader, &lost, sizeof(lost)))
			return false;
		matching->tick += lost;
		return true;
	default:
		return true;
	}
}

/* --- the ring --------------------------------------------------------------------------------- */

struct hp_error *matching_drain(struct matching *matching)
{
	struct hp_ring *ring = &matching->ring;
	bool is_sound = hp_ring_begin(ring);
	enum hp_ring_peek found;
	const uint8_t *record;
	size_t size;

	while ((found = hp_ring_peek(ring, &record, &size)) == HP_RING_RECORD) {
		matching->damaged += !matching_take(matching, record, size);
		hp_ring_next(ring, size);
	}
	hp_ring_end(ring);
	/* Nobody knows then how many ticks were in there. */
	if (!is_sound || found == HP_RING_DAMAGED)
		return hp_error_create(HP_ERROR_DAMAGED,
				       "the kernel's ring of registers is damaged");
	return NULL;
}
