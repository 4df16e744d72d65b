/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "matching.h"

#include <hpcprof/base/bytes.h>
#include <hpcprof/base/number.h>
#include <hpcprof/base/vector.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	PAGE_BYTES = 4096,
	MOST_PAGES = 64,
	LEAST_PAGES = 2,
	REGISTERS = 18,
	RECORD_LIMIT = 4096,
	/* <asm/perf_regs.h>: ax to flags, and r8 to r15 */
	REGISTER_MASK = 0xff03ff,
	ABI_64 = 2,
};

/* Where the kernel's order has what instructions number so. */
enum { PERF_IP = 8, PERF_FLAGS = 9 };
static const uint8_t general_at[16] = { 0, 2, 3, 1, 7, 6, 4, 5, 10, 11, 12, 13, 14, 15, 16, 17 };

void matching_init(struct matching *matching)
{
	*matching = (struct matching){ .fd = -1 };
}

void matching_close(struct matching *matching)
{
	if (matching->ring)
		munmap(matching->ring, PAGE_BYTES + matching->data_bytes);
	if (matching->fd >= 0)
		close(matching->fd);
	matching->ring = NULL;
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
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = MATCH_PERIOD_NS,
		.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = REGISTER_MASK,
		.sample_stack_user = MATCH_STACK_BYTES,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};

	matching_close(matching);
	matching->fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (matching->fd < 0)
		return hp_error_create_errno(errno, "sampling a thread's registers");
	/* As much as the budget of locked memory has left. */
	for (size_t pages = MOST_PAGES; pages >= LEAST_PAGES; pages /= 2) {
		void *ring = mmap(NULL, (1 + pages) * PAGE_BYTES, PROT_READ | PROT_WRITE,
				  MAP_SHARED, matching->fd, 0);

		if (ring == MAP_FAILED)
			continue;
		matching->ring = ring;
		matching->data_bytes = pages * PAGE_BYTES;
		return NULL;
	}
	return hp_error_advise(
		hp_error_create_errno(errno, "no room in memory for a thread's registers"),
		"record with smaller rings: -m 16");
}

bool matching_enable(struct matching *matching)
{
	return ioctl(matching->fd, PERF_EVENT_IOC_ENABLE, 0) == 0;
}

/* --- records ---------------------------------------------------------------------------------- */

static bool take(struct hp_reader *reader, void *into, size_t size)
{
	const uint8_t *bytes;

	if (!hp_read_bytes(reader, size, &bytes))
		return false;
	memcpy(into, bytes, size);
	return true;
}

/* What was dumped, of which `filled` bytes are of the stack. */
static bool take_stack(struct hp_reader *reader, struct match_sample *sample)
{
	const uint8_t *bytes;
	uint64_t size;
	uint64_t filled;

	sample->stack_bytes = 0;
	if (!take(reader, &size, sizeof(size)))
		return false;
	if (!size)
		return true;
	if (size > MATCH_STACK_BYTES || !hp_read_bytes(reader, size, &bytes) ||
	    !take(reader, &filled, sizeof(filled)))
		return false;
	if (filled > size)
		return false;
	memcpy(sample->stack, bytes, filled);
	sample->stack_bytes = (uint32_t)filled;
	return true;
}

static bool take_sample(struct matching *matching, struct hp_reader *reader)
{
	uint64_t registers[REGISTERS];
	struct match_sample *sample;
	uint64_t time_ns;
	uint64_t abi;

	if (!take(reader, &time_ns, sizeof(time_ns)) || !take(reader, &abi, sizeof(abi)))
		return false;
	matching->tick++;
	/* Without registers of 64-bit code it is a tick and no more. */
	if (abi != ABI_64)
		return true;
	if (!take(reader, registers, sizeof(registers)) ||
	    !hp_grow((void **)&matching->samples, &matching->capacity, matching->count + 1,
		     sizeof(*sample)))
		return false;
	sample = &matching->samples[matching->count];
	sample->time_ns = time_ns;
	sample->tick = matching->tick - 1;
	for (size_t i = 0; i < HP_ARRAY_COUNT(general_at); i++)
		sample->general[i] = registers[general_at[i]];
	sample->ip = registers[PERF_IP];
	sample->flags = registers[PERF_FLAGS];
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

	if (!take(&reader, &header, sizeof(header)) || header.size != size)
		return false;
	switch (header.type) {
	case PERF_RECORD_SAMPLE:
		return take_sample(matching, &reader);
	case PERF_RECORD_LOST:
		if (!take(&reader, &id, sizeof(id)) || !take(&reader, &lost, sizeof(lost)))
			return false;
		matching->tick += lost;
		return true;
	case PERF_RECORD_LOST_SAMPLES:
		if (!take(&reader, &lost, sizeof(lost)))
			return false;
		matching->tick += lost;
		return true;
	default:
		return true;
	}
}

/* --- the ring --------------------------------------------------------------------------------- */

/* Copies `size` bytes at `position` of a ring; they may wrap. */
static void ring_copy(const struct matching *matching, uint64_t position, void *into, size_t size)
{
	const uint8_t *data = (const uint8_t *)matching->ring + PAGE_BYTES;
	size_t start = (size_t)(position & (matching->data_bytes - 1));
	size_t first = matching->data_bytes - start < size ? matching->data_bytes - start : size;

	memcpy(into, data + start, first);
	memcpy((uint8_t *)into + first, data, size - first);
}

struct hp_error *matching_drain(struct matching *matching)
{
	struct perf_event_mmap_page *control = matching->ring;
	uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = control->data_tail;

	/* More than fits is no position of the kernel's. */
	if (head - tail > matching->data_bytes)
		return hp_error_create(HP_ERROR_DAMAGED, "a ring's head is beyond its end");
	while (tail < head) {
		struct perf_event_header header;
		uint8_t record[RECORD_LIMIT];

		if (head - tail < sizeof(header))
			break;
		ring_copy(matching, tail, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > head - tail)
			break;
		if (header.size <= sizeof(record)) {
			ring_copy(matching, tail, record, header.size);
			matching->damaged += !matching_take(matching, record, header.size);
		}
		tail += header.size;
	}
	matching->damaged += tail < head;
	__atomic_store_n(&control->data_tail, head, __ATOMIC_RELEASE);
	return NULL;
}
