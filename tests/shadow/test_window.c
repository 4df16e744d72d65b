/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Windows of a real process, from the stop to the counts. */
#include "../support.h"
#include "copied.h"

#include "../../src/shadow/window.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* Computes until it has been stopped for a moment, as its clock says, and then sleeps: after a stop no
 * sample of it comes. */
static pid_t start_target(void)
{
	enum { STOPPED_NS = 50000, SLEEP_US = 300000 };
	pid_t pid = fork();
	uint64_t last_ns, now_ns;

	ck_assert_int_ge(pid, 0);
	last_ns = hp_clock_monotonic_ns();
	while (pid == 0) {
		for (volatile unsigned i = 0; i < 1000; i++)
			;
		/* Read once: a stop between two of them would be missed. */
		now_ns = hp_clock_monotonic_ns();
		if (now_ns - last_ns > STOPPED_NS) {
			usleep(SLEEP_US);
			now_ns = hp_clock_monotonic_ns();
		}
		last_ns = now_ns;
	}
	return pid;
}

/* It may have to be asked several times: the target sleeps, too. */
static void make_one(struct window_maker *maker, pid_t pid, uint64_t window_ns,
		     struct window_result *result)
{
	struct window_order order = {
		.pid = pid,
		.tid = pid,
		.slot_end_ns = UINT64_MAX / 2,
		.window_ns = window_ns,
		.threads = 1,
		.room = ROOM_OF_ITS_OWN,
	};

	ck_assert_int_eq(sched_getaffinity(0, sizeof(order.cpus), &order.cpus), 0);
	do {
		usleep(1000);
		if (window_copy(maker, &order, result))
			window_replay(maker, result);
	} while (result->outcome == WINDOW_NOT_NOW);
}

/* It was over before the first sample: what the copy ran is of no known time. */
TEST(a_window_without_samples_has_no_counts)
{
	const uint64_t shortest_ns = 1;
	static struct window_maker maker; /* large */
	struct replayer replayer;
	struct window_result result;
	struct ledger ledger;
	int stop_fd = eventfd(0, EFD_CLOEXEC);
	pid_t pid;

	if (!can_copy())
		return;
	pid = start_target();
	ledger_init(&ledger, 100, 0);
	hp_assert_ok(replayer_create(&replayer));
	window_maker_init(&maker, &replayer, &ledger, stop_fd);
	make_one(&maker, pid, shortest_ns, &result);
	hp_assert_ok(result.error);
	ck_assert_int_eq(result.outcome, WINDOW_MADE);
	ck_assert_uint_eq(result.samples, 0);
	ck_assert_uint_gt(result.copied_bytes, 0);
	ck_assert_uint_gt(result.replay_ns, 0);
	ck_assert_uint_eq(result.window.block_count, 0);
	ck_assert_uint_eq(result.window.part_count, 0);
	hp_window_clear(&result.window);
	window_maker_clear(&maker);
	replayer_clear(&replayer);
	close(stop_fd);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

HP_TEST_MAIN("shadow/window")