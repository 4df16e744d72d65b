/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The whole analysis of code that somebody else made, with samples and counts that make no sense of
 * it: frequencies, culprits, sheet. What an analysis claims of itself is checked.
 */
#include "fuzz.h"
#include "graphs.h"

#include <hpcprof/analyze/analysis.h>
#include <hpcprof/base/number.h>

#include <math.h>
#include <stdlib.h>

enum {
	PROCEDURES_ASKED = 16,
	LARGEST_BLOCKS = 400, /* of one procedure: what this is to cost each input */
	MOST_SAMPLES = 256,
	MOST_COUNTS = 32,
};

struct made {
	struct hp_sampled samples[MOST_SAMPLES];
	struct hp_evidence counts[MOST_COUNTS];
	size_t sample_count;
	size_t count_count;
};

static void make_up(const struct hp_cfg *cfg, struct hp_random *random, struct made *made)
{
	made->sample_count = made->count_count = 0;
	for (uint32_t i = 0; i < cfg->block_count; i++) {
		const struct hp_block *block = &cfg->blocks[i];
		uint64_t into = hp_random_between(random, 0, block->bytes - 1);
		uint64_t kind = hp_random_between(random, 0, 7);

		if (kind < 5 && made->sample_count < MOST_SAMPLES)
			made->samples[made->sample_count++] = (struct hp_sampled){
				.address = { block->address.value + into },
				.samples = (double)hp_random_between(random, 0, 1u << 3 * kind),
				.cycles = (double)hp_random_between(random, 0, 1ull << 9 * kind),
			};
		if (kind % 3 == 0 && made->count_count < MOST_COUNTS)
			made->counts[made->count_count++] = (struct hp_evidence){
				.kind = HP_EVIDENCE_COUNT,
				.address = block->address,
				.value = (double)hp_random_between(random, 0, 1ull << 6 * kind),
			};
	}
}

static void check_causes(const struct hp_analysis *analysis)
{
	for (size_t i = 0; i < analysis->cause_count; i++) {
		const struct hp_cause *cause = &analysis->causes[i];

		if (!(cause->low >= 0 && cause->low <= cause->likely &&
		      cause->likely <= cause->high && cause->high <= 1) ||
		    cause->kind >= HP_CAUSE_COUNT)
			abort();
	}
	for (size_t i = 0; i < analysis->insn_count; i++) {
		const struct hp_joint_cause *joint = analysis->insns[i].joint;

		if (analysis->insns[i].first_cause + analysis->insns[i].cause_count >
		    analysis->cause_count)
			abort();
		if (joint && !(joint->low >= 0 && joint->low <= joint->likely &&
			       joint->likely <= joint->high && joint->high <= 1 &&
			       __builtin_popcount(joint->kinds) > 1))
			abort();
	}
}

static void check_sheet(const struct hp_stall_sheet *sheet)
{
	double sum = sheet->execution - sheet->unexplained_gain;

	for (unsigned i = 0; i < HP_CAUSE_COUNT; i++) {
		if (!(sheet->causes[i].low >= 0 && sheet->causes[i].low <= sheet->causes[i].high))
			abort();
		sum += sheet->likely[i];
	}
	/* Gains can be many times what there is. */
	if (!(fabs(sum - sheet->cycles) <=
	      1e-6 * (1 + sheet->cycles + sheet->execution + sheet->unexplained_gain)))
		abort();
}

static void analyse(struct hp_image *image, const struct hp_cfg *cfg, struct hp_arena *arena,
		    void *context)
{
	static const char *const cores[] = { "granite-rapids", "zen-4", "generic-x86-64" };
	struct hp_random *random = context;
	struct hp_analysis_options options = {
		.core = hp_core_named(cores[hp_random_between(random, 0, 2)]),
		.skid_instructions = (unsigned)hp_random_between(random, 0, 2),
	};
	struct hp_analysis_input input = { .image = image, .cfg = cfg };
	struct hp_analysis *analysis;
	struct made *made = hp_arena_alloc(arena, sizeof(*made));
	struct hp_error *error;

	if (!made || cfg->block_count > LARGEST_BLOCKS)
		return;
	make_up(cfg, random, made);
	input.samples = made->samples;
	input.sample_count = made->sample_count;
	input.evidence = made->counts;
	input.evidence_count = hp_random_between(random, 0, 1) ? made->count_count : 0;
	error = hp_analysis_create(&input, &options, arena, &analysis);
	if (!error) {
		check_causes(analysis);
		check_sheet(&analysis->sheet);
	}
	hp_error_destroy(error);
}

static void ask(struct hp_image *image)
{
	struct hp_random random = hp_random_seeded(7);

	fuzz_graphs(image, PROCEDURES_ASKED, &(struct fuzz_visitor){ analyse, &random });
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_with_image(data, size, ask);
	return 0;
}
