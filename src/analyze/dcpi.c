/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	best cases of instructions, moved samples
 * provides	log_frequency, deviation, relative_deviation, hottest
 *
 * The estimator of Anderson et al., "Continuous Profiling: Where Have All the Cycles Gone?" (SOSP
 * 1997), sections 6.1.3 to 6.1.5, as printed. It is made for cores that issue in order, and serves
 * as a comparison here. For each class it computes samples / best case at the issue points, and
 * takes the mean of a cluster of small ratios, since stalls only add; flow gives the rest (6.1.4).
 * Values that the paper leaves open are in tuning.h.
 */
#include "passes.h"
#include "tuning.h"

#include <hpcprof/base/search.h>

#include <stdlib.h>

struct ratio {
	double value; /* samples per cycle */
	double best_case;
};

struct class
{
	uint32_t first; /* index of its first ratio */
	uint32_t count;
	double samples;
	double best_case;
	double frequency; /* NAN: no estimate */
	double deviation; /* of the frequency's logarithm; it stands for the paper's confidence */
};

struct estimating {
	struct analyzer *analyzer;
	const struct hp_cfg *cfg;
	struct class *classes;
	struct ratio *ratios; /* sorted by class */
};

/* --- 6.1.3: from samples ---------------------------------------------------------------------- */

/*
 * The ratio of samples to best-case cycles at one issue point, an instruction with a best case.
 * Where it waits for an earlier one in its block, the instructions between share the wait, so their
 * samples and best cases are added up; so are those of a comparison and the jump that is fused with it,
 * as samples of both are at the comparison (skid.c).
 */
static struct ratio ratio_at(const struct estimating *e, const struct hp_analysed_block *block,
			     uint32_t at)
{
	const struct hp_analysis *analysis = e->analyzer->analysis;
	uint32_t producer = analysis->insns[at].producer;
	uint32_t from = at;
	double samples = 0;
	struct ratio ratio = { 0, 0 };

	if (producer != HP_SCHEDULE_NONE && producer >= block->first_insn && producer < at)
		from = producer + 1;
	if (from > block->first_insn && from == at &&
	    hp_core_fuses(e->analyzer->options->core, analysis->insns[at - 1].insn,
			  analysis->insns[at].insn))
		from--;
	for (uint32_t i = from; i <= at; i++) {
		samples += analysis->insns[i].moved;
		ratio.best_case += analysis->insns[i].best_case_cycles;
	}
	ratio.value = samples / ratio.best_case;
	return ratio;
}

static bool is_issue_point(const struct hp_analysed_insn *insn)
{
	return insn->best_case_cycles > 1e-9;
}

HP_ORDER_BY(compare_ratios, struct ratio, value);

static void collect(struct estimating *e)
{
	const struct hp_analysis *analysis = e->analyzer->analysis;
	uint32_t next = 0;

	for (size_t i = 0; i < analysis->insn_count; i++) {
		const struct hp_analysed_insn *insn = &analysis->insns[i];
		struct class *class = &e->classes[e->cfg->blocks[insn->block].class];

		class->samples += insn->moved;
		class->best_case += insn->best_case_cycles;
		class->count += is_issue_point(insn);
	}
	for (uint32_t i = 0; i < e->cfg->class_count; i++) {
		e->classes[i].first = next;
		next += e->classes[i].count;
		e->classes[i].count = 0;
		e->classes[i].frequency = NAN;
		e->classes[i].deviation = INFINITY;
	}
	for (size_t i = 0; i < analysis->insn_count; i++) {
		const struct hp_analysed_insn *insn = &analysis->insns[i];
		struct class *class = &e->classes[e->cfg->blocks[insn->block].class];

		if (is_issue_point(insn))
			e->ratios[class->first + class->count++] =
				ratio_at(e, &analysis->blocks[insn->block], (uint32_t)i);
	}
}

/* False when the estimate would leave an instruction of the class an implausibly long stall. */
static bool is_reasonable(const struct estimating *e, const struct class *class, double estimate)
{
	const struct ratio *largest = &e->ratios[class->first + class->count - 1];
	double cycles = largest->value * largest->best_case / estimate;

	return cycles <= dcpi_longest_stall;
}

/* Takes the first cluster, from the smallest ratio on, that has enough ratios close to each
 * other. */
static void estimate_class(const struct estimating *e, struct class *class)
{
	struct ratio *ratios = &e->ratios[class->first];

	if (class->best_case <= 0 || class->samples <= 0)
		return;
	if (class->samples < dcpi_few_samples) {
		class->frequency = class->samples / class->best_case;
		class->deviation = dcpi_propagated_deviation;
		return;
	}
	qsort(ratios, class->count, sizeof(*ratios), compare_ratios);
	for (uint32_t first = 0; first < class->count; first++) {
		double limit = ratios[first].value * dcpi_cluster_ratio;
		uint32_t end = first;
		double sum = 0;

		for (; end < class->count && ratios[end].value <= limit; end++)
			sum += ratios[end].value;
		if (sum <= 0 || end - first < dcpi_least_share * class->count ||
		    !is_reasonable(e, class, sum / (end - first)))
			continue;
		class->frequency = sum / (end - first);
		class->deviation = end - first < DCPI_GOOD_POINTS ? dcpi_low_deviation
				   : ratios[end - 1].value > dcpi_good_spread * ratios[first].value
					   ? dcpi_medium_deviation
					   : dcpi_high_deviation;
		return;
	}
}

/* --- 6.1.4: local propagation ----------------------------------------------------------------- */

static bool is_known(const struct class *class)
{
	return !isnan(class->frequency);
}

/* Propagates one side of a node: an unknown edge gets what the other edges leave of the block, or
 * the block gets the sum of its edges. */
static bool propagate_side(struct estimating *e, uint32_t node, bool is_in)
{
	const struct hp_block *block = &e->cfg->blocks[node];
	uint32_t count = is_in ? block->in_count : block->out_count;
	struct class *whole = &e->classes[block->class];
	struct class *missing = NULL;
	double sum = 0;

	if (count == 0)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t edge = is_in ? e->cfg->in_edges[block->first_in + i]
				      : block->first_out + i;
		struct class *class = &e->classes[e->cfg->edges[edge].class];

		if (is_known(class))
			sum += class->frequency;
		else if (missing)
			return false;
		else
			missing = class;
	}
	if (missing && missing != whole && is_known(whole))
		/* an estimate is not negative */
		missing->frequency = fmax(whole->frequency - sum, 0);
	else if (!missing && !is_known(whole))
		missing = whole, whole->frequency = sum;
	else
		return false;
	missing->deviation = dcpi_propagated_deviation;
	return true;
}

static void propagate(struct estimating *e)
{
	bool is_changed = true;

	while (is_changed) {
		is_changed = false;
		for (uint32_t i = 0; i < e->cfg->node_count; i++) {
			uint32_t node = e->cfg->order[i];

			is_changed |= propagate_side(e, node, true);
			is_changed |= propagate_side(e, node, false);
		}
	}
}

static bool give_out(const struct estimating *e)
{
	struct analyzer *analyzer = e->analyzer;
	const struct hp_cfg *cfg = e->cfg;
	size_t count = frequency_count(cfg);

	analyzer->deviation = hp_arena_array(analyzer->scratch, count, sizeof(double));
	analyzer->relative_deviation = hp_arena_array(analyzer->scratch, count, sizeof(double));
	analyzer->log_frequency = hp_arena_array(analyzer->scratch, count, sizeof(double));
	if (!analyzer->deviation || !analyzer->relative_deviation || !analyzer->log_frequency)
		return false;
	analyzer->hottest = -INFINITY;
	for (size_t i = 0; i < count; i++) {
		uint32_t number = i < cfg->block_count ? cfg->blocks[i].class
				  : i + 1 < count      ? cfg->edges[i - cfg->block_count].class
						       : cfg->blocks[cfg->entry].class;
		const struct class *class = &e->classes[number];

		analyzer->log_frequency[i] = log(class->frequency);
		analyzer->deviation[i] = analyzer->relative_deviation[i] = class->deviation;
		if (i < cfg->block_count)
			analyzer->hottest = fmax(analyzer->hottest, analyzer->log_frequency[i]);
	}
	return true;
}

struct hp_error *estimate_dcpi(struct analyzer *analyzer)
{
	const struct hp_cfg *cfg = analyzer->cfg;
	struct estimating e = {
		.analyzer = analyzer,
		.cfg = cfg,
		.classes = hp_arena_array(analyzer->scratch, cfg->class_count + 1,
					  sizeof(struct class)),
		.ratios = hp_arena_array(analyzer->scratch, analyzer->analysis->insn_count + 1,
					 sizeof(struct ratio)),
	};

	if (!e.classes || !e.ratios)
		return hp_error_create_no_memory();
	collect(&e);
	for (uint32_t i = 0; i < cfg->class_count; i++)
		estimate_class(&e, &e.classes[i]);
	propagate(&e);
	return give_out(&e) ? NULL : hp_error_create_no_memory();
}
