/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stalls.h"

struct hp_sampled samples[MOST_PLACES];
size_t sample_count, count_count;
struct hp_analysis *found;
struct simulated simulated;
const double *limits;
const char *core_name;
unsigned skid;

static const uint8_t *code;
static size_t code_size;
static struct hp_evidence counts[MOST_PLACES];
static struct hp_arena *arena;
static struct hp_cfg_image *shared;

static bool happened(const void *context, hp_link_address address, struct hp_happened *seen)
{
	static double cycles[HP_LANES], others[HP_LANES];

	(void)context;
	if (simulated.is_alone && address.value != FUZZ_CODE_ADDRESS + simulated.at)
		return false;
	*seen = (struct hp_happened){ .runs = RUNS };
	for (unsigned lane = 0; lane < HP_LANES; lane++)
		others[lane] = RUNS * simulated.others;
	seen->cycles = simulated.is_timed && simulated.others > 0 ? others : NULL;
	if (simulated.untimed && address.value == FUZZ_CODE_ADDRESS + simulated.untimed) {
		seen->cycles = NULL;
		seen->runs = simulated.untimed_runs;
	}
	for (size_t kind = 0; kind < HP_EVENT_KINDS; kind++)
		seen->most[kind] = simulated.unseen > 0 ? simulated.unseen : 3.0 / RUNS;
	if (simulated.is_everywhere || address.value == FUZZ_CODE_ADDRESS + simulated.at) {
		seen->mean[simulated.kind] = simulated.share;
		seen->most[simulated.kind] = 1.1 * simulated.share;
	}
	if (address.value == FUZZ_CODE_ADDRESS + simulated.at) {
		if (simulated.is_timed)
			seen->mean[HP_EVENT_TLB2_MISS] = seen->most[HP_EVENT_TLB2_MISS] =
				seen->mean[HP_EVENT_DTLB_MISS] = seen->most[HP_EVENT_DTLB_MISS] = 1;
		if (simulated.most_walks > 0)
			seen->most[HP_EVENT_TLB2_MISS] = simulated.most_walks;
		seen->mean[HP_EVENT_WALK_UNKNOWN] = simulated.walks_read;
		if (simulated.walks_read > 0)
			seen->most[HP_EVENT_WALK_UNKNOWN] = simulated.walks_read;
		seen->cycles = simulated.is_timed ? cycles : NULL;
		for (unsigned lane = 0; lane < HP_LANES; lane++)
			cycles[lane] = RUNS * simulated.as_is;
		cycles[HP_LANE_WIDTH] = cycles[HP_LANE_IDEAL] = RUNS;
		cycles[HP_LANE_NO_DCACHE] = RUNS * simulated.without_dcache;
		cycles[HP_LANE_NO_DTLB] = RUNS * simulated.without_dtlb;
		if (simulated.without_divider > 0)
			cycles[HP_LANE_NO_DIVIDER] = RUNS * simulated.without_divider;
		if (simulated.ideal > 0)
			cycles[HP_LANE_IDEAL] = RUNS * simulated.ideal;
		if (simulated.memory > 0) {
			cycles[HP_LANE_THIRD] = RUNS * simulated.third;
			cycles[HP_LANE_MEMORY] = RUNS * simulated.memory;
		}
	}
	return true;
}

static void analyse(struct hp_image *image)
{
	struct hp_analysis_options options = { .core = hp_core_named(core_name),
					       .skid_instructions = skid };
	struct hp_analysis_input input = {
		.image = image,
		.samples = samples,
		.sample_count = sample_count,
		.evidence = counts,
		.evidence_count = count_count,
		.most_cycles = limits,
		.apart = simulated.apart,
		.happened = simulated.is_on ? happened : NULL,
	};
	struct hp_cfg *cfg;

	hp_assert_ok(hp_cfg_image_create(image, &shared));
	hp_assert_ok(hp_cfg_create(
		shared, hp_image_procedure_at(image, (hp_link_address){ FUZZ_CODE_ADDRESS }), arena,
		&cfg));
	input.cfg = cfg;
	hp_assert_ok(hp_analysis_create(&input, &options, arena, &found));
	hp_cfg_image_destroy(shared);
}

void begin(const uint8_t *bytes, size_t size)
{
	hp_arena_destroy(arena);
	arena = hp_arena_create();
	ck_assert_ptr_nonnull(arena);
	code = bytes;
	code_size = size;
	sample_count = count_count = 0;
	found = NULL;
	simulated.is_on = simulated.is_timed = simulated.is_alone = false;
	simulated.is_everywhere = false;
	limits = NULL;
	core_name = "granite-rapids";
	simulated.untimed = 0;
	simulated.unseen = 0;
	simulated.third = simulated.memory = simulated.others = simulated.walks_read = 0;
	simulated.without_divider = simulated.ideal = 0;
	skid = 0;
}

void sees(size_t at, enum hp_event_kind kind, double share)
{
	simulated.is_on = true;
	simulated.at = at;
	simulated.kind = kind;
	simulated.share = share;
}

void takes(size_t at, double cycles_each)
{
	samples[sample_count++] = (struct hp_sampled){
		.address = { FUZZ_CODE_ADDRESS + at },
		.samples = cycles_each * 100,
		.cycles = cycles_each * RUNS,
	};
}

void runs(size_t at, double times)
{
	counts[count_count++] = (struct hp_evidence){ .kind = HP_EVIDENCE_COUNT,
						      .address = { FUZZ_CODE_ADDRESS + at },
						      .value = times };
}

void counted_to_within(double deviation)
{
	for (size_t i = 0; i < count_count; i++)
		counts[i].deviation = deviation * counts[i].value;
}

const struct hp_analysed_insn *insn_at(size_t at)
{
	if (!found)
		fuzz_with_image(code, code_size, analyse);
	ck_assert_ptr_nonnull(found);
	for (size_t i = 0; i < found->insn_count; i++)
		if (found->insns[i].insn->address == FUZZ_CODE_ADDRESS + at)
			return &found->insns[i];
	ck_abort_msg("no instruction at %zu", at);
	return NULL;
}

/* The causes of this kind, added up. */
static struct hp_range sum_of(size_t at, enum hp_cause_kind kind)
{
	const struct hp_analysed_insn *insn = insn_at(at);
	struct hp_range sum = { 0, 0 };

	for (uint32_t i = 0; i < insn->cause_count; i++) {
		const struct hp_cause *cause = &found->causes[insn->first_cause + i];

		if (cause->kind != kind)
			continue;
		sum.low += cause->low;
		sum.high += cause->high;
	}
	return sum;
}

double most(size_t at, enum hp_cause_kind kind)
{
	return sum_of(at, kind).high;
}

double least(size_t at, enum hp_cause_kind kind)
{
	return sum_of(at, kind).low;
}

size_t culprit(size_t at, enum hp_cause_kind kind)
{
	const struct hp_analysed_insn *insn = insn_at(at);

	for (uint32_t i = 0; i < insn->cause_count; i++) {
		const struct hp_cause *cause = &found->causes[insn->first_cause + i];

		if (cause->kind == kind)
			return cause->has_culprit ? cause->culprit.value - FUZZ_CODE_ADDRESS
						  : SIZE_MAX;
	}
	return SIZE_MAX;
}

const struct hp_cause *first_cause(size_t at)
{
	const struct hp_analysed_insn *insn = insn_at(at);

	ck_assert_uint_gt(insn->cause_count, 0);
	return &found->causes[insn->first_cause];
}
