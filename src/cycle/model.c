/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/cycle/model.h>

#include "accountings.h"
#include "one_pass.h"
#include "truth.h"

#include <stdlib.h>

static const char *const names[HP_ACCOUNTINGS] = {
	[HP_ACCOUNTING_NAIVE] = "naive",
	[HP_ACCOUNTING_NAIVE_EXECUTED] = "naive, non-speculative",
	[HP_ACCOUNTING_POWER5] = "POWER5",
	[HP_ACCOUNTING_SFMT_PRINTED] = "sFMT, as printed",
	[HP_ACCOUNTING_FMT_PRINTED] = "FMT, as printed",
	[HP_ACCOUNTING_FMT_RESOLVED] = "FMT, until resolution",
	[HP_ACCOUNTING_FMT_MISSES] = "FMT, misses first",
	[HP_ACCOUNTING_SFMT] = "sFMT, corrected",
	[HP_ACCOUNTING_FMT] = "FMT, corrected",
	[HP_ACCOUNTING_DISPATCH] = "slots at dispatch",
	[HP_ACCOUNTING_COMMIT] = "slots at commit",
};

const char *hp_accounting_name(enum hp_accounting accounting)
{
	return names[accounting];
}

/* the accountings from POWER5 on */
enum { ACCOUNTED = HP_ACCOUNTINGS - HP_ACCOUNTING_POWER5, WATCHERS = ACCOUNTED + 1 };

/* The watchers of the core with its own properties. */
struct watchers {
	struct watcher power5;
	struct sfmt sfmt_printed, sfmt;
	struct fmt fmt_printed, fmt_resolved, fmt_first, fmt;
	struct slots dispatch, commit;
	struct counters counters;
	/* in the order of enum hp_accounting, followed by the counters */
	struct watcher *all[WATCHERS];
};

static struct watchers *watchers_create(const struct hp_cycle_config *config)
{
	struct watchers *watchers = calloc(1, sizeof(*watchers));
	struct fmt_corrections by = { 0 };

	if (!watchers)
		return NULL;
	power5_create(&watchers->power5);
	sfmt_create(&watchers->sfmt_printed, false);
	sfmt_create(&watchers->sfmt, true);
	fmt_create(&watchers->fmt_printed, by);
	by.stops_at_resolution = true;
	fmt_create(&watchers->fmt_resolved, by);
	by.misses_come_first = true;
	fmt_create(&watchers->fmt_first, by);
	by.starts_when_drained = true;
	by.dependents_follow = true;
	fmt_create(&watchers->fmt, by);
	dispatch_slots_create(&watchers->dispatch, config->core.issue_width);
	commit_slots_create(&watchers->commit, config->core.retire_width);
	watchers->all[0] = &watchers->power5;
	watchers->all[1] = &watchers->sfmt_printed.watcher;
	watchers->all[2] = &watchers->fmt_printed.watcher;
	watchers->all[3] = &watchers->fmt_resolved.watcher;
	watchers->all[4] = &watchers->fmt_first.watcher;
	watchers->all[5] = &watchers->sfmt.watcher;
	watchers->all[6] = &watchers->fmt.watcher;
	watchers->all[7] = &watchers->dispatch.watcher;
	watchers->all[8] = &watchers->commit.watcher;
	counters_create(&watchers->counters, config->core.issue_width);
	watchers->all[ACCOUNTED] = &watchers->counters.watcher;
	return watchers;
}

/* What is charged to nothing else belongs to the base. */
static void make_stack(const struct hp_cycle_counts *counts, const double spent[HP_CYCLE_PARTS],
		       struct hp_cycle_stack *stack)
{
	double rest = (double)counts->cycles;

	for (unsigned part = HP_CYCLE_UNITS; part < HP_CYCLE_PARTS; part++) {
		stack->cpi[part] = spent[part] / (double)counts->instructions;
		rest -= spent[part];
	}
	stack->cpi[HP_CYCLE_BASE] = rest / (double)counts->instructions;
}

static void make_stacks(const struct core_run *run, struct hp_cycle_result *result)
{
	double spent[HP_CYCLE_PARTS];

	naive_charge(&run->counts, run->config, true, spent);
	make_stack(&run->counts, spent, &result->stacks[HP_ACCOUNTING_NAIVE]);
	naive_charge(&run->counts, run->config, false, spent);
	make_stack(&run->counts, spent, &result->stacks[HP_ACCOUNTING_NAIVE_EXECUTED]);
	for (size_t i = 0; i < ACCOUNTED; i++)
		make_stack(&run->counts, run->watchers[i]->spent,
			   &result->stacks[HP_ACCOUNTING_POWER5 + i]);
}

static struct hp_error *measure(struct core_run *run, bool has_truth,
				struct hp_cycle_result *result)
{
	struct hp_error *error = core_run(run);

	if (error)
		return error;
	result->counts = run->counts;
	make_stacks(run, result);
	error = one_pass_run(run, &result->one_pass_cpi);
	if (!error && has_truth)
		error = truth_find(
			run, (double)run->counts.cycles / (double)run->counts.instructions, result);
	return error;
}

struct hp_error *hp_cycle_measure(const struct hp_trace *trace,
				  const struct hp_cycle_config *config,
				  const struct hp_cycle_options *options,
				  struct hp_cycle_result *result)
{
	struct watchers *watchers;
	struct core_run run = {
		.trace = trace,
		.config = config,
		.warming = options->warming,
		.most = options->most,
	};
	struct cycle_code code;
	struct hp_error *error = cycle_code_create(trace, config, &code);

	*result = (struct hp_cycle_result){ 0 };
	if (error)
		return error;
	run.code = &code;
	watchers = watchers_create(config);
	if (watchers) {
		run.watchers = watchers->all;
		run.watcher_count = WATCHERS;
		error = measure(&run, options->has_truth, result);
		result->counters = watchers->counters.counts;
	} else {
		error = hp_error_create_no_memory();
	}
	free(watchers);
	cycle_code_clear(&code);
	return error;
}

double hp_cycle_error(const struct hp_cycle_result *result, enum hp_accounting accounting,
		      enum hp_cycle_part *worst)
{
	double cpi = (double)result->counts.cycles / (double)result->counts.instructions;
	double most = 0;

	*worst = HP_CYCLE_BASE;
	for (unsigned part = 0; part < HP_CYCLE_PARTS; part++) {
		double found = result->stacks[accounting].cpi[part];
		double below = result->truth_low.cpi[part] - found;
		double above = found - result->truth_high.cpi[part];
		double error = below > above ? below : above;

		if (error > most) {
			most = error;
			*worst = (enum hp_cycle_part)part;
		}
	}
	return most / cpi;
}
