/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/shadow/shadow.h>

#include "permission.h"
#include "schedule.h"
#include "threads.h"
#include "waits.h"
#include "window.h"

#include <hpcprof/base/thread.h>
#include <hpcprof/base/vector.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>

enum {
	LONGEST_SLEEP_NS = 50000000,
	SHORTEST_SLEEP_NS = 500000,
	/* After a refusal that another moment will not change. */
	REFUSED_PAUSE_MS = 500,
	/* A replay that is under way when the target has ended may go on for so long. */
	PATIENCE_S = 1,
	/* Windows that nobody takes are not kept for ever. */
	READY_LIMIT = 256,
};

struct hp_shadow {
	double percent;
	uint64_t window_ns;
	uint64_t cpus; /* that we may use */
	int ready_fd;  /* eventfd: counts windows to be taken */
	int stop_fd;   /* eventfd */
	pthread_t thread;
	bool is_running;

	/* The thread's own. */
	struct target target;
	struct schedule schedule;
	struct ledger ledger;
	struct window_maker maker;
	struct waits waits;

	/* Shared, under the lock. */
	pthread_mutex_t lock;
	HP_VECTOR(struct hp_window) ready;
	struct hp_shadow_statistics statistics;
};

/* --- the thread ------------------------------------------------------------------------------- */

static bool is_stopping(const struct hp_shadow *shadow, int timeout_ms)
{
	struct pollfd poll_stop = { .fd = shadow->stop_fd, .events = POLLIN };

	return poll(&poll_stop, 1, timeout_ms) > 0;
}

/* Sleeps until CPU time may have come to `due_ns`: no faster than every CPU can make it. */
static bool sleep_until_due(struct hp_shadow *shadow, uint64_t cpu_ns)
{
	uint64_t cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t left_ns = (shadow->schedule.due_ns - cpu_ns) / (cpus ? cpus : 1);
	struct pollfd poll_stop = { .fd = shadow->stop_fd, .events = POLLIN };
	struct timespec time = { 0 };

	if (left_ns > LONGEST_SLEEP_NS)
		left_ns = LONGEST_SLEEP_NS;
	if (left_ns < SHORTEST_SLEEP_NS)
		left_ns = SHORTEST_SLEEP_NS;
	time.tv_nsec = (long)left_ns;
	return ppoll(&poll_stop, 1, &time, NULL) <= 0;
}

static void note_reason(struct hp_shadow_statistics *statistics, const struct hp_error *error)
{
	snprintf(statistics->reason, sizeof(statistics->reason), "%s%s%s", error->message,
		 error->advice ? "; " : "", error->advice ? error->advice : "");
}

static void note_call(struct hp_shadow_statistics *statistics, const struct hp_window *window)
{
	struct hp_shadow_system_call *call = statistics->calls;
	const struct hp_shadow_system_call *end = call + HP_SHADOW_SYSTEM_CALLS;

	while (call < end && call->count && strcmp(call->name, window->end_call) != 0)
		call++;
	if (call == end)
		return;
	call->count++;
	snprintf(call->name, sizeof(call->name), "%s", window->end_call);
}

static void publish(struct hp_shadow *shadow, struct hp_window *window)
{
	struct hp_shadow_statistics *statistics = &shadow->statistics;
	const uint64_t one = 1;

	statistics->windows++;
	statistics->ends[window->end]++;
	if (window->end == HP_WINDOW_SYSTEM_CALL)
		note_call(statistics, window);
	if (window->block_count) {
		statistics->useful++;
		statistics->covered_ns += hp_window_duration_ns(window);
	}
	if (shadow->ready.count < READY_LIMIT && hp_vector_push(&shadow->ready, *window)) {
		/* Only ever full when nobody takes any. */
		if (write(shadow->ready_fd, &one, sizeof(one)) < 0)
			errno = 0;
		return;
	}
	hp_window_clear(window);
}

static void account(struct hp_shadow *shadow, struct window_result *result, uint64_t cpu_ns,
		    enum elbow_room room)
{
	struct hp_shadow_statistics *statistics = &shadow->statistics;

	pthread_mutex_lock(&shadow->lock);
	switch (result->outcome) {
	case WINDOW_MADE:
		statistics->crowded += room != ROOM_OF_ITS_OWN;
		publish(shadow, &result->window);
		break;
	case WINDOW_REFUSED:
		statistics->refusals[result->refusal]++;
		if (result->error)
			note_reason(statistics, result->error);
		break;
	case WINDOW_NOT_NOW:
		statistics->refusals[HP_SHADOW_IN_KERNEL]++;
		break;
	}
	statistics->samples += result->samples;
	statistics->matched += result->matched;
	statistics->copied_bytes += result->copied_bytes;
	statistics->replay_ns += result->replay_ns;
	statistics->target_ns = cpu_ns;
	statistics->lost_ns = shadow->ledger.lost_ns;
	statistics->longest_stop_ns = shadow->ledger.longest_stop_ns;
	pthread_mutex_unlock(&shadow->lock);
	hp_error_destroy(result->error);
}

/* As much CPU time of the target as pays for a window. A window may take longer than that from its
 * beginning to its end: then slots are left out. */
static uint64_t next_slot_ns(const struct hp_shadow *shadow, uint64_t price_ns)
{
	uint64_t start_ns = shadow->schedule.end_ns;

	return ledger_slot_end(&shadow->ledger, price_ns, start_ns) - start_ns;
}

static uint64_t own_cpu_ns(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) < 0)
		return 0;
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void look_at_waits(struct hp_shadow *shadow)
{
	waits_begin(&shadow->waits, hp_clock_monotonic_ns(), target_waited_ns(&shadow->target));
}

/* Makes it, and enters what it took beside stops and samples. */
static void make_and_pay(struct hp_shadow *shadow, struct window_order *order,
			 struct window_result *result)
{
	struct ledger *ledger = &shadow->ledger;
	uint64_t stopped_ns = ledger->stopped_ns;
	uint64_t cpu_ns = own_cpu_ns();
	struct price_terms terms;
	double waited_ns;

	look_at_waits(shadow);
	window_make(&shadow->maker, order, result);
	terms = (struct price_terms){
		.bytes = result->copied_bytes,
		.window_ns = order->window_ns,
		.room = order->room,
	};
	/* What it did while the target was held is in the stop. */
	cpu_ns = own_cpu_ns() - cpu_ns;
	stopped_ns = ledger->stopped_ns - stopped_ns;
	cpu_ns = result->replay_ns + (cpu_ns > stopped_ns ? cpu_ns - stopped_ns : 0);
	waited_ns = waits_end(&shadow->waits, hp_clock_monotonic_ns(),
			      target_waited_ns(&shadow->target), cpu_ns);
	if (order->room != ROOM_NONE)
		ledger_other(ledger, waited_ns);
	if (result->outcome != WINDOW_MADE) {
		ledger_other(ledger, order->room == ROOM_NONE ? (double)cpu_ns : 0);
		return;
	}
	ledger_taken(ledger, cpu_ns, &terms);
	if (result->window.end == HP_WINDOW_COMPLETE)
		ledger_whole(ledger, cpu_ns, terms.window_ns);
}

static void one_window(struct hp_shadow *shadow, uint64_t cpu_ns)
{
	struct window_order order = {
		.slot_end_ns = shadow->schedule.end_ns,
		.window_ns = shadow->window_ns,
	};
	struct window_result result = { .outcome = WINDOW_NOT_NOW };
	struct target_choice choice;

	target_choose(&shadow->target, &shadow->schedule.random, &choice);
	order.pid = choice.pid;
	order.tid = choice.tid;
	order.threads = choice.in_process;
	if (choice.running) {
		order.room = elbow_room(choice.tid, choice.running, cpus_to_use(), &order.cpus);
		make_and_pay(shadow, &order, &result);
	}
	cpu_ns = target_cpu_ns(&shadow->target, hp_clock_monotonic_ns());
	if (result.outcome == WINDOW_NOT_NOW)
		schedule_again(&shadow->schedule, cpu_ns);
	else
		schedule_next(&shadow->schedule, cpu_ns, next_slot_ns(shadow, result.price_ns));
	account(shadow, &result, cpu_ns, order.room);
	if (result.outcome == WINDOW_REFUSED && result.refusal != HP_SHADOW_BUDGET)
		is_stopping(shadow, REFUSED_PAUSE_MS);
}

static void *make_windows(void *context)
{
	struct hp_shadow *shadow = context;
	const struct price_terms least = { 0 };
	uint64_t first_ns = ledger_slot(&shadow->ledger, ledger_price(&shadow->ledger, &least));
	uint64_t cpu_ns;

	look_at_waits(shadow);
	schedule_next(&shadow->schedule, 0, first_ns);
	while (!is_stopping(shadow, 0)) {
		cpu_ns = target_cpu_ns(&shadow->target, hp_clock_monotonic_ns());
		if (cpu_ns >= shadow->schedule.due_ns)
			one_window(shadow, cpu_ns);
		else if (!sleep_until_due(shadow, cpu_ns))
			break;
	}
	cpu_ns = target_cpu_ns(&shadow->target, hp_clock_monotonic_ns());
	pthread_mutex_lock(&shadow->lock);
	if (cpu_ns > shadow->statistics.target_ns)
		shadow->statistics.target_ns = cpu_ns;
	pthread_mutex_unlock(&shadow->lock);
	return NULL;
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
		room = target_add(&shadow->target, options->pids[i], 0);
	for (size_t i = 0; room && i < options->tid_count; i++)
		room = target_add(&shadow->target, options->tids[i], options->tids[i]);
	shadow->target.follows = true;
	return room ? NULL : hp_error_create_no_memory();
}

struct hp_error *hp_shadow_create(const struct hp_shadow_options *options,
				  struct hp_shadow **result)
{
	struct hp_error *error = shadow_permission();
	struct hp_shadow *shadow = error ? NULL : calloc(1, sizeof(*shadow));

	if (error)
		return hp_error_wrap(error, "no shadow windows");
	if (!shadow)
		return hp_error_create_no_memory();
	pthread_mutex_init(&shadow->lock, NULL);
	shadow->percent = options->percent > 0 ? options->percent : HP_SHADOW_DEFAULT_PERCENT;
	shadow->window_ns = options->window_ns;
	shadow->ready_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	shadow->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ledger_init(&shadow->ledger, shadow->percent, options->sample_ns);
	ledger_expect(&shadow->ledger, snapshot_price());
	schedule_init(&shadow->schedule, options->seed ? options->seed : hp_clock_monotonic_ns());
	error = window_maker_create(&shadow->maker, &shadow->ledger, shadow->stop_fd);
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

struct hp_error *hp_shadow_start(struct hp_shadow *shadow)
{
	/* Signals are for the thread that started us. */
	int error = hp_thread_start(&shadow->thread, make_windows, shadow);

	if (error)
		return shadow_not_started(error, "a thread for shadow windows");
	shadow->is_running = true;
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

void hp_shadow_stop(struct hp_shadow *shadow)
{
	const uint64_t one = 1;
	struct timespec patience;

	if (!shadow->is_running)
		return;
	/* A counter that is 0 has room for one, and it is. */
	if (write(shadow->stop_fd, &one, sizeof(one)) < 0)
		errno = 0;
	clock_gettime(CLOCK_REALTIME, &patience);
	patience.tv_sec += PATIENCE_S;
	if (pthread_timedjoin_np(shadow->thread, NULL, &patience) != 0) {
		vessel_end(&shadow->maker.vessel);
		pthread_join(shadow->thread, NULL);
	}
	shadow->is_running = false;
}

void hp_shadow_destroy(struct hp_shadow *shadow)
{
	if (!shadow)
		return;
	hp_shadow_stop(shadow);
	window_maker_clear(&shadow->maker);
	target_clear(&shadow->target);
	for (size_t i = 0; i < shadow->ready.count; i++)
		hp_window_clear(&shadow->ready.at[i]);
	hp_vector_free(&shadow->ready);
	if (shadow->ready_fd >= 0)
		close(shadow->ready_fd);
	if (shadow->stop_fd >= 0)
		close(shadow->stop_fd);
	pthread_mutex_destroy(&shadow->lock);
	free(shadow);
}
