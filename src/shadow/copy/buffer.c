/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "buffer.h"

#include "../tuning.h"

#include <hpcprof/base/number.h>
#include <hpcprof/base/thread.h>

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096 };

#define BUFFER_NAME "hpcprof-buffer" /* as shown in /proc/PID/maps of hpcprof and its copies */

void buffer_release(struct buffer *buffer)
{
	if (buffer->at)
		munmap(buffer->at, buffer->bytes);
	if (buffer->is_lendable)
		close(buffer->fd);
	*buffer = (struct buffer){ .is_kept = buffer->is_kept };
}

/* Has the kernel write to each page as it does when it reads a target into it. In a virtual machine with
 * shadow page tables the first such write at an address takes ten times as long as reading a page does,
 * and the target would wait for it. */
static void touch(uint8_t *at, uint64_t bytes)
{
	struct iovec pages[FILL_BYTES_AT_ONCE / PAGE_BYTES];

	for (uint64_t done = 0; done < bytes;) {
		size_t count = 0;

		for (; done < bytes && count < HP_ARRAY_COUNT(pages); done += PAGE_BYTES)
			pages[count++] = (struct iovec){ at + done, 1 };
		/* If it fails, the first reading is slower. */
		process_vm_readv(getpid(), pages, count, pages, count, 0);
	}
}

void buffer_adopt(struct buffer *buffer, uint8_t *memory, uint64_t bytes)
{
	buffer_release(buffer);
	buffer->at = memory;
	buffer->bytes = bytes;
	touch(memory, bytes);
}

/* Memory that a thread touches, so that the kernel allocates its pages. */
struct filling {
	uint8_t *at;
	uint64_t bytes;
	uint8_t *moved; /* memory that has pages, at other addresses than before */
	uint64_t moved_bytes;
	enum filling_time time;
	uint64_t most_ns; /* of CPU time */
	uint64_t cpu_ns;  /* the CPU time that this took */
	uint64_t touched; /* bytes of `moved` that are done */
	uint64_t done;	  /* atomic, as is the next field */
	bool is_over;
};

/* Before Linux 5.14 the kernel is not asked for all pages at once. */
static void populate(uint8_t *at, uint64_t bytes)
{
	if (madvise(at, bytes, MADV_POPULATE_WRITE) < 0)
		memset(at, 0, bytes);
}

/* The bytes to do next of those from `done` to `bytes`; 0: none, or the time is up. */
static uint64_t next_part(const struct filling *filling, uint64_t done, uint64_t bytes)
{
	if (__atomic_load_n(&filling->is_over, __ATOMIC_RELAXED) ||
	    hp_clock_thread_ns() >= filling->most_ns)
		return 0;
	return bytes - done < FILL_BYTES_AT_ONCE ? bytes - done : FILL_BYTES_AT_ONCE;
}

static void *fill(void *context)
{
	struct filling *filling = context;
	uint64_t at = 0;
	uint64_t part;

	if (filling->time == FILL_IDLE)
		hp_thread_give_way();
	while ((part = next_part(filling, at, filling->bytes)) > 0) {
		populate(filling->at + at, part);
		touch(filling->at + at, part);
		at += part;
		__atomic_store_n(&filling->done, at, __ATOMIC_RELAXED);
	}
	for (at = 0; (part = next_part(filling, at, filling->moved_bytes)) > 0; at += part)
		touch(filling->moved + at, part);
	filling->touched = at;
	filling->cpu_ns = hp_clock_thread_ns();
	__atomic_store_n(&filling->is_over, true, __ATOMIC_RELAXED);
	return NULL;
}

/* When it returns, the first `done` bytes have pages. */
static void touch_aside(struct filling *filling, int stop_fd)
{
	uint64_t end_ns = hp_clock_monotonic_ns() + FILL_PATIENCE_NS;
	struct pollfd poll_stop = { .fd = stop_fd, .events = POLLIN };
	pthread_t thread;

	if (poll(&poll_stop, 1, 0) > 0 || hp_thread_start(&thread, fill, filling) != 0)
		return;
	while (!__atomic_load_n(&filling->is_over, __ATOMIC_RELAXED) &&
	       hp_clock_monotonic_ns() < end_ns && poll(&poll_stop, 1, FILL_LOOK_MS) <= 0)
		;
	__atomic_store_n(&filling->is_over, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

/* If it takes too long, the pages that exist are kept. */
static struct hp_error *fill_rest(struct buffer *buffer, uint64_t before, bool has_moved,
				  enum filling_time time, uint64_t most_ns, int stop_fd)
{
	uint64_t wanted = buffer->bytes - before;
	struct filling filling = {
		.at = buffer->at + before,
		.bytes = wanted,
		.moved = buffer->at,
		.moved_bytes = has_moved ? before : 0,
		.time = time,
		.most_ns = most_ns,
	};
	uint64_t done;

	touch_aside(&filling, stop_fd);
	done = filling.done / PAGE_BYTES * PAGE_BYTES;
	buffer->filled_ns = filling.cpu_ns;
	buffer->filled_bytes = done + filling.touched;
	if (done == wanted)
		return NULL;
	if (!before && !done) {
		buffer_release(buffer);
	} else {
		munmap(buffer->at + before + done, wanted - done);
		buffer->bytes = before + done;
		/* If it fails, the file stays longer than the mapping, which does no harm. */
		if (buffer->is_lendable && ftruncate(buffer->fd, (off_t)buffer->bytes) < 0)
			errno = 0;
	}
	return hp_error_create(HP_ERROR_INSUFFICIENT,
			       "no CPU has time to make memory for its copy");
}

/* A memfd is a file, so the limit of file sizes applies. */
static bool may_be_file(uint64_t bytes)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes <= limit.rlim_cur;
}

/* Resizes the memory, and keeps its contents. MAP_FAILED: out of memory. */
static uint8_t *resize(struct buffer *buffer, uint64_t bytes)
{
	if (buffer->is_lendable && ftruncate(buffer->fd, (off_t)bytes) < 0)
		return MAP_FAILED;
	if (buffer->at)
		return mremap(buffer->at, buffer->bytes, bytes, MREMAP_MAYMOVE);
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		    buffer->is_lendable ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS,
		    buffer->is_lendable ? buffer->fd : -1, 0);
}

bool buffer_would_be_lent(uint64_t bytes, bool is_kept)
{
	return bytes >= LENT_LEAST_BYTES && !is_kept && may_be_file(bytes);
}

/* If the kind changes, the buffer starts empty. */
static void choose_kind(struct buffer *buffer, uint64_t bytes)
{
	bool is_lendable = buffer_would_be_lent(bytes, buffer->is_kept);

	if (is_lendable == buffer->is_lendable)
		return;
	buffer_release(buffer);
	if (!is_lendable)
		return;
	buffer->fd = memfd_create(BUFFER_NAME, MFD_CLOEXEC);
	buffer->is_lendable = buffer->fd >= 0;
}

/* Existing pages are kept; only new ones take time, and those that have to move. */
struct hp_error *buffer_enlarge(struct buffer *buffer, uint64_t bytes, enum filling_time time,
				uint64_t most_ns, int stop_fd)
{
	uint64_t before;
	bool has_moved;
	uint8_t *memory;

	choose_kind(buffer, bytes);
	buffer->filled_ns = 0;
	buffer->filled_bytes = 0;
	before = buffer->bytes;
	memory = resize(buffer, bytes);
	if (memory == MAP_FAILED)
		return hp_error_create_no_memory();
	has_moved = memory != buffer->at;
	buffer->at = memory;
	buffer->bytes = bytes;
	madvise(memory, bytes, MADV_DONTDUMP);
	/* Huge pages take a fraction of the time. Where they are not allowed, this does nothing. */
	madvise(memory, bytes, MADV_HUGEPAGE);
	return fill_rest(buffer, before, has_moved, time, most_ns, stop_fd);
}
