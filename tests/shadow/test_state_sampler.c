/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of a window's own ring: as the kernel writes them, and hostile ones. */
#include "../../src/shadow/match/state_sampler.h"
#include "../support.h"

#include <linux/perf_event.h>
#include <string.h>

struct bytes {
	uint8_t at[2048];
	size_t size;
};

static void put(struct bytes *bytes, uint64_t value)
{
	memcpy(bytes->at + bytes->size, &value, sizeof(value));
	bytes->size += sizeof(value);
}

static void finish(struct bytes *bytes, uint32_t type)
{
	struct perf_event_header header = { .type = type, .size = (uint16_t)bytes->size };

	memcpy(bytes->at, &header, sizeof(header));
}

/* perf's order: ax bx cx dx si di bp sp ip flags r8 ... r15, told apart by value. */
static struct bytes sample(uint64_t abi, uint64_t stack_bytes, uint64_t filled)
{
	struct bytes bytes = { .size = sizeof(struct perf_event_header) };

	put(&bytes, 12345); /* time */
	put(&bytes, abi);
	for (uint64_t i = 0; abi && i < 18; i++)
		put(&bytes, 100 + i);
	put(&bytes, stack_bytes);
	for (uint64_t i = 0; i < stack_bytes / 8 && i < 64; i++)
		put(&bytes, i);
	if (stack_bytes)
		put(&bytes, filled);
	finish(&bytes, PERF_RECORD_SAMPLE);
	return bytes;
}

TEST(a_sample_has_its_registers_by_their_numbers)
{
	static const uint64_t wanted[16] = { 100, 102, 103, 101, 107, 106, 104, 105,
					     110, 111, 112, 113, 114, 115, 116, 117 };
	struct bytes bytes = sample(2, 512, 40);
	struct state_sampler sampler;

	state_sampler_init(&sampler);
	ck_assert(state_sampler_take(&sampler, bytes.at, bytes.size));
	ck_assert_uint_eq(sampler.count, 1);
	for (int i = 0; i < 16; i++)
		ck_assert_uint_eq(sampler.samples[0].general[i], wanted[i]);
	ck_assert_uint_eq(sampler.samples[0].ip, 108);
	ck_assert_uint_eq(sampler.samples[0].flags, 109);
	ck_assert_uint_eq(sampler.samples[0].time_ns, 12345);
	ck_assert_uint_eq(sampler.samples[0].stack_bytes, 40);
	ck_assert_uint_eq(sampler.samples[0].tick, 0);
	state_sampler_clear(&sampler);
}

TEST(what_was_lost_is_ticks_all_the_same)
{
	struct bytes lost = { .size = sizeof(struct perf_event_header) };
	struct bytes one = sample(2, 0, 0);
	struct bytes without = sample(0, 0, 0);
	struct state_sampler sampler;

	put(&lost, 1);
	put(&lost, 5);
	finish(&lost, PERF_RECORD_LOST);
	state_sampler_init(&sampler);
	ck_assert(state_sampler_take(&sampler, one.at, one.size));
	ck_assert(state_sampler_take(&sampler, lost.at, lost.size));
	ck_assert(state_sampler_take(&sampler, without.at, without.size));
	ck_assert(state_sampler_take(&sampler, one.at, one.size));
	ck_assert_uint_eq(sampler.count, 2);
	ck_assert_uint_eq(sampler.samples[1].tick, 7);
	ck_assert_uint_eq(sampler.tick, 8);
	state_sampler_clear(&sampler);
}

TEST(records_cut_short_anywhere_are_refused)
{
	struct bytes whole = sample(2, 512, 512);
	struct state_sampler sampler;

	state_sampler_init(&sampler);
	for (size_t size = 0; size < whole.size; size += 4) {
		struct bytes part = whole;

		part.size = size;
		if (size >= sizeof(struct perf_event_header))
			finish(&part, PERF_RECORD_SAMPLE);
		ck_assert_msg(!state_sampler_take(&sampler, part.at, size), "cut at %zu", size);
		ck_assert_uint_eq(sampler.count, 0);
	}
	ck_assert(state_sampler_take(&sampler, whole.at, whole.size));
	state_sampler_clear(&sampler);
}

TEST(more_stack_than_was_asked_for_is_refused)
{
	struct bytes larger = sample(2, 4096, 40);
	struct bytes overfull = sample(2, 512, 513);
	struct bytes huge = sample(2, UINT64_MAX - 7, 0);
	struct state_sampler sampler;

	state_sampler_init(&sampler);
	ck_assert(!state_sampler_take(&sampler, larger.at, larger.size));
	ck_assert(!state_sampler_take(&sampler, overfull.at, overfull.size));
	ck_assert(!state_sampler_take(&sampler, huge.at, huge.size));
	ck_assert_uint_eq(sampler.count, 0);
	state_sampler_clear(&sampler);
}

TEST(random_bytes_do_no_harm)
{
	struct hp_random random = hp_random_seeded(99);
	struct state_sampler sampler;

	state_sampler_init(&sampler);
	for (int i = 0; i < 20000; i++) {
		struct bytes bytes = sample(2, 512, 100);

		for (int j = 0; j < 4; j++)
			bytes.at[hp_random_next(&random) % bytes.size] =
				(uint8_t)hp_random_next(&random);
		state_sampler_take(&sampler, bytes.at, bytes.size);
	}
	for (size_t i = 0; i < sampler.count; i++)
		ck_assert_uint_le(sampler.samples[i].stack_bytes, MATCH_STACK_BYTES);
	state_sampler_clear(&sampler);
}

HP_TEST_MAIN("shadow/state_sampler")
