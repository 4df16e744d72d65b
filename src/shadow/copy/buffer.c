/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "buffer.h"

#include "../tuning.h"

#include <hpcprof/base/number.h>
#include <hpcprof/base/thread.h>

#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
	PAGE_BYTES = 4096,
	LEAST_PRIORITY = 19, /* nice(2) */
};

void buffer_release(struct buffer *buffer)
{
	if (buffer->at)
		munmap(buffer->at, buffer->bytes);
	*buffer = (struct buffer){ 0 };
}

void buffer_adopt(struct buffer *buffer, uint8_t *memory, uint64_t bytes)
{
	buffer_release(buffer);
	*buffer = (struct buffer){ .at = memory, .bytes = bytes };
}

/* Memory that a thread of the lowest priority fills, so that the kernel gives it. */
struct filling {
	uint8_t *at;
	uint64_t bytes;
	uint64_t done; /* atomic, as is the next */
	bool is_over;
};

static void *fill(void *context)
{
	struct filling *filling = context;
	uint64_t at = 0;

	setpriority(PRIO_PROCESS, (id_t)gettid(), LEAST_PRIORITY);
	while (at < filling->bytes && !__atomic_load_n(&filling->is_over, __ATOMIC_RELAXED)) {
		uint64_t part = filling->bytes - at;

		if (part > FILL_BYTES_AT_ONCE)
			part = FILL_BYTES_AT_ONCE;
		memset(filling->at + at, 0, part);
		at += part;
		__atomic_store_n(&filling->done, at, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* How much of it there is then. */
static uint64_t touch_aside(uint8_t *at, uint64_t bytes, int stop_fd)
{
	struct filling filling = { .at = at, .bytes = bytes };
	uint64_t end_ns = hp_clock_monotonic_ns() + FILL_PATIENCE_NS;
	struct pollfd poll_stop = { .fd = stop_fd, .events = POLLIN };
	pthread_t thread;

	if (hp_thread_start(&thread, fill, &filling) != 0)
		return 0;
	while (__atomic_load_n(&filling.done, __ATOMIC_RELAXED) < bytes &&
	       hp_clock_monotonic_ns() < end_ns && poll(&poll_stop, 1, FILL_LOOK_MS) <= 0)
		;
	__atomic_store_n(&filling.is_over, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	return filling.done;
}

/* What is in memory of it stays. */
static struct hp_error *fill_rest(struct buffer *buffer, uint64_t before, int stop_fd)
{
	uint64_t wanted = buffer->bytes - before;
	uint64_t done = touch_aside(buffer->at + before, wanted, stop_fd) / PAGE_BYTES * PAGE_BYTES;

	if (done == wanted)
		return NULL;
	if (before + done)
		munmap(buffer->at + before + done, wanted - done);
	else
		buffer_release(buffer);
	buffer->bytes = before + done;
	return hp_error_create(HP_ERROR_INSUFFICIENT,
			       "no CPU has time to make memory for its copy");
}

/* What there is stays in memory; only what is new takes time. */
struct hp_error *buffer_enlarge(struct buffer *buffer, uint64_t bytes, int stop_fd)
{
	uint64_t before = buffer->bytes;
	uint8_t *memory = before ? mremap(buffer->at, before, bytes, MREMAP_MAYMOVE)
				 : mmap(NULL, bytes, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return hp_error_create_no_memory();
	buffer->at = memory;
	buffer->bytes = bytes;
	madvise(memory, bytes, MADV_DONTDUMP);
	return fill_rest(buffer, before, stop_fd);
}
