/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a window costs its target, what may be spent, and what is learned from those before. */
#include "../../src/shadow/budget/price.h"
#include "../../src/shadow/tuning.h"
#include "../support.h"

/* Nothing is lent any more. */
static void begin_steadily(struct ledger *ledger, double percent, double sample_ns)
{
	ledger_init(ledger, percent, sample_ns);
	ledger->copies = LENT_WINDOWS;
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
		/* Copies take more where there is more memory, too: that makes up for some of
		 * it. */
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
	/* Many areas and much memory in use make it dearer; and making the next one is learned. */
	at_once = ledger_price(&ledger, &terms);
	terms.areas = 1000;
	ck_assert_uint_ge(ledger_price(&ledger, &terms), at_once + 10 * ms);
	terms.areas = 0;
	terms.resident_bytes = 200 << 20;
	ck_assert_uint_ge(ledger_price(&ledger, &terms), at_once + 10 * ms);
	terms.resident_bytes = 0;
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
	/* Of what is lent, what is used; all of what is written. */
	terms.bytes = 1000 << 20;
	ck_assert_uint_eq(ledger_price(&dear, &terms) - ledger_price(&cheap, &terms),
			  LENT_USED_BYTES);
	terms.is_written = true;
	ck_assert_uint_eq(ledger_price(&dear, &terms) - ledger_price(&cheap, &terms), terms.bytes);
	terms.is_written = false;
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

/* For a copy that waits, where no CPU has time to make its buffer. */
TEST(memory_that_is_made_in_the_time_of_others_is_paid_for)
{
	const struct price_terms terms = { .room = ROOM_SHARED, .runnable = 4, .is_later = true };
	const uint64_t bytes = 64 << 20;
	const struct price_terms mapped = { .bytes = LENT_LEAST_BYTES };
	struct ledger ledger;

	ledger_init(&ledger, 1, 0);
	/* Of four threads the target loses a quarter. */
	ck_assert_uint_eq(ledger_memory_price(&ledger, &terms, bytes),
			  (uint64_t)(guessed_fresh_ns * (double)bytes / 4));
	ledger_filled(&ledger, &terms, 0, 0);
	ck_assert_uint_eq(ledger.lost_ns, 0);
	/* A little of it says nothing of more. */
	ledger_filled_idly(&ledger, &terms, 5000000, FILL_BYTES_AT_ONCE);
	ck_assert_double_eq(ledger.huge_ns, guessed_fresh_ns);
	/* What is left of the budget pays for four times as much time of ours. */
	ck_assert_uint_eq(time_for_loss_ns(&terms, 1000), 4000);
	for (int i = 0; i < 20; i++)
		ledger_filled(&ledger, &terms, bytes / 4, bytes);
	ck_assert_uint_eq(ledger.lost_ns, 20 * bytes / 16);
	ck_assert_double_le(ledger.huge_ns, 0.3);
	/* What nobody else wanted is learned from, too. */
	for (int i = 0; i < 20; i++)
		ledger_filled_idly(&ledger, &terms, bytes, bytes);
	ck_assert_uint_eq(ledger.lost_ns, 20 * bytes / 16);
	ck_assert_double_ge(ledger.huge_ns, 0.9);
	/* A buffer that is mapped has small pages, which say nothing of huge ones. */
	ck_assert_double_eq(ledger.fresh_ns, guessed_fresh_ns);
	ledger_filled_idly(&ledger, &mapped, 0, bytes);
	ck_assert_double_lt(ledger.fresh_ns, guessed_fresh_ns);
	ck_assert_double_ge(ledger.huge_ns, 0.9);
	ledger_expect_huge(&ledger, 0.125);
	ck_assert_uint_eq(ledger_memory_price(&ledger, &terms, bytes), bytes / 16);
}

/* Where a program matches well the next sample is as good as any; where it does not, long rows
 * miss. */
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

/* One copy at a time: a budget that there is no time to spend buys more windows, not longer
 * ones. */
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

TEST(the_first_windows_are_lent_part_of_a_point_and_of_the_budget)
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
			ck_assert(ledger_allows(&ledger, most_ns - 1000, second, second));
			ck_assert(!ledger_allows(&ledger, most_ns + 1000, second, second));
			ledger_copied(&ledger);
			ledger_settle(&ledger, ledger_owe(&ledger, &terms));
		}
		ck_assert(!ledger_allows(&ledger, most_ns - 1000, second, second));
		ck_assert(ledger_allows(&ledger, (uint64_t)(1e7 * rows[i].percent) - 1000, second,
					second));
	}
}

/* A slot may end long after the program does: a window whose price is not nearly earned is not begun. */
TEST(no_window_begins_before_most_of_its_price_is_earned)
{
	const uint64_t ms = 1000000;
	const uint64_t never = UINT64_MAX;
	struct ledger ledger;
	uint64_t earliest;

	begin_steadily(&ledger, 1, 0);
	/* A target is expected to run for 3 s at least: 45 ms may be spent at any time. */
	ck_assert(ledger_allows(&ledger, 44 * ms, 0, never));
	ck_assert(!ledger_allows(&ledger, 46 * ms, 0, never));
	ledger_other(&ledger, 30.0 * (double)ms);
	earliest = ledger_earliest(&ledger, 35 * ms);
	ck_assert_double_eq_tol((double)earliest, 65e6 / 0.015, 1e3);
	ck_assert(!ledger_allows(&ledger, 35 * ms, earliest - 1, never));
	ck_assert(ledger_allows(&ledger, 35 * ms, earliest, never));
	ck_assert(!ledger_allows(&ledger, 35 * ms, earliest, earliest));
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
	ck_assert(ledger_allows(&ledger, price, slot_end, slot_end));
	owed = ledger_owe(&ledger, &terms);
	ck_assert_double_eq_tol(owed, 2.0 * (double)second, 1e3);
	ck_assert(!ledger_allows(&ledger, price, slot_end, slot_end));
	ck_assert_uint_gt(ledger_slot_end(&ledger, price, 0), slot_end + 3 * second);
	ledger_settle(&ledger, owed);
	ck_assert(ledger_allows(&ledger, price, slot_end, slot_end));
	ck_assert_uint_eq(ledger_slot_end(&ledger, price, 0), slot_end);
}

/* All code is new to the first copy, and no more to the next one: what that took is not learned. */
TEST(translating_a_programs_code_is_paid_for_once)
{
	const uint64_t ms = 1000000;
	struct price_terms terms = { .window_ns = 30 * ms, .room = ROOM_NONE };
	uint64_t price, first;
	struct ledger ledger;

	begin_steadily(&ledger, 1, 0);
	price = ledger_price(&ledger, &terms);
	terms.resident_bytes = 100 << 20;
	first = ledger_price(&ledger, &terms);
	ck_assert_uint_ge(first, price + 500 * ms);
	ledger_taken(&ledger, first, &terms);
	ck_assert_uint_lt(ledger_price(&ledger, &terms), 2 * price);
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

TEST(a_late_stop_that_read_little_tells_little_of_much_memory)
{
	const uint64_t mib = 1 << 20;
	struct ledger ledger;
	uint64_t much;

	ledger_init(&ledger, 1, 0);
	ledger_expect(&ledger, 0.15, 0);
	much = ledger_hold(&ledger, 64 * mib);
	/* 4 ms late: as much as reading 13 MiB takes. */
	ledger_read(&ledger, ledger_hold(&ledger, mib) + 4000000, mib);
	ck_assert_uint_lt(ledger_hold(&ledger, 64 * mib), much + much / 2);
	/* One that read much tells more, but the next may be faster, … */
	much = ledger_hold(&ledger, 64 * mib);
	ledger_read(&ledger, 2 * much, 64 * mib);
	ck_assert_uint_gt(ledger_hold(&ledger, 64 * mib), much + much / 3);
	ck_assert_uint_lt(ledger_hold(&ledger, 64 * mib), much + much * 3 / 4);
	/* … and of several each tells as much as the others. */
	for (unsigned i = 0; i < 10; i++)
		ledger_read(&ledger, 2 * much, 64 * mib);
	ledger_read(&ledger, 3 * much, 64 * mib);
	ck_assert_uint_gt(ledger_hold(&ledger, 64 * mib), 2 * much + much / 4);
	ck_assert_uint_lt(ledger_hold(&ledger, 64 * mib), 2 * much + much / 2);
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

	for (uint64_t bytes = 8 << 20; bytes <= 32 << 20; bytes *= 2) {
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

TEST(recorded_calls_are_paid_for_and_learned)
{
	const struct price_terms plain = { .bytes = 1 << 20, .window_ns = 4000000 };
	struct price_terms recorded = plain;
	struct ledger ledger;
	uint64_t guessed_ns, most;

	ledger_init(&ledger, 1, 0);
	recorded.is_recorded = true;
	guessed_ns = ledger_price(&ledger, &recorded) - ledger_price(&ledger, &plain);
	ck_assert_uint_gt(guessed_ns, 0);
	/* Half as many calls, each of which takes half as long. */
	ledger_recorded(&ledger, (uint64_t)(ledger.calls_per_ns * 2e6), 0, &recorded);
	ck_assert_uint_eq(ledger.lost_ns, 0);
	ledger_init(&ledger, 1, 0);
	ledger_recorded(&ledger, (uint64_t)(ledger.calls_per_ns * 2e6),
			(uint64_t)(ledger.calls_per_ns * 2e6 * ledger.call_ns / 2), &recorded);
	ck_assert_uint_gt(ledger.lost_ns, 0);
	ck_assert_double_eq_tol(
		(double)(ledger_price(&ledger, &recorded) - ledger_price(&ledger, &plain)),
		(double)guessed_ns / 4, (double)guessed_ns / 100);
	most = ledger_most_calls(&ledger, &recorded, 0);
	ck_assert_uint_ge(most, (uint64_t)(ledger.calls_per_ns * 4e6));
	ck_assert_uint_gt(ledger_most_calls(&ledger, &recorded, UINT64_MAX / 4), most);
	ck_assert_uint_lt(ledger_most_calls(&ledger, &recorded, UINT64_MAX / 4), LOGGED_CALLS);
}

TEST(recorded_windows_of_programs_that_seldom_make_calls_are_longer)
{
	const uint64_t ms = 1000000;
	struct price_terms terms = { .bytes = 1 << 20, .is_recorded = true };
	struct ledger ledger;
	uint64_t usual_ns;

	ledger_init(&ledger, 1, 0);
	for (unsigned i = 0; i < LENT_WINDOWS; i++)
		ledger_copied(&ledger);
	usual_ns = ledger_window_ns(&ledger, &terms);
	ck_assert_uint_le(usual_ns, ms);
	terms.window_ns = 10 * ms;
	ledger_recorded(&ledger, 20, ms, &terms);
	ck_assert_uint_gt(ledger_window_ns(&ledger, &terms), 2 * usual_ns);
	ck_assert_uint_le(ledger_window_ns(&ledger, &terms), 50 * ms);
	/* The dearer the stop is, the more may its window cost. */
	usual_ns = ledger_window_ns(&ledger, &terms);
	terms.bytes *= 64;
	ck_assert_uint_gt(ledger_window_ns(&ledger, &terms), 2 * usual_ns);
}

HP_TEST_MAIN("shadow/price")
