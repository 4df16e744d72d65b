/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/shadow/shadow.h>

#include "copy/permission.h"
#include "books.h"
#include "statistics.h"
#include "tuning.h"
#include "window.h"

#include <hpcprof/base/number.h>
#include <hpcprof/base/thread.h>
#include <hpcprof/base/vector.h>

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

enum { NS_PER_S = 1000000000 };

/* One of the threads that make windows. A thread makes each window completely. It takes two turns
 * per window: one to make the copy, one to replay it. */
struct hand {
	struct hp_shadow *shadow;
	struct window_maker maker;
	pthread_t thread;
	bool is_running;
};

struct hp_shadow {
	double percent;
	uint64_t window_ns;
	int ready_fd; /* eventfd: counts windows to be taken */
	int stop_fd;  /* eventfd */
	struct hand hands[MAKERS];

	/* Held by the thread that waits until the next window is due and makes its copy. */
	pthread_mutex_t next_turn;
	/* Held by the thread whose copy runs. */
	pthread_mutex_t replay_turn;
	struct replayer replayer;

	/* Protects the books. */
	pthread_mutex_t books_lock;
	struct books books;

	bool is_finishing;
	uint64_t started_ns, finished_ns;
	struct timespec patience; /* end of the time for the current window, CLOCK_MONOTONIC */
	bool is_left;		  /* a thread did not end in time, and still uses this structure */

	/* Protects the rest. */
	pthread_mutex_t lock;
	HP_VECTOR(struct hp_window) ready;
	struct hp_shadow_statistics statistics;
};

/* --- results ---------------------------------------------------------------------------------- */

static void publish(struct hp_shadow *shadow, struct hp_window *window)
{
	const uint64_t one = 1;

	if (shadow->ready.count < READY_LIMIT && hp_vector_push(&shadow->ready, *window)) {
		/* The eventfd overflows only if the caller takes no windows. */
		if (write(shadow->ready_fd, &one, sizeof(one)) < 0)
			errno = 0;
		return;
	}
	hp_window_clear(window);
}

static void account(struct hp_shadow *shadow, struct job *job, uint64_t cpu_ns)
{
	struct hp_shadow_statistics *statistics = &shadow->statistics;

	pthread_mutex_lock(&shadow->lock);
	statistics_add(statistics, &job->order, &job->result, job->beside);
	statistics->target_ns = cpu_ns;
	statistics->lost_ns = shadow->books.ledger.lost_ns;
	/* All useful windows are paced: their times contain none of the losses. */
	if (statistics->paced && statistics->paced == statistics->useful)
		statistics->aside_ns = statistics->lost_ns;
	statistics->longest_stop_ns = shadow->books.ledger.longest_stop_ns;
	if (job->result.outcome == WINDOW_MADE)
		publish(shadow, &job->result.window);
	pthread_mutex_unlock(&shadow->lock);
	hp_error_destroy(job->result.error);
}

/* --- making windows -------------------------------------------------------------------------- */

/* Makes the copy for a window of a thread that runs now. */
static void begin_window(struct hp_shadow *shadow, struct window_maker *maker, struct job *job)
{
	*job = (struct job){
		.order = { .window_ns = shadow->window_ns },
		.result = { .outcome = WINDOW_NOT_NOW },
	};
	if (books_begin(&shadow->books, job))
		job->has_copy = window_copy(maker, &job->order, &job->result);
	if (job->has_copy)
		job->beside = running_share(&shadow->books.running, job->result.window.time_ns,
					    hp_clock_monotonic_ns());
	books_copied(&shadow->books, job);
}

/* --- the threads ------------------------------------------------------------------------------ */

static bool is_stopping(const struct hp_shadow *shadow, int timeout_ms)
{
	struct pollfd poll_stop = { .fd = shadow->stop_fd, .events = POLLIN };

	return poll(&poll_stop, 1, timeout_ms) > 0;
}

/* Sleeps for the shortest time in which the target's CPU time can reach `due_ns`, if it uses all
 * CPUs. False: stop. */
static bool sleep_until_due(struct hp_shadow *shadow, uint64_t cpu_ns)
{
	uint64_t left_ns = (shadow->books.schedule.due_ns - cpu_ns) / books_cpus();
	struct pollfd poll_stop = { .fd = shadow->stop_fd, .events = POLLIN };
	struct timespec time = { 0 };

	if (left_ns > LONGEST_SLEEP_NS)
		left_ns = LONGEST_SLEEP_NS;
	if (left_ns < SHORTEST_PAUSE_NS)
		left_ns = SHORTEST_PAUSE_NS;
	time.tv_nsec = (long)left_ns;
	return ppoll(&poll_stop, 1, &time, NULL) <= 0;
}

/* Waits until a window is due, and makes its copy. False: the recording ends. */
static bool next_window(struct hp_shadow *shadow, struct window_maker *maker, struct job *job)
{
	bool is_due = false;

	while (!is_due && !is_stopping(shadow, 0)) {
		uint64_t cpu_ns;

		pthread_mutex_lock(&shadow->books_lock);
		cpu_ns = books_now_ns(&shadow->books);
		books_look(&shadow->books);
		if (schedule_is_late(&shadow->books.schedule, cpu_ns))
			schedule_skip(&shadow->books.schedule, cpu_ns);
		is_due = cpu_ns >= shadow->books.schedule.due_ns;
		if (is_due) {
			begin_window(shadow, maker, job);
			cpu_load_pause(&shadow->books.load);
		}
		pthread_mutex_unlock(&shadow->books_lock);
		if (!is_due && !sleep_until_due(shadow, cpu_ns))
			break;
	}
	return is_due;
}

/* Whether none of the waiting copies has looked for an idle CPU lately: a look takes CPU time that
 * others want. */
static bool is_time_to_admit(struct books *books)
{
	const uint64_t least_ns = (uint64_t)WAITING_LOOK_MS * 1000000;
	uint64_t now_ns = hp_clock_monotonic_ns();
	bool is_time = now_ns - books->admit_ns >= least_ns;

	if (is_time)
		books->admit_ns = now_ns;
	return is_time;
}

/* Waits until the copy may run. */
static void await_room(struct hp_shadow *shadow, struct job *job)
{
	bool may_run = !job->order.is_later;

	while (!may_run) {
		bool is_over = is_stopping(shadow, WAITING_LOOK_MS);

		pthread_mutex_lock(&shadow->books_lock);
		if (is_over || is_time_to_admit(&shadow->books)) {
			books_look(&shadow->books);
			may_run = books_admit(&shadow->books, job, is_over);
		}
		pthread_mutex_unlock(&shadow->books_lock);
	}
}

static void replay(struct hp_shadow *shadow, struct window_maker *maker, struct job *job)
{
	struct window_order order;
	bool was_batch;

	pthread_mutex_lock(&shadow->replay_turn);
	if (is_stopping(shadow, 0)) {
		pthread_mutex_lock(&shadow->books_lock);
		books_note_end(&shadow->books, job);
		pthread_mutex_unlock(&shadow->books_lock);
	}
	order = job->order; /* the job's room may change meanwhile: see books_look */
	set_copy_priority(maker->sandbox.pid, order.room);
	running_begin(&shadow->books.running, job, maker->sandbox.pid);
	/* Nobody waits for a replay: translating the copy's code and answering its calls keep no
	 * thread of the target from a CPU for longer than the scheduler's slices. */
	was_batch = hp_thread_set_batch(true);
	window_replay(maker, &order, &job->result);
	hp_thread_set_batch(was_batch);
	hp_thread_set_slice(0, HP_SHORTEST_SLICE_NS);
	running_end(&shadow->books.running);
	pthread_mutex_unlock(&shadow->replay_turn);
}

static void note_misled(struct histories *histories, const struct window_result *result)
{
	if (result->is_misled)
		histories_of(histories, result->window.pid, hp_clock_monotonic_ns())->misled++;
}

static void end_window(struct hp_shadow *shadow, struct window_maker *maker, struct job *job)
{
	pthread_mutex_lock(&shadow->books_lock);
	if (job->has_copy)
		books_charge(&shadow->books, job);
	note_misled(&shadow->replayer.histories, &job->result);
	buffers_give(&shadow->replayer.buffers, &maker->snapshot.buffer);
	account(shadow, job, books_now_ns(&shadow->books));
	pthread_mutex_unlock(&shadow->books_lock);
}

/* The first threads are active; one more becomes active per waiting copy, and one if the copy that runs
 * starves, as another waits for its turn. */
static bool is_active(const struct hand *hand)
{
	const struct hp_shadow *shadow = hand->shadow;
	size_t active = ACTIVE_MAKERS + __atomic_load_n(&shadow->books.waiting, __ATOMIC_RELAXED) +
			__atomic_load_n(&shadow->books.is_starved, __ATOMIC_RELAXED);

	return (size_t)(hand - shadow->hands) < active;
}

/* Waits for work. The last thread looks meanwhile: the others may all wait for a copy that starves.
 * False: the recording ends. */
static bool wait_for_work(struct hand *hand)
{
	struct hp_shadow *shadow = hand->shadow;

	if (hand == &shadow->hands[MAKERS - 1]) {
		pthread_mutex_lock(&shadow->books_lock);
		books_look(&shadow->books);
		pthread_mutex_unlock(&shadow->books_lock);
	}
	return !is_stopping(shadow, WAITING_LOOK_MS);
}

static void *make_windows(void *context)
{
	struct hand *hand = context;
	struct hp_shadow *shadow = hand->shadow;
	bool is_more = true;
	struct job job;

	/* The target waits while it is held, so this thread must get a CPU quickly. */
	hp_thread_set_slice(0, HP_SHORTEST_SLICE_NS);
	while (is_more) {
		if (!is_active(hand)) {
			is_more = wait_for_work(hand);
			continue;
		}
		pthread_mutex_lock(&shadow->next_turn);
		is_more = next_window(shadow, &hand->maker, &job);
		pthread_mutex_unlock(&shadow->next_turn);
		if (!is_more)
			break;
		if (job.has_copy) {
			await_room(shadow, &job);
			replay(shadow, &hand->maker, &job);
		}
		end_window(shadow, &hand->maker, &job);
		if (job.result.outcome == WINDOW_REFUSED && job.result.refusal != HP_SHADOW_BUDGET)
			is_stopping(shadow, REFUSED_PAUSE_MS);
	}
	return NULL;
}

static void close_books(struct hp_shadow *shadow)
{
	uint64_t cpu_ns = books_now_ns(&shadow->books);

	pthread_mutex_lock(&shadow->lock);
	if (cpu_ns > shadow->statistics.target_ns)
		shadow->statistics.target_ns = cpu_ns;
	pthread_mutex_unlock(&shadow->lock);
}

/* --- public ----------------------------------------------------------------------------------- */

static struct hp_error *add_targets(struct hp_shadow *shadow,
				    const struct hp_shadow_options *options)
{
	struct hp_error *error = NULL;
	bool room = true;

	for (size_t i = 0; !error && i < options->pid_count; i++)
		error = shadow_permission_of(options->pids[i]);
	for (size_t i = 0; !error && i < options->tid_count; i++)
		error = shadow_permission_of(options->tids[i]);
	if (error)
		return hp_error_wrap(error, "no shadow windows");
	for (size_t i = 0; room && i < options->pid_count; i++)
		room = target_add(&shadow->books.target, options->pids[i], 0);
	for (size_t i = 0; room && i < options->tid_count; i++)
		room = target_add(&shadow->books.target, options->tids[i], options->tids[i]);
	shadow->books.target.follows = true;
	return room ? NULL : hp_error_create_no_memory();
}

/* Fills buffers while there is no target yet. What is not filled in time is filled later. */
static void make_first_buffers(struct hp_shadow *shadow)
{
	const uint64_t bytes = FIRST_BUFFER_BYTES;

	for (size_t i = 0; i < ACTIVE_MAKERS && bytes <= memory_to_spare() / FIRST_BUFFER_PART;
	     i++) {
		struct buffer buffer;

		buffers_take(&shadow->replayer.buffers, bytes, false, &buffer);
		hp_error_destroy(
			buffer_enlarge(&buffer, bytes, FILL_IDLE, UINT64_MAX, shadow->stop_fd));
		if (buffer.filled_bytes)
			ledger_expect_huge(&shadow->books.ledger,
					   (double)buffer.filled_ns / (double)buffer.filled_bytes);
		buffers_give(&shadow->replayer.buffers, &buffer);
	}
}

struct hp_error *hp_shadow_create(const struct hp_shadow_options *options,
				  struct hp_shadow **result)
{
	struct hp_error *error = shadow_permission();
	struct hp_shadow *shadow = error ? NULL : calloc(1, sizeof(*shadow));
	struct snapshot_price price;

	if (error)
		return hp_error_wrap(error, "no shadow windows");
	if (!shadow)
		return hp_error_create_no_memory();
	pthread_mutex_init(&shadow->next_turn, NULL);
	pthread_mutex_init(&shadow->replay_turn, NULL);
	pthread_mutex_init(&shadow->books_lock, NULL);
	pthread_mutex_init(&shadow->lock, NULL);
	shadow->percent = options->percent > 0 ? options->percent : HP_SHADOW_DEFAULT_PERCENT;
	shadow->window_ns = options->window_ns;
	shadow->books.is_urgent = options->is_urgent;
	shadow->ready_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	shadow->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ledger_init(&shadow->books.ledger, shadow->percent, options->sample_ns);
	price = snapshot_price();
	ledger_expect(&shadow->books.ledger, price.reading_ns, price.fresh_ns);
	cpu_load_init(&shadow->books.load);
	running_init(&shadow->books.running);
	schedule_init(&shadow->books.schedule,
		      options->seed ? options->seed : hp_clock_monotonic_ns());
	for (size_t i = 0; i < MAKERS; i++) {
		shadow->hands[i].shadow = shadow;
		window_maker_init(&shadow->hands[i].maker, &shadow->replayer, &shadow->books.ledger,
				  shadow->stop_fd);
	}
	error = replayer_create(&shadow->replayer,
				&(struct simulation_options){ options->geometry, options->core,
							      options->measure,
							      options->core_is_shared,
							      options->resizes,
							      options->trace_fd,
							      options->trace_bytes });
	shadow->replayer.simulates_always = options->simulates_always;
	buffers_adopt(&shadow->replayer.buffers, price.memory, price.bytes);
	make_first_buffers(shadow);
	if (!error && (shadow->ready_fd < 0 || shadow->stop_fd < 0))
		error = hp_error_create(HP_ERROR_SYSTEM, "no descriptors left for an eventfd");
	if (!error)
		error = add_targets(shadow, options);
	if (error) {
		hp_shadow_destroy(shadow);
		return error;
	}
	*result = shadow;
	return NULL;
}

/* Disables core files, because this process contains memory of the target from now on. The limit is
 * 1 byte: with 0 the kernel would still pipe the core to a program (core_pattern). */
static void forgo_core(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_cur > 1) {
		limit.rlim_cur = 1;
		setrlimit(RLIMIT_CORE, &limit);
	}
}

struct hp_error *hp_shadow_start(struct hp_shadow *shadow)
{
	forgo_core();
	shadow->started_ns = hp_clock_monotonic_ns();
	books_open(&shadow->books);
	/* hp_thread_start blocks signals: the thread that called us handles them. */
	for (size_t i = 0; i < MAKERS; i++) {
		struct hand *hand = &shadow->hands[i];
		int error = hp_thread_start(&hand->thread, make_windows, hand);

		if (error)
			return shadow_not_started(error, "a thread for shadow windows");
		hand->is_running = true;
	}
	return NULL;
}

int hp_shadow_fd(const struct hp_shadow *shadow)
{
	return shadow->ready_fd;
}

bool hp_shadow_take(struct hp_shadow *shadow, struct hp_window *window)
{
	bool has_one;
	uint64_t count;

	pthread_mutex_lock(&shadow->lock);
	has_one = shadow->ready.count > 0;
	if (has_one) {
		*window = shadow->ready.at[0];
		shadow->ready.count--;
		memmove(shadow->ready.at, shadow->ready.at + 1,
			shadow->ready.count * sizeof(*window));
	} else if (read(shadow->ready_fd, &count, sizeof(count)) < 0) {
		errno = 0; /* nothing to take back */
	}
	pthread_mutex_unlock(&shadow->lock);
	return has_one;
}

void hp_shadow_statistics(struct hp_shadow *shadow, struct hp_shadow_statistics *statistics)
{
	pthread_mutex_lock(&shadow->lock);
	*statistics = shadow->statistics;
	pthread_mutex_unlock(&shadow->lock);
}

/* Kills all copies, because a thread that waits for its turn waits for another thread's copy. */
static void end_copies(struct hp_shadow *shadow)
{
	for (size_t i = 0; i < MAKERS; i++)
		sandbox_end(&shadow->hands[i].maker.sandbox);
}

static struct timespec at_ns(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / NS_PER_S),
				  .tv_nsec = (long)(ns % NS_PER_S) };
}

/* How long replays may continue after the end of the recording. */
static uint64_t patience_ns(struct hp_shadow *shadow)
{
	uint64_t part_ns = (shadow->finished_ns - shadow->started_ns) / ENDED_PATIENCE_PART;
	bool is_gone, has_few;

	pthread_mutex_lock(&shadow->books_lock);
	(void)books_now_ns(&shadow->books);
	is_gone = target_is_gone(&shadow->books.target);
	pthread_mutex_unlock(&shadow->books_lock);
	pthread_mutex_lock(&shadow->lock);
	has_few = shadow->statistics.useful < LENT_WINDOWS;
	pthread_mutex_unlock(&shadow->lock);
	if (!is_gone)
		return STOP_PATIENCE_NS;
	if (has_few || part_ns > ENDED_PATIENCE_NS)
		return ENDED_PATIENCE_NS;
	return part_ns > STOP_PATIENCE_NS ? part_ns : STOP_PATIENCE_NS;
}

static bool has_ended(const struct hp_shadow *shadow, const struct hand *hand)
{
	return pthread_clockjoin_np(hand->thread, NULL, CLOCK_MONOTONIC, &shadow->patience) == 0;
}

/* Waits for a thread to end, in three steps. First it has its normal time. Then the simulation is
 * given up: that makes the replay faster, and the counts matter more. Then the copy is killed. A
 * killed copy with the lowest priority only dies when a CPU is idle, which may take seconds on a
 * busy machine; it no longer runs the target's program. The thread that waits for it is left
 * behind. */
static void join(struct hp_shadow *shadow, struct hand *hand)
{
	if (!hand->is_running)
		return;
	hand->is_running = false;
	if (has_ended(shadow, hand))
		return;
	if (shadow->replayer.simulation) {
		simulation_give_up(shadow->replayer.simulation);
		shadow->patience = at_ns(hp_clock_monotonic_ns() +
					 patience_ns(shadow) / UNSIMULATED_PATIENCE_PART);
		if (has_ended(shadow, hand))
			return;
	}
	end_copies(shadow);
	shadow->patience = at_ns(hp_clock_monotonic_ns() + END_PATIENCE_NS);
	if (has_ended(shadow, hand))
		return;
	pthread_detach(hand->thread);
	shadow->is_left = true;
}

void hp_shadow_finish(struct hp_shadow *shadow)
{
	const uint64_t one = 1;

	if (!shadow->hands[0].is_running || shadow->is_finishing)
		return;
	shadow->is_finishing = true;
	shadow->finished_ns = hp_clock_monotonic_ns();
	__atomic_store_n(&shadow->books.over_ns, shadow->finished_ns, __ATOMIC_RELEASE);
	/* The write cannot fail: the counter of the eventfd is 0. */
	if (write(shadow->stop_fd, &one, sizeof(one)) < 0)
		errno = 0;
}

/* Closes the trace. It may be called while a killed copy still exists: it is not traced any more.
 */
static void close_trace(struct hp_shadow *shadow)
{
	const struct tracing *tracing = shadow->replayer.simulation
						? simulation_end_trace(shadow->replayer.simulation)
						: NULL;

	if (!tracing)
		return;
	shadow->statistics.trace_instructions = tracing->instructions;
	shadow->statistics.trace_bytes = tracing->bytes;
	shadow->statistics.trace_errno = tracing->errno_value;
}

void hp_shadow_stop(struct hp_shadow *shadow)
{
	if (!shadow->hands[0].is_running)
		return;
	hp_shadow_finish(shadow);
	/* A copy that starves gets a CPU now. */
	pthread_mutex_lock(&shadow->books_lock);
	books_look(&shadow->books);
	pthread_mutex_unlock(&shadow->books_lock);
	shadow->patience = at_ns(shadow->finished_ns + patience_ns(shadow));
	for (size_t i = 0; i < MAKERS; i++)
		join(shadow, &shadow->hands[i]);
	close_trace(shadow);
	if (!shadow->is_left)
		close_books(shadow);
}

void hp_shadow_destroy(struct hp_shadow *shadow)
{
	if (!shadow)
		return;
	hp_shadow_stop(shadow);
	if (shadow->is_left)
		return;
	for (size_t i = 0; i < MAKERS; i++)
		window_maker_clear(&shadow->hands[i].maker);
	replayer_clear(&shadow->replayer);
	target_clear(&shadow->books.target);
	running_clear(&shadow->books.running);
	for (size_t i = 0; i < shadow->ready.count; i++)
		hp_window_clear(&shadow->ready.at[i]);
	hp_vector_free(&shadow->ready);
	if (shadow->ready_fd >= 0)
		close(shadow->ready_fd);
	if (shadow->stop_fd >= 0)
		close(shadow->stop_fd);
	pthread_mutex_destroy(&shadow->next_turn);
	pthread_mutex_destroy(&shadow->replay_turn);
	pthread_mutex_destroy(&shadow->books_lock);
	pthread_mutex_destroy(&shadow->lock);
	free(shadow);
}
