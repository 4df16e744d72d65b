/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sampled events that take turns, over this very process. */
#include "../software.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/number.h>
#include <hpcprof/sample/turns.h>

enum { EVENTS = 3, SLICE_NS = 1000000 };

struct scene {
	struct software software;
	struct hp_turns turns;
	struct hp_sampler sampler;
};

static struct scene open_scene(void)
{
	struct scene scene = { 0 };

	scene.software = software_create("page-faults:u,minor-faults:u,task-clock:u", 1);
	ck_assert_uint_eq(scene.software.rotation_sets.at[0].group_count, EVENTS);
	hp_assert_ok(hp_turns_create(&scene.turns, &scene.software.rotation_sets, EVENTS, HP_MUX_RR,
				     SLICE_NS));
	return scene;
}

/* Rarely enough that nothing need be taken out of the rings. */
static const struct hp_rate rates[EVENTS] = {
	{ .period = 1000 },
	{ .period = 1000 },
	{ .period = 100000000 },
};

static void start_sampling(struct scene *scene)
{
	pid_t self = getpid();
	struct hp_sampler_options options = {
		.events = &scene->software.events,
		.rates = rates,
		.threads = &self,
		.thread_count = 1,
		.on = scene->turns.on,
		.turn_of = scene->turns.group_of,
	};

	hp_assert_ok(hp_sampler_open(&scene->sampler, &options, scene->software.machine,
				     scene->software.events.events));
	hp_turns_begin(&scene->turns, &scene->sampler, hp_clock_monotonic_ns());
}

static void close_scene(struct scene *scene)
{
	hp_sampler_close(&scene->sampler);
	hp_turns_clear(&scene->turns);
	software_clear(&scene->software);
}

static size_t count_on(const struct hp_turns *turns)
{
	size_t on = 0;

	for (size_t i = 0; i < EVENTS; i++)
		on += turns->on[i];
	return on;
}

TEST(without_rotation_sets_everything_is_on_and_nothing_turns)
{
	_cleanup_(hp_turns_clear) struct hp_turns turns;
	uint64_t enabled_ns;

	hp_assert_ok(hp_turns_create(&turns, NULL, EVENTS, HP_MUX_RR, 0));
	for (size_t i = 0; i < EVENTS; i++) {
		ck_assert(turns.on[i]);
		ck_assert_uint_eq(turns.group_of[i], HP_NO_TURN);
		ck_assert(!hp_turns_enabled_ns(&turns, i, &enabled_ns));
	}
	hp_turns_go(&turns, hp_clock_monotonic_ns());
	ck_assert_uint_eq(count_on(&turns), EVENTS);
}

TEST(one_group_of_a_rotation_set_is_on_at_a_time)
{
	struct scene scene = open_scene();

	ck_assert_uint_eq(count_on(&scene.turns), 1);
	for (size_t i = 0; i < EVENTS; i++)
		for (size_t j = 0; j < i; j++)
			ck_assert_uint_ne(scene.turns.group_of[i], scene.turns.group_of[j]);
	start_sampling(&scene);
	for (int i = 0; i < 10; i++) {
		hp_turns_go(&scene.turns, scene.turns.turn_ns);
		ck_assert_uint_eq(count_on(&scene.turns), 1);
	}
	close_scene(&scene);
}

TEST(nothing_turns_before_its_slice_is_over)
{
	struct scene scene = open_scene();
	bool before[EVENTS];

	start_sampling(&scene);
	for (size_t i = 0; i < EVENTS; i++)
		before[i] = scene.turns.on[i];
	hp_turns_go(&scene.turns, scene.turns.turn_ns - 1);
	for (size_t i = 0; i < EVENTS; i++)
		ck_assert(scene.turns.on[i] == before[i]);
	hp_turns_go(&scene.turns, scene.turns.turn_ns);
	ck_assert_uint_eq(count_on(&scene.turns), 1);
	for (size_t i = 0; i < EVENTS; i++)
		ck_assert(!before[i] || !scene.turns.on[i]);
	close_scene(&scene);
}

TEST(events_count_in_their_own_slices_which_together_are_all_the_time)
{
	struct scene scene = open_scene();
	uint64_t sum_ns = 0;
	uint64_t all_ns[EVENTS];

	start_sampling(&scene);
	for (int i = 0; i < 30; i++) {
		software_touch(100);
		software_burn(SLICE_NS);
		hp_turns_go(&scene.turns, scene.turns.turn_ns);
	}
	hp_sampler_disable(&scene.sampler);
	for (size_t i = 0; i < EVENTS; i++) {
		struct hp_sampler_count count = hp_sampler_read(&scene.sampler, i);
		uint64_t enabled_ns;
		uint64_t running_ns;

		ck_assert(hp_turns_enabled_ns(&scene.turns, i, &all_ns[i]));
		ck_assert_uint_eq(all_ns[i], all_ns[0]);
		hp_sampler_times(&scene.sampler, i, &enabled_ns, &running_ns);
		ck_assert_uint_gt(enabled_ns, 0);
		ck_assert_uint_le(running_ns, enabled_ns);
		sum_ns += enabled_ns;
		/* Of faults ten slices of a hundred, and what the test itself takes. */
		if (i < 2) {
			ck_assert_uint_ge(count.value, 1000);
			ck_assert_uint_lt(count.value, 1000 + 10 * SOFTWARE_STRAY);
		}
	}
	ck_assert_uint_eq(sum_ns, all_ns[0]);
	close_scene(&scene);
}

static size_t take_samples(struct hp_sampler *sampler)
{
	struct hp_record record;
	size_t samples = 0;

	hp_ring_set_begin(&sampler->rings, UINT64_MAX);
	while (hp_ring_set_next(&sampler->rings, &record))
		samples += record.kind == HP_RECORD_SAMPLE;
	hp_ring_set_end(&sampler->rings);
	return samples;
}

/* Of any of the events: three samples at least. */
static void make_samples(void)
{
	software_touch(4000);
	software_burn(400000000);
}

TEST(a_stopped_sampler_takes_nothing_more_and_what_it_has_can_be_read)
{
	struct scene scene = open_scene();

	start_sampling(&scene);
	make_samples();
	hp_sampler_stop(&scene.sampler);
	make_samples();
	ck_assert_uint_ge(take_samples(&scene.sampler), 1);
	make_samples();
	ck_assert_uint_eq(take_samples(&scene.sampler), 0);
	close_scene(&scene);
}

HP_TEST_MAIN_UNLESS(software_reason(), "sample/turns")
