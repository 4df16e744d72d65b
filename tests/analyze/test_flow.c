/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What holds of every estimate: of code too tangled to solve, of input that is none, and of all
 * procedures of this program. */
#include "frequencies.h"

#include <hpcprof/base/vector.h>

#include <math.h>
#include <string.h>

/* --- what is too tangled to solve ------------------------------------------------------------- */

enum { TANGLED_BLOCKS = 6000, JUMP_BYTES = 6 };

/* Blocks of one conditional jump (0f 84 and a distance) each, to anywhere. */
static uint8_t *make_tangle(void)
{
	uint8_t *bytes = hp_arena_alloc(arena, TANGLED_BLOCKS * JUMP_BYTES + 1);
	struct hp_random random = hp_random_seeded(3);

	ck_assert_ptr_nonnull(bytes);
	for (int32_t i = 0; i < TANGLED_BLOCKS; i++) {
		int32_t to = (int32_t)hp_random_between(&random, 0, TANGLED_BLOCKS - 1);
		int32_t distance = (to - i - 1) * JUMP_BYTES;

		bytes[i * JUMP_BYTES] = 0x0f;
		bytes[i * JUMP_BYTES + 1] = 0x84;
		memcpy(&bytes[i * JUMP_BYTES + 2], &distance, sizeof(distance));
	}
	bytes[TANGLED_BLOCKS * JUMP_BYTES] = 0xc3;
	return bytes;
}

static void analyse_tangle(const uint8_t *bytes)
{
	fuzz_with_image(bytes, TANGLED_BLOCKS * JUMP_BYTES + 1, analyse_code);
	hp_assert_ok(failure);
	ck_assert_uint_gt(cfg->block_count, TANGLED_BLOCKS / 2);
	ck_assert(found->problems & HP_PROBLEM_NOT_SOLVED);
	for (uint32_t i = 0; i < cfg->block_count; i++)
		assert_frequency(&found->blocks[i].frequency);
	for (uint32_t i = 0; i < cfg->edge_count; i++)
		assert_frequency(&found->edges[i]);
}

TEST(of_a_tangle_no_block_is_certain_and_the_reader_is_told)
{
	const uint8_t *bytes;

	begin();
	bytes = make_tangle();
	for (size_t i = 0; i < MOST / 2; i++)
		sampled((2000 + 2 * i) * JUMP_BYTES, i % 2 ? 1000 : 10);
	analyse_tangle(bytes);
	for (size_t i = 0; i < found->cfg->block_count; i++)
		ck_assert_uint_eq(found->blocks[i].frequency.confidence, HP_CONFIDENCE_LOW);
}

TEST(of_a_tangle_what_was_counted_is_what_was_counted)
{
	const uint8_t *bytes;

	begin();
	bytes = make_tangle();
	counted(3000 * JUMP_BYTES, 12345);
	analyse_tangle(bytes);
	ck_assert_double_eq_tol(executions(3000 * JUMP_BYTES), 12345, 15);
	ck_assert_uint_eq(frequency(3000 * JUMP_BYTES)->confidence, HP_CONFIDENCE_HIGH);
}

TEST(of_a_tangle_counts_to_each_other_are_on_the_level_of_its_time)
{
	const uint8_t *bytes;
	double ratio;

	begin();
	bytes = make_tangle();
	off_together[HP_SOURCE_SHADOW] = INFINITY;
	for (size_t i = 0; i < 4; i++) {
		sampled((2000 + 2 * i) * JUMP_BYTES, i % 2 ? 1000 : 100);
		said(HP_SOURCE_SHADOW, HP_EVIDENCE_COUNT, (2000 + 2 * i) * JUMP_BYTES,
		     i % 2 ? 1e9 : 1e8, 1e6);
	}
	analyse_tangle(bytes);
	ck_assert(!found->is_absolute);
	ratio = frequency(2002 * JUMP_BYTES)->relative / frequency(2000 * JUMP_BYTES)->relative;
	ck_assert_double_eq_tol(ratio, 10, 0.5);
	/* The code around is not a million times rarer because nobody counted it. */
	ck_assert_double_lt(frequency(2000 * JUMP_BYTES)->relative /
				    frequency(4000 * JUMP_BYTES)->relative,
			    1e4);
}

/* Half of the samples are in blocks that were counted, at 5 cycles each. The blocks are an instruction long,
 * and what is sampled at one has waited for the one before. */
TEST(of_a_tangle_what_counts_say_of_the_pace_holds_for_what_was_not_counted)
{
	const uint8_t *bytes;

	begin();
	bytes = make_tangle();
	off_together[HP_SOURCE_SHADOW] = 0.05;
	for (size_t i = 0; i < 8; i++) {
		size_t at = (2000 + 2 * i) * JUMP_BYTES;

		sampled(at + JUMP_BYTES, 1000);
		if (i % 2)
			said(HP_SOURCE_SHADOW, HP_EVIDENCE_COUNT, at, 2e8, 1e6);
	}
	analyse_tangle(bytes);
	for (size_t i = 0; i < 8; i += 2) {
		const struct hp_frequency *one = frequency((2000 + 2 * i) * JUMP_BYTES);

		ck_assert_double_gt(one->executions, 2e7);
		ck_assert_double_lt(one->executions, 2e9);
		ck_assert_double_lt(one->executions_low, 2e8);
		ck_assert_double_gt(one->executions_high, 2e8);
		/* Its own pace may differ, but not by a million times. */
		ck_assert_double_lt(one->executions_high / one->executions_low, 1e4);
	}
}

/* --- input that nobody should believe --------------------------------------------------------- */

TEST(samples_and_evidence_that_are_no_numbers_are_refused)
{
	const double bad[] = { NAN, INFINITY, -1 };

	for (size_t i = 0; i < HP_ARRAY_COUNT(bad); i++) {
		begin();
		sampled(0, bad[i]);
		assert_refused();
		begin();
		counted(0, bad[i]);
		assert_refused();
		evidence[0].value = 1;
		evidence[0].deviation = bad[i];
		assert_refused();
	}
	begin();
	off_together[HP_SOURCE_SHADOW] = NAN;
	assert_refused();
}

TEST(a_source_that_does_not_exist_and_a_probability_above_one_are_refused)
{
	begin();
	said(HP_SOURCE_COUNT, HP_EVIDENCE_COUNT, 0, 1, 0);
	assert_refused();
	begin();
	said(HP_SOURCE_REGISTERS, HP_EVIDENCE_PROBABILITY, 2, 1.5, 0);
	assert_refused();
}

/* --- all of this program ---------------------------------------------------------------------- */

enum { MOST_BLOCKS = 400, WALKS = 40, LONGEST_WALK = 3000, MOST_PROCEDURES = 150 };

static HP_VECTOR(struct hp_sampled) drawn;
static HP_VECTOR(struct hp_evidence) walked;

/* From entry to exit at random: executions that balance. One that gets lost is forgotten. */
static void walk(struct hp_random *random, double *times)
{
	uint32_t passed[LONGEST_WALK];
	unsigned length = 0;
	uint32_t node = cfg->entry;

	while (node != cfg->exit && length < LONGEST_WALK) {
		const struct hp_block *block = &cfg->blocks[node];
		uint32_t chosen = (uint32_t)hp_random_between(random, 0, block->out_count - 1);

		passed[length++] = node;
		node = cfg->edges[block->first_out + chosen].to;
	}
	while (node == cfg->exit && length > 0)
		times[passed[--length]]++;
}

static void draw(struct hp_random *random)
{
	double *times = hp_arena_array(arena, cfg->node_count, sizeof(double));

	drawn.count = walked.count = 0;
	for (unsigned i = 0; i < WALKS; i++)
		walk(random, times);
	for (uint32_t i = 0; i < cfg->block_count; i++) {
		struct hp_evidence one = { .kind = HP_EVIDENCE_COUNT,
					   .address = cfg->blocks[i].address,
					   .value = times[i] };
		double number = (double)hp_random_between(random, 0, 20);

		ck_assert(hp_vector_push(&walked, one));
		ck_assert(hp_vector_push(&drawn, (struct hp_sampled){ .address = one.address,
								      .samples = number,
								      .cycles = number * 1e6 }));
	}
}

static void with_own_procedures(void (*check)(struct hp_image *image, struct hp_random *random))
{
	struct hp_image_id id = { .kind = HP_IMAGE_FILE };
	struct hp_image_options options = { .no_debuginfo = true };
	const struct hp_procedure *const *procedures;
	struct hp_random random = hp_random_seeded(5);
	char path[] = "/proc/self/exe";
	struct hp_cfg_image *shared;
	struct hp_image *image;
	unsigned checked = 0;
	size_t count;

	id.path = path;
	hp_assert_ok(hp_image_open(&id, &options, &image));
	hp_assert_ok(hp_cfg_image_create(image, &shared));
	hp_image_procedures(image, &procedures, &count);
	for (size_t i = 0; i < count && checked < MOST_PROCEDURES; i++) {
		struct hp_error *error;

		begin();
		error = hp_cfg_create(shared, procedures[i], arena, &cfg);
		hp_error_destroy(error);
		if (error || procedures[i]->owner != procedures[i] || cfg->block_count < 3 ||
		    cfg->block_count > MOST_BLOCKS)
			continue;
		draw(&random);
		check(image, &random);
		checked++;
	}
	ck_assert_uint_gt(checked, 20);
	hp_cfg_image_destroy(shared);
	hp_image_close(image);
	hp_vector_free(&drawn);
	hp_vector_free(&walked);
}

static unsigned looked_at;
static unsigned unsettled;

static void check_sound(struct hp_image *image, struct hp_random *random)
{
	(void)random;
	looked_at++;
	hp_assert_ok(
		analyse_graph(image, &(struct hp_analysis_input){ .samples = drawn.at,
								  .sample_count = drawn.count }));
	assert_sound();
	unsettled += (found->problems & HP_PROBLEM_NOT_CONVERGED) != 0;
}

TEST(whatever_the_samples_flows_balance_and_are_never_negative)
{
	with_own_procedures(check_sound);
	/* Code made by sanitizers has a few that do not settle, and they say so. */
	ck_assert_msg(unsettled * 50 <= looked_at, "%u of %u do not settle", unsettled, looked_at);
}

static void check_counts(struct hp_image *image, struct hp_random *random)
{
	(void)random;
	hp_assert_ok(analyse_graph(image,
				   &(struct hp_analysis_input){ .samples = drawn.at,
								.sample_count = drawn.count,
								.evidence = walked.at,
								.evidence_count = walked.count }));
	for (uint32_t i = 0; i < cfg->block_count; i++) {
		double counted_times = walked.at[i].value;
		double estimate = found->blocks[i].frequency.executions;

		ck_assert_msg(fabs(estimate - counted_times) <= 0.01 * counted_times,
			      "0x%llx: %g for %g", (unsigned long long)cfg->blocks[i].address.value,
			      estimate, counted_times);
	}
}

TEST(exact_counts_of_everything_come_out_as_they_went_in)
{
	with_own_procedures(check_counts);
}

HP_TEST_MAIN("analyze/flow")
