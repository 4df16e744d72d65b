/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Windows of servers, whose system calls are recorded and given to the copy. */
#include "../support.h"
#include "copied.h"
#include "hostile.h"
#include "server.h"

#include "../../src/shadow/window.h"

#include <hpcprof/base/number.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WINDOW_NS = 2000000, TRIES = 50, ATTACKS = 6, MOST_ASKED = 100 };

static struct window_maker maker; /* large */
static struct replayer replayer;
static struct ledger ledger;

static void open_maker(void)
{
	ledger_init(&ledger, 100, 0);
	hp_assert_ok(replayer_create(&replayer, &(struct simulation_options){ 0 }));
	window_maker_init(&maker, &replayer, &ledger, eventfd(0, EFD_CLOEXEC));
}

static void close_maker(void)
{
	close(maker.stop_fd);
	window_maker_clear(&maker);
	replayer_clear(&replayer);
}

/* False: it was never in user mode. */
static bool make_one(pid_t pid, struct window_result *result)
{
	struct window_order order = {
		.pid = pid,
		.tid = pid,
		.slot_end_ns = UINT64_MAX / 2,
		.window_ns = WINDOW_NS,
		.threads = 1,
		.room = ROOM_SHARED,
		.is_recorded = true,
	};

	ck_assert_int_eq(sched_getaffinity(0, sizeof(order.cpus), &order.cpus), 0);
	for (int asked = 0; asked < MOST_ASKED; asked++) {
		usleep(1000);
		if (window_copy(&maker, &order, result))
			window_replay(&maker, &order, result);
		if (result->outcome != WINDOW_NOT_NOW)
			return true;
	}
	return false;
}

/* How often the block that holds this address was entered. */
static uint64_t count_at(const struct hp_window *window, const void *code)
{
	uint64_t at = (uint64_t)(uintptr_t)code;
	uint64_t count = 0;

	for (size_t i = 0; i < window->block_count; i++)
		if (at - window->blocks[i].address.value < window->blocks[i].size_bytes)
			count += hp_window_count(window->blocks[i].counts);
	return count;
}

/* What it does in a window follows from what it has read there: its log tells. */
static uint64_t rounds_of_log(const struct call_log *log, uint64_t *requests)
{
	uint64_t rounds = 0;

	*requests = 0;
	for (size_t i = 0; i + 1 < log->call_count; i++) {
		const struct logged_call *call = &log->calls[i];

		for (uint32_t k = 0; k < call->piece_count && call->number == SERVER_READ; k++) {
			const struct logged_piece *piece = &log->pieces[call->first_piece + k];

			ck_assert_uint_eq(piece->bytes, SERVER_BYTES);
			rounds += server_rounds(log->bytes + piece->offset);
			++*requests;
		}
	}
	return rounds;
}

static void check_exact(enum server_kind kind)
{
	struct server server;
	struct window_result result = { 0 };
	uint64_t requests = 0;
	uint64_t rounds = 0;

	open_maker();
	server_start(&server, kind);
	/* On a busy machine the server may hardly run, and its window end for that. */
	for (int tries = 0; tries < TRIES && requests <= 10; tries++) {
		hp_window_clear(&result.window);
		if (make_one(server.pid, &result)) {
			hp_assert_ok(result.error);
			ck_assert_int_eq(result.outcome, WINDOW_MADE);
		}
		if (result.window.block_count && result.window.end == HP_WINDOW_COMPLETE)
			rounds = rounds_of_log(&maker.log, &requests);
	}
	ck_assert_uint_gt(result.window.block_count, 0);
	ck_assert_int_eq(result.window.end, HP_WINDOW_COMPLETE);
	ck_assert_uint_gt(requests, 10);
	ck_assert_uint_eq(count_at(&result.window, server_round_code()), rounds);
	ck_assert_uint_gt(hp_window_duration_ns(&result.window), 0);
	/* It has got through all of it unharmed, and goes on. */
	server_end(&server);
	hp_window_clear(&result.window);
	close_maker();
}

TEST_WHERE(can_copy(), counts_of_a_server_on_sockets_are_exact)
{
	check_exact(SERVER_OF_SOCKETS);
}

TEST_WHERE(can_copy(), counts_of_a_server_on_pipes_are_exact)
{
	check_exact(SERVER_OF_PIPES);
}

TEST_WHERE(can_copy(), memory_that_is_only_kept_from_forks_is_no_secret)
{
	check_exact(SERVER_WITHOUT_FORKS);
}

/* A recording ends where memory becomes secret: within the first request. */
TEST_WHERE(can_copy(), memory_that_becomes_secret_ends_a_window)
{
	struct server server;
	struct window_result result = { 0 };
	bool is_any = false;

	open_maker();
	server_start(&server, SERVER_WITH_SECRETS);
	for (int tries = 0; tries < TRIES && !is_any; tries++) {
		uint64_t requests;

		if (make_one(server.pid, &result) && maker.log.call_count) {
			hp_assert_ok(result.error);
			rounds_of_log(&maker.log, &requests);
			ck_assert_uint_le(requests, 1);
			is_any = maker.log.end == CALL_LOG_CALL;
		}
		hp_window_clear(&result.window);
	}
	ck_assert(is_any);
	server_end(&server);
	close_maker();
}

/* Whatever comes of its windows: it is not harmed, and nobody hangs. */
static void attack(enum hostile_kind kind, int times)
{
	struct hostile hostile;
	struct window_result result = { 0 };

	open_maker();
	hostile_start(&hostile, kind);
	for (int tries = 0; tries < times; tries++) {
		(void)make_one(hostile.pid, &result);
		hp_error_destroy(result.error);
		hp_window_clear(&result.window);
	}
	hostile_end(&hostile);
	close_maker();
}

TEST_WHERE(can_copy(), pieces_of_a_hostile_program_are_bounded)
{
	attack(HOSTILE_PIECES, ATTACKS);
}

TEST_WHERE(can_copy(), buffers_may_be_unmapped_by_another_thread)
{
	attack(HOSTILE_UNMAPPED, ATTACKS);
}

TEST_WHERE(can_copy(), signals_arrive_while_calls_are_recorded)
{
	attack(HOSTILE_SIGNALS, ATTACKS);
}

TEST_WHERE(can_copy(), a_program_may_become_another_one)
{
	attack(HOSTILE_EXEC, ATTACKS);
}

/* The end of a recording does not wake it, and nothing of it is chance. */
TEST_WHERE(can_copy(), a_call_that_waits_is_not_ended)
{
	attack(HOSTILE_BLOCKED, 2);
}

TEST_WHERE(can_copy(), a_program_may_be_stopped_and_continued)
{
	attack(HOSTILE_STOPPED, ATTACKS);
}

/* Each call takes what a stop takes, or somewhat more. */
static void fill_log(struct call_log *log, size_t count, uint64_t own_ns, uint64_t beside_ns)
{
	enum { STOP_NS = 2000, CALL_NS = 500 };
	uint64_t cpu_ns = 1, now_ns = 1;

	ck_assert(call_log_begin(log));
	for (size_t i = 0; i < count; i++) {
		struct logged_call *call = &log->calls[log->call_count++];

		*call = (struct logged_call){ .entered_ns = now_ns, .entered_cpu_ns = cpu_ns };
		now_ns += STOP_NS + i % 4 * CALL_NS;
		cpu_ns += STOP_NS + i % 4 * CALL_NS;
		call->left_ns = now_ns;
		call->left_cpu_ns = cpu_ns;
		call->is_complete = true;
		cpu_ns += STOP_NS + own_ns;
		now_ns += own_ns + beside_ns;
	}
}

TEST(times_of_calls_are_without_what_stops_take)
{
	enum { CALLS = 41, OWN_NS = 10000, BESIDE_NS = 7000, DELAYED_NS = 60000, MOST_NS = 400000 };
	struct call_log log = { 0 };

	fill_log(&log, CALLS, OWN_NS, BESIDE_NS);
	call_log_time(&log);
	ck_assert_uint_eq(log.calls[CALLS - 1].user_ns, (uint64_t)(CALLS - 1) * OWN_NS);
	ck_assert_uint_eq(log.lost_ns, 2 * (uint64_t)(CALLS - 1) * BESIDE_NS);
	/* Others had the CPU meanwhile. */
	log.delayed_ns = DELAYED_NS;
	call_log_time(&log);
	ck_assert_uint_eq(log.lost_ns, 2 * (uint64_t)(CALLS - 1) * BESIDE_NS - DELAYED_NS);
	/* No less than CPU time. */
	log.own_cpu_ns = MOST_NS;
	call_log_time(&log);
	ck_assert_uint_gt(log.lost_ns, MOST_NS);
	call_log_clear(&log);
}

/* A program that only writes much at a time: what the calls do is not what their stops take. */
TEST(calls_that_all_do_work_are_not_taken_for_stops)
{
	enum { CALLS = 41, OWN_NS = 100000, WORK_NS = 200000 };
	struct call_log log = { 0 };

	fill_log(&log, CALLS, OWN_NS, 0);
	for (size_t i = 0; i < CALLS; i++) {
		log.calls[i].entered_cpu_ns += i * WORK_NS;
		log.calls[i].entered_ns += i * WORK_NS;
		log.calls[i].left_cpu_ns += (i + 1) * WORK_NS;
		log.calls[i].left_ns += (i + 1) * WORK_NS;
	}
	call_log_time(&log);
	ck_assert_uint_ge(log.calls[CALLS - 1].user_ns, (CALLS - 1) * (OWN_NS - most_stop_ns));
	ck_assert_uint_le(log.lost_ns, 2 * (CALLS - 1) * most_stop_ns);
	call_log_clear(&log);
}

TEST(times_between_calls_that_are_seldom_are_known)
{
	enum { CALLS = 11, SELDOM_NS = 200000, OFTEN_NS = 50000 };
	const uint64_t own_ns[] = { SELDOM_NS, OFTEN_NS };
	const double factors[] = { 1, 0 };

	for (size_t i = 0; i < HP_ARRAY_COUNT(own_ns); i++) {
		struct call_pace pace = { 0 };
		struct call_log log = { 0 };

		fill_log(&log, CALLS, own_ns[i], 0);
		call_log_time(&log);
		ck_assert_double_eq(call_pace_apply(&pace, &log, getpid(), gettid(), -1),
				    factors[i]);
		ck_assert_uint_eq(log.calls[CALLS - 1].user_ns, (CALLS - 1) * own_ns[i]);
		call_log_clear(&log);
	}
}

HP_TEST_MAIN("shadow/recorded")
