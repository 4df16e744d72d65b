/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When windows are due, and what may be spent on them. */
#include "../../src/shadow/budget/cpu_load.h"
#include "../../src/shadow/budget/control_groups.h"
#include "../../src/shadow/budget/truncation.h"
#include "../../src/shadow/budget/spare_cpus.h"
#include "../../src/shadow/books.h"
#include "../../src/shadow/budget/price.h"
#include "../../src/shadow/budget/schedule.h"
#include "../../src/shadow/threads.h"
#include "../../src/shadow/tuning.h"
#include "../../src/shadow/budget/waits.h"
#include "../support.h"

#include <math.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLOT = 1000000, SLOTS = 4000 };

TEST(there_is_one_moment_in_each_slot)
{
	struct schedule schedule;
	uint64_t now = 0;

	schedule_init(&schedule, 1);
	for (uint64_t i = 0; i < SLOTS; i++) {
		schedule_next(&schedule, now, SLOT);
		ck_assert_uint_eq(schedule.start_ns, i * SLOT);
		ck_assert_uint_eq(schedule.end_ns, (i + 1) * SLOT);
		ck_assert_uint_ge(schedule.due_ns, schedule.start_ns);
		ck_assert_uint_lt(schedule.due_ns, schedule.end_ns);
		now = schedule.due_ns;
	}
}

TEST(moments_are_even_over_a_slot)
{
	uint64_t tenths[10] = { 0 };
	struct schedule schedule;

	schedule_init(&schedule, 7);
	for (uint64_t i = 0; i < SLOTS; i++) {
		schedule_next(&schedule, i * SLOT, SLOT);
		tenths[(schedule.due_ns - schedule.start_ns) * 10 / SLOT]++;
	}
	/* 400 expected each, with a deviation of 19. */
	for (int i = 0; i < 10; i++) {
		ck_assert_uint_gt(tenths[i], 300);
		ck_assert_uint_lt(tenths[i], 500);
	}
}

TEST(slots_that_have_passed_are_left_out)
{
	struct schedule schedule;

	schedule_init(&schedule, 3);
	schedule_next(&schedule, 0, SLOT);
	schedule_next(&schedule, 7 * SLOT + 5, SLOT);
	ck_assert_uint_eq(schedule.start_ns, 7 * SLOT);
	ck_assert_uint_ge(schedule.due_ns, 7 * SLOT + 5);
	ck_assert_uint_lt(schedule.due_ns, 8 * SLOT);
}

TEST(another_moment_is_soon_in_the_rest_of_the_slot)
{
	struct schedule schedule;

	schedule_init(&schedule, 5);
	schedule_next(&schedule, 0, SLOT);
	for (int i = 0; i < 100; i++) {
		schedule_again(&schedule, SLOT / 2);
		ck_assert_uint_ge(schedule.due_ns, SLOT / 2);
		ck_assert_uint_lt(schedule.due_ns, SLOT / 2 + SLOT / 10);
		schedule_again(&schedule, SLOT - 1);
		ck_assert_uint_eq(schedule.due_ns, SLOT - 1);
	}
	schedule_again(&schedule, 3 * SLOT);
	ck_assert_uint_ge(schedule.due_ns, 3 * SLOT);
	ck_assert_uint_lt(schedule.due_ns, 4 * SLOT);
}

TEST(a_moment_that_went_by_is_made_up_for_in_a_slot_of_its_own)
{
	const uint64_t second = 1000000000;
	struct schedule schedule;

	schedule_init(&schedule, 5);
	schedule_next(&schedule, 0, second);
	ck_assert(!schedule_is_late(&schedule, schedule.due_ns));
	ck_assert(!schedule_is_late(&schedule, schedule.due_ns + second / 20));
	ck_assert(schedule_is_late(&schedule, schedule.due_ns + second / 10));
	schedule_skip(&schedule, second - 1);
	ck_assert_uint_eq(schedule.start_ns, second);
	schedule_skip(&schedule, 4 * second + 1);
	ck_assert_uint_eq(schedule.start_ns, 5 * second);
	ck_assert_uint_eq(schedule.end_ns, 6 * second);
	ck_assert_uint_ge(schedule.due_ns, 5 * second);
	schedule_skip(&schedule, 6 * second);
	ck_assert_uint_eq(schedule.start_ns, 6 * second);
	/* Who is woken a little late takes a short slot all the same. */
	schedule_next(&schedule, 6 * second, SLOT);
	ck_assert(!schedule_is_late(&schedule, schedule.due_ns + 2 * SLOT));
	ck_assert(schedule_is_late(&schedule, schedule.due_ns + 20 * SLOT));
}

/* A program that does the same every 520 ms, and whose windows take 195 to 325 ms to replay, as phases
 * differ: half of a period in the mean. */
TEST(windows_of_a_program_that_repeats_itself_see_all_its_phases)
{
	enum { WINDOWS = 8000, PHASES = 8 };
	const double ms = 1e6;
	const double period = 520 * ms;
	const double window = 100 * ms;
	const struct price_terms terms = { .window_ns = (uint64_t)window };
	unsigned seen[PHASES] = { 0 };
	double free_at[2] = { 0 }; /* of the hands */
	double replayed_at = 0;
	struct schedule schedule;
	struct ledger ledger;

	ledger_init(&ledger, 10, 0);
	ledger_taken(&ledger, (uint64_t)(260 * ms), &terms);
	schedule_init(&schedule, 3);
	schedule_next(&schedule, 0, ledger_spacing_ns(&ledger, &terms));
	for (int made = 0; made < WINDOWS;) {
		double *hand = free_at[0] < free_at[1] ? &free_at[0] : &free_at[1];
		double at = fmax(*hand, (double)schedule.due_ns);
		double replay;

		if (schedule_is_late(&schedule, (uint64_t)at)) {
			schedule_skip(&schedule, (uint64_t)at);
			continue;
		}
		made++;
		seen[(int)(fmod(at, period) / period * PHASES)]++;
		replay = (260 + 65 * sin(2 * M_PI * at / period)) * ms;
		replayed_at = fmax(at + window, replayed_at) + replay;
		*hand = replayed_at;
		schedule_next(&schedule, (uint64_t)(at + window),
			      ledger_spacing_ns(&ledger, &terms));
	}
	/* 1000 expected each, with a deviation of 30 at most. */
	for (int i = 0; i < PHASES; i++) {
		ck_assert_uint_gt(seen[i], 880);
		ck_assert_uint_lt(seen[i], 1120);
	}
}

TEST(windows_are_longer_where_stops_are_dearer_within_bounds)
{
	const uint64_t ms = 1000000;
	const uint64_t mib = 1 << 20;
	uint64_t last = 0;
	struct ledger ledger;

	ledger_init(&ledger, 0.5, 0);
	for (uint64_t bytes = mib; bytes < 4096 * mib; bytes *= 2) {
		const struct price_terms terms = { .bytes = bytes };
		uint64_t window = ledger_window_ns(&ledger, &terms);

		ck_assert_uint_ge(window, 100 * ms);
		ck_assert_uint_le(window, 1000 * ms);
		/* Copies take more where there is more memory, too: that makes up for some of it. */
		ck_assert_uint_ge(window + window / 20, last);
		last = window;
	}
	ck_assert_uint_eq(last, 800 * ms);
}

TEST(windows_are_short_where_copies_take_the_targets_time)
{
	const uint64_t ms = 1000000;
	const struct price_terms apart = { .bytes = 64 << 20 };
	const struct price_terms beside = { .bytes = 64 << 20, .room = ROOM_NONE };
	struct ledger ledger;

	ledger_init(&ledger, 1, 0);
	ledger.copies = LENT_WINDOWS;
	ck_assert_uint_gt(ledger_window_ns(&ledger, &apart),
			  3 * ledger_window_ns(&ledger, &beside));
	ck_assert_uint_ge(ledger_window_ns(&ledger, &beside), 20 * ms);
}

static uint64_t own_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Looking at a target's memory takes long where there is much of it, and time that it wants. */
TEST(the_next_slot_pays_for_a_window_that_came_to_nothing)
{
	const uint64_t ms = 1000000;
	static struct books books; /* large */
	static struct job job;	   /* the same */
	uint64_t start_ns = own_ns();

	books = (struct books){ .copies = 1 };
	ledger_init(&books.ledger, 1, 0);
	schedule_init(&books.schedule, 1);
	job = (struct job){
		.order = { .tid = 1, .room = ROOM_NONE },
		.result = { .outcome = WINDOW_REFUSED, .price_ns = 10 * ms },
		.cpu_ns = start_ns,
	};
	while (own_ns() < start_ns + 20 * ms)
		;
	books_copied(&books, &job);
	ck_assert_uint_ge(books.ledger.lost_ns, 20 * ms);
	ck_assert_uint_ge(books.schedule.end_ns, ledger_slot(&books.ledger, 30 * ms));
	ck_assert_uint_eq(books.copies, 0);
}

/* It costs the stop, and what making it takes. */
TEST(a_copy_that_waits_for_an_idle_cpu_costs_little)
{
	const uint64_t ms = 1000000;
	struct price_terms terms = { .bytes = 2 << 20, .room = ROOM_NONE, .window_ns = 30 * ms };
	struct price_terms after = { .bytes = 64 << 20, .room = ROOM_AFTER };
	struct ledger ledger;
	uint64_t at_once;

	ledger_init(&ledger, 1, 0);
	at_once = ledger_price(&ledger, &terms);
	terms.is_later = true;
	ck_assert_uint_lt(5 * ledger_price(&ledger, &terms), at_once);
	/* Whatever it takes when it runs. */
	ck_assert_uint_ge(ledger_longest_replay_ns(&ledger, &terms, 1, 0), 300 * ms);
	ledger_taken(&ledger, 1000 * ms, &after);
	ck_assert_uint_eq(ledger.lost_ns, 0);
	/* Making the next one is learned. */
	at_once = ledger_price(&ledger, &terms);
	for (int i = 0; i < 20; i++)
		ledger_made(&ledger, ms / 2, &terms);
	ck_assert_uint_lt(ledger_price(&ledger, &terms), at_once - 3 * ms);
	ck_assert_uint_eq(ledger.lost_ns, 10 * ms);
}

/* Threads wait for each other: the copy of one ends there. */
TEST(copies_that_wait_are_short_where_there_are_threads)
{
	struct price_terms terms = { .bytes = 2 << 20, .room = ROOM_NONE, .is_later = true };
	struct ledger ledger;
	uint64_t alone_ns;

	ledger_init(&ledger, 1, 0);
	alone_ns = ledger_window_ns(&ledger, &terms);
	terms.threads = 2;
	ck_assert_uint_lt(2 * ledger_window_ns(&ledger, &terms), alone_ns);
}

/* A short run has some windows rather than none. */
TEST(the_first_windows_cost_little_more_than_making_them)
{
	struct price_terms terms = { .bytes = 64 << 20, .room = ROOM_NONE };
	struct ledger first, later;
	uint64_t least;

	ledger_init(&first, 1, 0);
	first.has_taken = true;
	later = first;
	later.copies = LENT_WINDOWS;
	least = ledger_price(&first, &terms);
	terms.window_ns = ledger_window_ns(&first, &terms);
	ck_assert_uint_le(ledger_price(&first, &terms), 2 * least);
	terms.window_ns = ledger_window_ns(&later, &terms);
	ck_assert_uint_gt(ledger_price(&first, &terms), 2 * least);
}

/* It is nobody's before, in the copy and in a buffer that is too small. */
TEST(fresh_memory_is_paid_for)
{
	struct price_terms terms = { .bytes = 50 << 20, .room = ROOM_NONE };
	struct ledger cheap, dear;
	uint64_t bytes = terms.bytes;

	ledger_init(&cheap, 1, 0);
	ledger_init(&dear, 1, 0);
	/* What is measured at the start may be cheap by chance. */
	ledger_expect(&cheap, 0, 0.25);
	ck_assert_double_eq(cheap.fresh_ns, guessed_fresh_ns);
	ledger_expect(&dear, 0, guessed_fresh_ns + 1);
	ck_assert_uint_eq(ledger_price(&dear, &terms) - ledger_price(&cheap, &terms), bytes);
	/* Of what is lent, what is used. */
	terms.bytes = 1000 << 20;
	ck_assert_uint_eq(ledger_price(&dear, &terms) - ledger_price(&cheap, &terms),
			  LENT_USED_BYTES);
	terms.bytes = bytes;
	/* What is read ahead does not hold anybody. */
	terms.ahead_bytes = bytes;
	ck_assert_uint_eq(
		ledger_price(&cheap, &(struct price_terms){ .bytes = bytes, .room = ROOM_NONE }) -
			ledger_price(&cheap, &terms),
		ledger_hold(&cheap, bytes) - ledger_hold(&cheap, 0) +
			(uint64_t)(refill_ns_per_byte * cpu_cache_bytes));
	terms.ahead_bytes = 0;
	/* Where it turns out to be cheaper than it was at the start. */
	for (int i = 0; i < 20; i++)
		ledger_taken(&dear, bytes / 4, &terms);
	ck_assert_double_le(dear.fresh_ns, 0.3);
}

/* Where a program matches well the next sample is as good as any; where it does not, long rows miss. */
TEST(more_samples_are_taken_behind_a_window_where_fewer_match)
{
	struct ledger ledger;
	uint64_t few, some;

	ledger_init(&ledger, 1, 0);
	some = ledger_samples_behind(&ledger);
	for (int i = 0; i < 20; i++)
		ledger_matched(&ledger, 34, 34);
	few = ledger_samples_behind(&ledger);
	ck_assert_uint_ge(few, 1);
	ck_assert_uint_lt(few, some);
	for (int i = 0; i < 20; i++)
		ledger_matched(&ledger, 100, 63);
	ck_assert_uint_eq(ledger_samples_behind(&ledger), 10);
	for (int i = 0; i < 20; i++)
		ledger_matched(&ledger, 100, 0);
	ck_assert_uint_le(ledger_samples_behind(&ledger), 20);
	ledger_matched(&ledger, 0, 0);
	ck_assert_uint_le(ledger_samples_behind(&ledger), 20);
}

/* One copy at a time: a budget that there is no time to spend buys more windows, not longer ones. */
TEST(windows_are_no_longer_than_lets_the_budget_be_spent)
{
	const struct price_terms terms = { .bytes = 64 << 20 };
	struct price_terms taken = { 0 };
	struct ledger little;
	struct ledger much;

	ledger_init(&little, 0.5, 0);
	ledger_init(&much, 10, 0);
	ck_assert_uint_lt(ledger_window_ns(&much, &terms), ledger_window_ns(&little, &terms));
	taken.window_ns = ledger_window_ns(&little, &terms);
	ledger_taken(&little, 20 * taken.window_ns, &taken);
	ck_assert_uint_lt(ledger_window_ns(&little, &terms), taken.window_ns);
}

/* Nothing is lent any more. */
static void begin_steadily(struct ledger *ledger, double percent, double sample_ns)
{
	ledger_init(ledger, percent, sample_ns);
	ledger->copies = LENT_WINDOWS;
}

TEST(a_dearer_copy_has_a_higher_price_and_a_longer_slot)
{
	const struct price_terms none = { 0 };
	const struct price_terms samples = { .samples = 50 };
	const struct price_terms both = { .bytes = 1 << 20, .samples = 50 };
	struct ledger ledger;

	begin_steadily(&ledger, 1, 0);
	ck_assert_uint_gt(ledger_price(&ledger, &both), ledger_price(&ledger, &samples));
	ck_assert_uint_gt(ledger_price(&ledger, &samples), ledger_price(&ledger, &none));
	/* 1 %: a hundred times. */
	ck_assert_uint_eq(ledger_slot(&ledger, 1000000), 100000000);
}

/* Windows of any price, wherever the slots put them: never more than the share of what has run, at
 * the end of each slot. */
TEST(what_is_allowed_stays_within_the_budget)
{
	struct hp_random random = hp_random_seeded(11);
	struct schedule schedule;
	struct ledger ledger;
	uint64_t now = 0;
	uint64_t windows = 0;

	begin_steadily(&ledger, 2, 5000);
	schedule_init(&schedule, 13);
	schedule_next(&schedule, 0, 1000);
	for (int i = 0; i < SLOTS; i++) {
		const struct price_terms terms = {
			.bytes = hp_random_between(&random, 0, 50 << 20),
			.samples = 50,
		};
		uint64_t price = ledger_price(&ledger, &terms);
		uint64_t slot_end;

		now = schedule.due_ns;
		if (ledger_allows(&ledger, price, schedule.end_ns)) {
			ledger_other(&ledger, (double)price);
			windows++;
		}
		ck_assert(0.02 * (double)schedule.end_ns >= (double)ledger.lost_ns);
		slot_end = ledger_slot_end(&ledger, price, schedule.end_ns);
		schedule_next(&schedule, now, slot_end - schedule.end_ns);
	}
	ck_assert_uint_gt(windows, SLOTS / 4);
	/* And nearly all of it is spent. */
	ck_assert((double)ledger.lost_ns > 0.018 * (double)now);
}

TEST(the_first_windows_are_lent_half_a_point_and_no_more_than_half_the_budget)
{
	const uint64_t second = 1000000000;
	const struct price_terms terms = { 0 };
	const struct {
		double percent, most;
	} rows[] = { { 1, 0.015 }, { 0.2, 0.003 }, { 5, 0.055 } };

	for (size_t i = 0; i < HP_ARRAY_COUNT(rows); i++) {
		uint64_t most_ns = (uint64_t)(rows[i].most * 1e9);
		struct ledger ledger;

		ledger_init(&ledger, rows[i].percent, 0);
		for (size_t window = 0; window < LENT_WINDOWS; window++) {
			ck_assert(ledger_allows(&ledger, most_ns - 1000, second));
			ck_assert(!ledger_allows(&ledger, most_ns + 1000, second));
			ledger_copied(&ledger);
			ledger_settle(&ledger, ledger_owe(&ledger, &terms));
		}
		ck_assert(!ledger_allows(&ledger, most_ns - 1000, second));
		ck_assert(ledger_allows(&ledger, (uint64_t)(1e7 * rows[i].percent) - 1000, second));
	}
}

/* What a copy that still runs is going to cost is spent already, until it is known. */
TEST(what_copies_are_going_to_cost_is_no_longer_to_be_had)
{
	const uint64_t second = 1000000000;
	const struct price_terms terms = { .window_ns = second, .room = ROOM_NONE };
	struct ledger ledger;
	uint64_t price, slot_end;
	double owed;

	begin_steadily(&ledger, 50, 5000);
	ledger_taken(&ledger, 2 * second, &terms);
	price = ledger_price(&ledger, &terms);
	slot_end = ledger_slot_end(&ledger, price, 0);
	ck_assert(ledger_allows(&ledger, price, slot_end));
	owed = ledger_owe(&ledger, &terms);
	ck_assert_double_eq_tol(owed, 2.0 * (double)second, 1e3);
	ck_assert(!ledger_allows(&ledger, price, slot_end));
	ck_assert_uint_gt(ledger_slot_end(&ledger, price, 0), slot_end + 3 * second);
	ledger_settle(&ledger, owed);
	ck_assert(ledger_allows(&ledger, price, slot_end));
	ck_assert_uint_eq(ledger_slot_end(&ledger, price, 0), slot_end);
}

TEST(slots_are_shorter_by_what_is_left_over_and_longer_by_what_is_overdrawn)
{
	const uint64_t second = 1000000000;
	struct ledger ledger;

	begin_steadily(&ledger, 1, 0);
	/* 10 ms were spent, which 1 s has paid for; as much again takes another. */
	ledger_other(&ledger, 10e6);
	ck_assert_uint_eq(ledger_slot_end(&ledger, 10000000, second), 2 * second);
	/* After 1.2 s 2 ms are left over. */
	ck_assert_uint_eq(ledger_slot_end(&ledger, 10000000, second + second / 5), 2 * second);
	/* After 5 s more than is needed. */
	ck_assert_uint_eq(ledger_slot_end(&ledger, 10000000, 5 * second), 5 * second + second / 2);
	/* 5 ms too many. */
	ledger_other(&ledger, 5e6);
	ck_assert_uint_eq(ledger_slot_end(&ledger, 10000000, second), 2 * second + second / 2);
}

TEST(prices_follow_what_is_measured)
{
	const struct price_terms terms = { .bytes = 100 << 20 };
	struct ledger ledger;
	uint64_t wrong;

	ledger_init(&ledger, 1, 0);
	/* Without the first translation of the program. */
	ledger.has_taken = true;
	for (int i = 0; i < 30; i++) {
		ledger_stop(&ledger, 20000000, &terms);
		ledger_read(&ledger, 20000000, terms.bytes);
	}
	wrong = ledger_price(&ledger, &terms);
	/* 20 ms, and what cold caches are reckoned to take. */
	ck_assert_uint_ge(wrong, 19000000);
	ck_assert_uint_le(wrong, 24000000);
	ck_assert_uint_ge(ledger.lost_ns, 30 * 20000000ull);
	ck_assert_uint_eq(ledger.stopped_ns, 30 * 20000000ull);
	/* Slower now. */
	for (int i = 0; i < 30; i++)
		ledger_read(&ledger, 60000000, terms.bytes);
	ck_assert_uint_ge(ledger_price(&ledger, &terms), 55000000);
}

TEST(a_stop_without_a_copy_says_nothing_of_the_next)
{
	const struct price_terms terms = { .bytes = 500 << 20 };
	const struct price_terms nothing = { 0 };
	struct ledger ledger;
	uint64_t price;

	ledger_init(&ledger, 1, 0);
	ledger_expect(&ledger, 0.25, 0);
	price = ledger_price(&ledger, &terms);
	ck_assert_uint_gt(price, 500 << 18);
	ledger_stop(&ledger, 300000, &nothing);
	ck_assert_uint_eq(ledger_price(&ledger, &terms), price);
	ck_assert_uint_ge(ledger.lost_ns, 300000);
	/* What has been measured is not expected any more. */
	ledger_read(&ledger, 100000000, terms.bytes);
	price = ledger_price(&ledger, &terms);
	ledger_expect(&ledger, 9, 0);
	ck_assert_uint_eq(ledger_price(&ledger, &terms), price);
}

TEST(what_others_wait_for_is_lost_once_for_each)
{
	struct price_terms terms = { .bytes = 10 << 20, .samples = 20, .threads = 1 };
	struct ledger one, eight;
	uint64_t price;

	ledger_init(&one, 1, 1000);
	ledger_init(&eight, 1, 1000);
	/* What copies take is not lost by each. */
	one.has_taken = eight.has_taken = true;
	one.fresh_ns = eight.fresh_ns = 0;
	price = ledger_price(&one, &terms);
	ledger_stop(&one, 5000000, &terms);
	ledger_samples(&one, &terms);
	terms.threads = 8;
	ck_assert_uint_ge(ledger_price(&eight, &terms), 8 * price - 8);
	ledger_stop(&eight, 5000000, &terms);
	ledger_samples(&eight, &terms);
	ck_assert_uint_ge(eight.lost_ns, 8 * one.lost_ns - 8);
	/* The stop as such is as long. */
	ck_assert_uint_eq(eight.longest_stop_ns, one.longest_stop_ns);
}

TEST(a_copy_without_a_cpu_of_its_own_is_dear)
{
	const uint64_t ms = 1000000;
	const enum spare_cpus rooms[] = { ROOM_OF_ITS_OWN, ROOM_IN_CORE, ROOM_NONE };
	uint64_t last_price = 0;
	uint64_t last_lost = 0;

	for (size_t i = 0; i < HP_ARRAY_COUNT(rooms); i++) {
		const struct price_terms terms = { .window_ns = 100 * ms, .room = rooms[i] };
		struct ledger ledger;

		ledger_init(&ledger, 1, 0);
		ck_assert_uint_gt(ledger_price(&ledger, &terms), last_price);
		last_price = ledger_price(&ledger, &terms);
		ledger_taken(&ledger, 250 * ms, &terms);
		ck_assert_uint_gt(ledger.lost_ns, last_lost);
		last_lost = ledger.lost_ns;
	}
	ck_assert_uint_eq(last_lost, 250 * ms);
	ck_assert_uint_ge(last_price, 100 * ms);
}

TEST(a_copy_of_more_than_caches_hold_is_dearer)
{
	const uint64_t ms = 1000000;
	uint64_t last = 0;

	for (uint64_t bytes = 1 << 20; bytes <= 16 << 20; bytes *= 4) {
		const struct price_terms terms = { .bytes = bytes, .window_ns = 100 * ms };
		struct ledger ledger;

		ledger_init(&ledger, 1, 0);
		ledger_taken(&ledger, 1000 * ms, &terms);
		ck_assert_uint_gt(ledger.lost_ns, last);
		last = ledger.lost_ns;
	}
	/* Between what one core shares with another at least, and what waiting for memory loses. */
	ck_assert_uint_ge(last, 10 * ms);
	ck_assert_uint_le(last, 50 * ms);
}

TEST(what_copies_take_is_learned)
{
	const uint64_t ms = 1000000;
	const struct price_terms terms = { .window_ns = 100 * ms, .room = ROOM_NONE };
	struct ledger ledger;

	ledger_init(&ledger, 1, 0);
	for (int i = 0; i < 40; i++)
		ledger_taken(&ledger, 700 * ms, &terms);
	ck_assert_uint_ge(ledger_price(&ledger, &terms), 690 * ms);
	ck_assert_uint_eq(ledger.lost_ns, 40 * 700 * ms);
}

/* What a target waits in a second, by itself and beside copies. */
static double excess_of(uint64_t calm_ms, uint64_t busy_ms, int times)
{
	const uint64_t ms = 1000000;
	struct waits waits = { 0 };
	uint64_t now = 5;
	uint64_t waited = 77 * ms;
	double sum = 0;

	waits_begin(&waits, now, waited);
	for (int i = 0; i < times; i++) {
		now += 1000 * ms;
		waited += calm_ms * ms;
		waits_begin(&waits, now, waited);
		now += 1000 * ms;
		waited += busy_ms * ms;
		sum += waits_end(&waits, now, waited, 400 * ms);
	}
	return sum;
}

TEST(copies_may_take_so_much_longer_than_others_did)
{
	const uint64_t window_ns = 200000000;
	const uint64_t dear_ns = UINT64_C(1000000000);
	const struct price_terms terms = { .bytes = 1 << 20, .window_ns = window_ns };
	const struct price_terms longer = { .bytes = 1 << 20, .window_ns = 2 * window_ns };
	struct ledger ledger;
	uint64_t first_ns;

	ledger_init(&ledger, 1, 0);
	first_ns = ledger_longest_replay_ns(&ledger, &terms, dear_ns, 0);
	/* One that translates most of the program takes a second more than any other. */
	ck_assert_uint_gt(first_ns, 2 * UINT64_C(1000000000));
	ledger_whole(&ledger, 2 * window_ns, window_ns);
	/* What one that had lost its way took is no measure. */
	ledger_taken(&ledger, 100 * window_ns, &terms);
	ck_assert_uint_lt(ledger_longest_replay_ns(&ledger, &terms, dear_ns, 0), first_ns);
	ck_assert_uint_ge(ledger_longest_replay_ns(&ledger, &terms, dear_ns, 0), 4 * 2 * window_ns);
	ck_assert_uint_lt(ledger_longest_replay_ns(&ledger, &terms, dear_ns, 0),
			  ledger_longest_replay_ns(&ledger, &longer, dear_ns, 0));
}

/* What is left of the budget; but what it was to cost, and a little more, in any case. */
TEST(a_copy_that_has_lost_its_way_costs_no_more_than_is_left)
{
	const uint64_t ms = 1000000;
	const struct price_terms terms = { .window_ns = 10 * ms, .room = ROOM_NONE };
	const struct price_terms in_core = { .window_ns = 100 * ms, .room = ROOM_IN_CORE };
	struct ledger ledger;
	uint64_t expected_ns;

	begin_steadily(&ledger, 1, 0);
	ledger.has_taken = true;
	ck_assert_uint_eq(ledger_longest_replay_ns(&ledger, &terms, 100 * ms, 60 * ms), 60 * ms);
	expected_ns = ledger_longest_replay_ns(&ledger, &terms, 100 * ms, 0);
	ck_assert_uint_gt(expected_ns, 30 * ms);
	ck_assert_uint_lt(expected_ns, 40 * ms);
	/* Where a CPU is idle it is a few times its price. */
	ck_assert_uint_eq(ledger_longest_replay_ns(&ledger, &in_core, 20 * ms, 0), 120 * ms);
	/* It is what the slot has, less what was spent of that. */
	ck_assert_uint_eq(ledger_left_ns(&ledger, 1000 * ms), 10 * ms);
	ledger_other(&ledger, 4e6);
	ck_assert_uint_eq(ledger_left_ns(&ledger, 1000 * ms), 6 * ms);
	ledger_other(&ledger, 10e6);
	ck_assert_uint_eq(ledger_left_ns(&ledger, 1000 * ms), 0);
}

TEST(beside_other_programs_the_target_loses_its_share)
{
	const uint64_t ms = 1000000;
	const struct price_terms terms = { .room = ROOM_SHARED, .threads = 2, .runnable = 8 };
	const struct price_terms alone = { .room = ROOM_SHARED, .threads = 2, .runnable = 0.5 };
	struct ledger ledger;

	ledger_init(&ledger, 1, 0);
	ledger_wasted(&ledger, 100 * ms, &terms);
	ck_assert_uint_eq(ledger.lost_ns, 25 * ms);
	/* Never more than all of it. */
	ledger_wasted(&ledger, 100 * ms, &alone);
	ck_assert_uint_eq(ledger.lost_ns, 125 * ms);
}

TEST(the_load_is_what_was_runnable_lately)
{
	const uint64_t second = 1000000000;
	struct cpu_load load;

	cpu_load_init(&load);
	cpu_load_take(&load, second, "0.20 0.18 0.12 4/80 11206\n", 0);
	ck_assert_double_eq(load.runnable, 3);
	/* A moment says little, a while much. */
	cpu_load_take(&load, second + second / 100, "0.20 0.18 0.12 101/200 11206\n", 0);
	ck_assert_double_lt(load.runnable, 5);
	cpu_load_take(&load, 20 * second, "0.20 0.18 0.12 1/80 11206\n", 0);
	ck_assert_double_lt(load.runnable, 0.1);
	/* What makes no sense changes nothing. */
	cpu_load_take(&load, 30 * second, "", 0);
	cpu_load_take(&load, 30 * second, "/", 0);
	cpu_load_take(&load, 30 * second, "0.20 x/80", 0);
	ck_assert_double_lt(load.runnable, 0.1);
	ck_assert_uint_eq(load.at_ns, 20 * second);
	cpu_load_look(&load, 40 * second);
	ck_assert_uint_eq(load.at_ns, 40 * second);
}

TEST(it_fills_the_cpus_when_none_was_idle_lately)
{
	static const char text[] = "0.20 0.18 0.12 4/80 11206\n";
	const uint64_t second = 1000000000;
	struct cpu_load load;

	cpu_load_init(&load);
	ck_assert(!cpu_load_is_full(&load));
	cpu_load_take(&load, second, text, 100 * second);
	ck_assert(!cpu_load_is_full(&load));
	/* A second in which nothing was idle, one in which a CPU was, and a moment. */
	cpu_load_take(&load, 2 * second, text, 100 * second);
	ck_assert(cpu_load_is_full(&load));
	cpu_load_take(&load, 3 * second, text, 101 * second);
	ck_assert(!cpu_load_is_full(&load));
	ck_assert_double_gt(load.idle_cpus, 0.5);
	cpu_load_take(&load, 3 * second + second / 100, text, 101 * second);
	ck_assert(!cpu_load_is_full(&load));
	/* What a copy took of idle time is nobody else's. */
	cpu_load_pause(&load);
	cpu_load_take(&load, 60 * second, text, 101 * second);
	ck_assert(!cpu_load_is_full(&load));
}

TEST(only_waiting_beyond_the_usual_is_a_copys_doing)
{
	const double ms = 1e6;

	ck_assert_double_eq_tol(excess_of(0, 0, 10), 0, 1);
	ck_assert_double_eq_tol(excess_of(300, 300, 10), 0, 1);
	ck_assert_double_eq_tol(excess_of(300, 350, 10), 500 * ms, 1000);
	/* Not more than it took. */
	ck_assert_double_eq_tol(excess_of(0, 900, 10), 4000 * ms, 1000);
	/* Less is not given back beyond what was taken. */
	ck_assert_double_eq_tol(excess_of(500, 100, 10), 0, 1);
}

TEST(noise_in_waiting_adds_up_to_little)
{
	const uint64_t ms = 1000000;
	struct hp_random random = hp_random_seeded(3);
	struct waits waits = { 0 };
	uint64_t now = 5;
	uint64_t waited = 0;
	double sum = 0;

	waits_begin(&waits, now, waited);
	for (int i = 0; i < 400; i++) {
		now += 1000 * ms;
		waited += hp_random_between(&random, 0, 600) * ms;
		waits_begin(&waits, now, waited);
		now += 1000 * ms;
		waited += hp_random_between(&random, 0, 600) * ms;
		sum += waits_end(&waits, now, waited, 400 * ms);
	}
	/* Each difference alone, those below 0 left out, would make some 30 s. */
	ck_assert(sum >= 0);
	ck_assert_double_lt(sum, 15000.0 * (double)ms);
}

TEST(before_it_is_known_what_is_usual_nothing_is_held_against_a_copy)
{
	struct waits waits = { 0 };

	waits_begin(&waits, 1000, 0);
	ck_assert_double_eq_tol(waits_end(&waits, 900000000, 500000000, 400000000), 0, 1e-9);
}

TEST(threads_that_end_take_their_waiting_with_them)
{
	struct waits waits = { 0 };

	waits_begin(&waits, 1000, 900000000);
	waits_begin(&waits, 100001000, 900000000);
	ck_assert_double_eq_tol(waits_end(&waits, 200001000, 5, 400000000), 0, 1e-9);
}

/* What the kernel says of a process with one thread. */
static uint64_t kernels_waiting_ns(pid_t pid)
{
	unsigned long long ran_ns, waited_ns;
	char path[64];
	FILE *file;
	int found;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	found = fscanf(file, "%llu %llu", &ran_ns, &waited_ns);
	fclose(file);
	return found == 2 ? waited_ns : 0;
}

/* Two that want the same CPU, and are stopped when both have waited for it: where kernels tell. */
TEST(what_threads_have_waited_for_a_cpu_adds_up)
{
	enum { CHILDREN = 2, ENOUGH_MS = 2000 };
	struct target target = { 0 };
	uint64_t wanted_ns = 0;
	bool has_waited = false;
	pid_t children[CHILDREN];
	cpu_set_t cpus;
	size_t first = 0;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	while (!CPU_ISSET(first, &cpus))
		first++;
	CPU_ZERO(&cpus);
	CPU_SET(first, &cpus);
	for (int i = 0; i < CHILDREN; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			sched_setaffinity(0, sizeof(cpus), &cpus);
			for (volatile uint64_t j = 0;; j++)
				;
		}
		ck_assert_int_gt(children[i], 0);
		ck_assert(target_add(&target, children[i], 0));
	}
	for (int i = 0; i < ENOUGH_MS && !has_waited; i++) {
		usleep(1000);
		has_waited = kernels_waiting_ns(children[0]) && kernels_waiting_ns(children[1]);
	}
	for (int i = 0; i < CHILDREN; i++) {
		kill(children[i], SIGSTOP);
		ck_assert_int_eq(waitpid(children[i], NULL, WUNTRACED), children[i]);
	}
	for (int i = 0; i < CHILDREN; i++)
		wanted_ns += kernels_waiting_ns(children[i]);
	if (!HP_TEST_UNDER_TSAN)
		ck_assert_uint_eq(target_waited_ns(&target), wanted_ns);
	for (int i = 0; i < CHILDREN; i++) {
		kill(children[i], SIGKILL);
		ck_assert_int_eq(waitpid(children[i], NULL, 0), children[i]);
	}
	ck_assert_uint_eq(target_waited_ns(&target), 0);
	target_clear(&target);
}

/* Of processes that run for a tenth of a second their beginnings would never be seen otherwise. */
TEST(children_are_found_before_they_have_run_for_long)
{
	enum { SOON_NS = 50000000, ROUNDS = 20 };
	bool is_found = false;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	/* Once is enough: somebody else may want the CPU while it looks. */
	for (int i = 0; i < ROUNDS && !is_found && access(path, R_OK) == 0; i++) {
		struct target target = { .follows = true };
		uint64_t now_ns = hp_clock_monotonic_ns();
		pid_t child;

		ck_assert(target_add(&target, getpid(), 0));
		target_cpu_ns(&target, now_ns);
		ck_assert_uint_eq(target.count, 1);
		child = fork();
		if (child == 0)
			for (;;)
				pause();
		target_cpu_ns(&target, now_ns + SOON_NS);
		is_found = target.count == 2;
		kill(child, SIGKILL);
		ck_assert_int_eq(waitpid(child, NULL, 0), child);
		target_clear(&target);
	}
	ck_assert(is_found || access(path, R_OK) < 0);
}

TEST(groups_are_found_by_their_controller)
{
	static const char text[] = "12:cpu,cpuacct:/jobs/7\n4:memory:/a:b\n1:name=systemd:/\n"
				   "0::/user.slice/one\n";
	char group[64];

	ck_assert(control_group_find(text, "memory", group, sizeof(group)));
	ck_assert_str_eq(group, "/a:b");
	ck_assert(control_group_find(text, "cpu", group, sizeof(group)));
	ck_assert_str_eq(group, "/jobs/7");
	ck_assert(control_group_find(text, "cpuacct", group, sizeof(group)));
	ck_assert(control_group_find(text, "", group, sizeof(group)));
	ck_assert_str_eq(group, "/user.slice/one");
	ck_assert(!control_group_find(text, "cpuset", group, sizeof(group)));
	ck_assert(!control_group_find(text, "mem", group, sizeof(group)));
	ck_assert(!control_group_find(text, "", group, 4));
	ck_assert(!control_group_find("", "", group, sizeof(group)));
	ck_assert(!control_group_find("nonsense", "memory", group, sizeof(group)));
	ck_assert(!control_group_find("4:memory", "memory", group, sizeof(group)));
}

TEST(quotas_are_whole_cpus)
{
	ck_assert_uint_eq(control_group_quota("max 100000"), UINT64_MAX);
	ck_assert_uint_eq(control_group_quota("50000 100000"), 1);
	ck_assert_uint_eq(control_group_quota("250000 100000"), 2);
	ck_assert_uint_eq(control_group_quota("250000 0"), UINT64_MAX);
	ck_assert_uint_eq(control_group_quota("250000"), UINT64_MAX);
	ck_assert_uint_eq(control_group_quota(""), UINT64_MAX);
	ck_assert_uint_ge(control_groups_cpus(), 1);
}

TEST(a_copy_runs_elsewhere_if_it_can)
{
	cpu_set_t ours, cpus;
	enum spare_cpus room = spare_cpus(getpid(), 1, cpus_to_use(), &cpus);

	ck_assert_int_eq(sched_getaffinity(0, sizeof(ours), &ours), 0);
	ck_assert_uint_ge(cpus_to_use(), 1);
	ck_assert_uint_le(cpus_to_use(), (uint64_t)CPU_COUNT(&ours));
	/* Within what we may use, and never nowhere. */
	ck_assert_int_gt(CPU_COUNT(&cpus), 0);
	CPU_OR(&cpus, &cpus, &ours);
	ck_assert(CPU_EQUAL(&cpus, &ours));
	if (CPU_COUNT(&ours) == 1)
		ck_assert_int_eq(room, ROOM_NONE);
	/* Where all are wanted there is no room, whatever CPUs there are. */
	ck_assert_int_eq(spare_cpus(getpid(), 5, 5, &cpus), ROOM_NONE);
}

TEST(memory_to_spare_is_what_the_kernel_says_less_a_reserve)
{
	uint64_t total = 0;

	ck_assert_uint_eq(meminfo_available("MemTotal:  1000 kB\nMemFree: 5 kB\n"
					    "MemAvailable:    700 kB\n",
					    &total),
			  700 * 1024);
	ck_assert_uint_eq(total, 1000 * 1024);
	ck_assert_uint_eq(meminfo_available("", &total), 0);
	ck_assert_uint_eq(meminfo_available("MemAvailable: many kB\n", &total), 0);
	ck_assert_uint_eq(meminfo_available("MemAvailable: 99999999999999999999 kB\n", &total), 0);
}

TEST(windows_that_are_cut_count_while_they_are_few)
{
	const uint64_t ms = 1000000;
	struct truncation cuts = { 0 };

	ck_assert(!truncation_is_common(&cuts));
	for (unsigned i = 0; i < 20; i++)
		truncation_note(&cuts, 100 * ms, 95 * ms, false);
	ck_assert(!truncation_is_common(&cuts));
	truncation_note(&cuts, 100 * ms, 10 * ms, true);
	ck_assert(!truncation_is_common(&cuts));
	/* One in two, which miss most. */
	for (unsigned i = 0; i < 20; i++)
		truncation_note(&cuts, 100 * ms, 10 * ms, i % 2);
	ck_assert(truncation_is_common(&cuts));
	/* One in two, which miss little. */
	for (unsigned i = 0; i < 40; i++)
		truncation_note(&cuts, 100 * ms, i % 2 ? 80 * ms : 100 * ms, i % 2);
	ck_assert(!truncation_is_common(&cuts));
}

/* Of a program that waits every 40 ms, which windows begin anywhere in. */
TEST(windows_become_so_short_that_most_are_not_cut)
{
	const uint64_t ms = 1000000, gap_ns = 40 * ms;
	struct hp_random random = hp_random_seeded(5);
	struct truncation cuts = { 0 };
	unsigned whole = 0;

	ck_assert_uint_eq(truncation_longest_ns(&cuts), UINT64_MAX);
	for (unsigned i = 0; i < 200; i++) {
		uint64_t longest_ns = truncation_longest_ns(&cuts);
		uint64_t window_ns = longest_ns < 100 * ms ? longest_ns : 100 * ms;
		uint64_t left_ns = hp_random_between(&random, 0, gap_ns);
		bool is_cut = left_ns < window_ns;

		truncation_note(&cuts, window_ns, is_cut ? left_ns : window_ns, is_cut);
		if (i < 20)
			continue;
		whole += !is_cut;
		ck_assert_uint_ge(window_ns, gap_ns / 10);
	}
	ck_assert_uint_ge(whole, 90);
	/* Cuts that are rare make none shorter. */
	cuts = (struct truncation){ 0 };
	for (unsigned i = 0; i < 20; i++)
		truncation_note(&cuts, 100 * ms, i == 10 ? 5 * ms : 100 * ms, i == 10);
	ck_assert_uint_gt(truncation_longest_ns(&cuts), 100 * ms);
}

HP_TEST_MAIN("shadow/schedule")
