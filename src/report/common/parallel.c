/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "parallel.h"

#include "../tuning.h"

#include <hpcprof/base/broken_pipe.h>
#include <hpcprof/base/vector.h>

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct worker {
	pid_t pid;
	int fd;			/* the worker's pipe; -1: everything was read */
	HP_VECTOR(uint8_t) got; /* bytes read but not yet written */
	size_t taken;		/* number of these that were written */
};

struct parallel {
	parallel_item write;
	void *context;
	size_t items;
	size_t next;
	struct worker workers[PARALLEL_MOST_WORKERS];
	size_t worker_count; /* 0: this process does the work */
};

/* Header before an item's bytes, or before the two texts of an error, message and advice, each with
 * a NUL. */
struct head {
	uint64_t size;
	uint32_t is_error;
	uint32_t class;
};

static size_t worker_of(const struct parallel *parallel, size_t item)
{
	return item / PARALLEL_TOGETHER % parallel->worker_count;
}

/* --- a worker ---------------------------------------------------------------------------------- */

static bool hand(int fd, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	while (size) {
		ssize_t written = write(fd, at, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		at += written;
		size -= (size_t)written;
	}
	return true;
}

static bool hand_error(int fd, struct hp_error *error)
{
	const char *advice = error->advice ? error->advice : "";
	const struct head head = {
		.size = strlen(error->message) + 1 + strlen(advice) + 1,
		.is_error = 1,
		.class = error->class,
	};

	return hand(fd, &head, sizeof(head)) &&
	       hand(fd, error->message, strlen(error->message) + 1) &&
	       hand(fd, advice, strlen(advice) + 1);
}

/* What a worker has made but not yet handed over. */
struct made {
	FILE *stream; /* writes to `bytes`; valid after fflush() */
	char *bytes;
	size_t size;
};

static bool hand_over(struct made *made, int fd)
{
	bool handed = fflush(made->stream) == 0 && hand(fd, made->bytes, made->size);

	rewind(made->stream);
	return handed;
}

/* The head is written last, over the room that was left for it. */
static bool add_item(const struct parallel *parallel, size_t item, struct made *made,
		     struct hp_error **error)
{
	FILE *out = made->stream;
	struct head head = { 0 };
	off_t begin = ftello(out);
	off_t end;

	fwrite(&head, sizeof(head), 1, out);
	*error = parallel->write(parallel->context, item, out);
	end = ftello(out);
	if (*error || end < 0)
		return fseeko(out, begin, SEEK_SET) == 0;
	head.size = (uint64_t)(end - begin) - sizeof(head);
	return fseeko(out, begin, SEEK_SET) == 0 && fwrite(&head, sizeof(head), 1, out) == 1 &&
	       fseeko(out, end, SEEK_SET) == 0 && !ferror(out);
}

static bool make_item(const struct parallel *parallel, size_t item, struct made *made, int fd)
{
	struct hp_error *error = NULL;

	if (!add_item(parallel, item, made, &error) && !error)
		error = hp_error_create_no_memory();
	if (error)
		return hand_over(made, fd) && hand_error(fd, error) && false;
	return ftello(made->stream) < PARALLEL_HANDED_BYTES || hand_over(made, fd);
}

/* Ends without exit handlers: buffers and open files are those of the parent process. */
static void work(const struct parallel *parallel, size_t number, int fd)
{
	struct made made = { 0 };
	bool fine = true;

	/* Each item allocates and frees the same memory again. */
	mallopt(M_MMAP_THRESHOLD, PARALLEL_KEPT_BYTES);
	mallopt(M_TRIM_THRESHOLD, PARALLEL_KEPT_BYTES);
	hp_broken_pipe_ignore();
	made.stream = open_memstream(&made.bytes, &made.size);
	if (!made.stream) {
		hand_error(fd, hp_error_create_no_memory());
		_exit(0);
	}
	for (size_t item = 0; item < parallel->items && fine; item++)
		if (worker_of(parallel, item) == number)
			fine = make_item(parallel, item, &made, fd);
	if (fine)
		hand_over(&made, fd);
	_exit(0);
}

static bool start(struct parallel *parallel, size_t number)
{
	struct worker *worker = &parallel->workers[number];
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return false;
	fcntl(ends[1], F_SETPIPE_SZ, PARALLEL_PIPE_BYTES);
	worker->fd = ends[0];
	worker->pid = fork();
	if (worker->pid == 0) {
		for (size_t i = 0; i <= number; i++)
			close(parallel->workers[i].fd);
		work(parallel, number, ends[1]);
	}
	close(ends[1]);
	if (worker->pid > 0)
		return true;
	close(worker->fd);
	return false;
}

/* --- this process ------------------------------------------------------------------------------- */

static size_t cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (size_t)CPU_COUNT(&set) : 1;
}

static void stop(struct parallel *parallel)
{
	for (size_t i = 0; i < parallel->worker_count; i++) {
		struct worker *worker = &parallel->workers[i];

		if (worker->fd >= 0)
			close(worker->fd);
		hp_vector_free(&worker->got);
		kill(worker->pid, SIGKILL);
		while (waitpid(worker->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	parallel->worker_count = 0;
}

struct hp_error *parallel_begin(size_t items, size_t workers, parallel_item write, void *context,
				struct parallel **created)
{
	struct parallel *parallel = calloc(1, sizeof(*parallel));
	size_t started = 0;

	*created = parallel;
	if (!parallel)
		return hp_error_create_no_memory();
	parallel->write = write;
	parallel->context = context;
	parallel->items = items;
	workers = workers ? workers : cpus();
	if (workers > PARALLEL_MOST_WORKERS)
		workers = PARALLEL_MOST_WORKERS;
	if (workers < 2 || items < PARALLEL_FEWEST)
		return NULL;
	/* Each worker knows how many there are. */
	parallel->worker_count = workers;
	while (started < workers && start(parallel, started))
		started++;
	if (started < workers) {
		parallel->worker_count = started;
		stop(parallel);
	}
	return NULL;
}

/* Reads what the worker has written so far. False: out of memory. */
static bool take(struct worker *worker)
{
	size_t room = worker->got.count + PARALLEL_PIPE_BYTES;
	ssize_t count;

	if (worker->taken && worker->taken == worker->got.count)
		worker->taken = worker->got.count = 0;
	if (!hp_vector_reserve(&worker->got, room))
		return false;
	count = read(worker->fd, worker->got.at + worker->got.count, PARALLEL_PIPE_BYTES);
	if (count > 0)
		worker->got.count += (size_t)count;
	if (count == 0 || (count < 0 && errno != EINTR)) {
		close(worker->fd);
		worker->fd = -1;
	}
	return true;
}

/* Waits until this worker has written something. The others are read meanwhile, so that none waits
 * while one procedure takes as long as a thousand others. */
static bool wait_for(struct parallel *parallel, const struct worker *wanted)
{
	struct pollfd polled[PARALLEL_MOST_WORKERS];

	for (size_t i = 0; i < parallel->worker_count; i++) {
		const struct worker *worker = &parallel->workers[i];
		bool is_far = worker->got.count - worker->taken > PARALLEL_AHEAD_BYTES;

		polled[i] =
			(struct pollfd){ is_far && worker != wanted ? -1 : worker->fd, POLLIN, 0 };
	}
	if (poll(polled, parallel->worker_count, -1) < 0)
		return errno == EINTR;
	for (size_t i = 0; i < parallel->worker_count; i++)
		if (polled[i].revents && !take(&parallel->workers[i]))
			return false;
	return true;
}

/* Returns `size` bytes of the worker; if `size` is 0, at least one. NULL: there are no more. */
static const uint8_t *get(struct parallel *parallel, struct worker *worker, size_t size,
			  size_t *count)
{
	while (worker->got.count - worker->taken < (size ? size : 1))
		if (worker->fd < 0 || !wait_for(parallel, worker))
			return NULL;
	*count = size ? size : worker->got.count - worker->taken;
	return worker->got.at + worker->taken;
}

static struct hp_error *lost(void)
{
	return hp_error_create(HP_ERROR_SYSTEM,
			       "a process that helped to make the report was killed");
}

static struct hp_error *get_error(struct parallel *parallel, struct worker *worker,
				  const struct head *head)
{
	size_t count;
	const char *texts = (const char *)get(parallel, worker, head->size, &count);
	struct hp_error *error;
	const char *advice;

	if (!texts)
		return lost();
	advice = texts + strlen(texts) + 1;
	error = hp_error_create((enum hp_error_class)head->class, "%s", texts);
	return *advice ? hp_error_advise(error, "%s", advice) : error;
}

struct hp_error *parallel_next(struct parallel *parallel, FILE *out)
{
	size_t item = parallel->next++;
	struct worker *worker;
	const uint8_t *bytes;
	struct head head;
	size_t count;

	if (!parallel->worker_count)
		return parallel->write(parallel->context, item, out);
	worker = &parallel->workers[worker_of(parallel, item)];
	bytes = get(parallel, worker, sizeof(head), &count);
	if (!bytes)
		return lost();
	memcpy(&head, bytes, sizeof(head));
	worker->taken += sizeof(head);
	if (head.is_error)
		return get_error(parallel, worker, &head);
	while (head.size) {
		bytes = get(parallel, worker, 0, &count);
		if (!bytes)
			return lost();
		if (count > head.size)
			count = (size_t)head.size;
		fwrite(bytes, 1, count, out);
		worker->taken += count;
		head.size -= count;
	}
	return NULL;
}

void parallel_end(struct parallel *parallel)
{
	if (!parallel)
		return;
	stop(parallel);
	free(parallel);
}
