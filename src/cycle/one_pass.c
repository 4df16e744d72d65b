/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "one_pass.h"

#include <limits.h>

enum { LINE = 64 };

struct pass {
	const struct core_run *run;
	struct hp_uarch *uarch;
	struct hp_timing *timing;
	struct hp_uarch_pointers pointers;
	struct walk walk;
	uint64_t line, passed, instructions;
	bool has_turned; /* a taken branch has ended fetch */
	struct hp_lanes spent;
	double ticks; /* of the first lane */
};

static unsigned heeded(const struct pass *pass, unsigned events)
{
	return events & ~pass->run->config->ignores;
}

static unsigned follow(struct pass *pass, const struct step *step,
		       struct hp_timed_access timed[2 * STEP_ACCESSES])
{
	static const enum hp_uarch_access_kind kinds[] = {
		[HP_TRACE_LOAD] = HP_UARCH_LOAD,
		[HP_TRACE_STORE] = HP_UARCH_STORE,
		[HP_TRACE_MODIFY] = HP_UARCH_LOAD,
		[HP_TRACE_PREFETCH] = HP_UARCH_PREFETCH,
	};
	unsigned count = 0;

	hp_uarch_pointers_follow(&pass->pointers, pass->uarch, &step->insn->timed,
				 step->insn->address,
				 step->access_count ? &step->accesses[0].address : NULL);
	for (unsigned i = 0; i < step->access_count; i++) {
		enum hp_trace_access_kind kind = step->accesses[i].kind;
		uint64_t address = step->accesses[i].address;
		unsigned events =
			heeded(pass, hp_uarch_access(pass->uarch, step->insn->address, address,
						     step->accesses[i].bytes, kinds[kind]));
		bool is_store = kind == HP_TRACE_STORE;

		timed[count++] = (struct hp_timed_access){
			.line = address / LINE,
			.store = is_store ? hp_uarch_last_store(pass->uarch)
					  : hp_uarch_met_store(pass->uarch),
			.events = events,
			.is_store = is_store,
			.is_prefetch = kind == HP_TRACE_PREFETCH,
		};
		if (kind != HP_TRACE_MODIFY)
			continue;
		(void)hp_uarch_access(pass->uarch, step->insn->address, address,
				      step->accesses[i].bytes, HP_UARCH_STORE);
		timed[count++] = (struct hp_timed_access){
			.line = address / LINE,
			.store = hp_uarch_last_store(pass->uarch),
			.is_store = true,
		};
	}
	return count;
}

/* --- beside the path --------------------------------------------------------------------------- */

/* Cycles until the line arrives. */
static unsigned strayed_fetch(struct pass *pass, const struct insn *insn)
{
	const struct hp_core *core = &pass->run->config->core;
	unsigned events = heeded(pass, hp_uarch_fetch(pass->uarch, insn->address, insn->length));

	if (!(events & (HP_UARCH_L1I_MISS | HP_UARCH_L1I_UNKNOWN)))
		return 0;
	if (!(events & (HP_UARCH_L2_MISS | HP_UARCH_L2_UNKNOWN)))
		return core->l2_cycles;
	return events & HP_UARCH_L3_MISS ? core->memory_cycles : core->l3_cycles;
}

/* Fetches for one cycle from there on, or for as many as a line takes to arrive. Sets where it
 * continues. */
static unsigned stray_on(struct pass *pass, uint64_t *at, uint64_t *line)
{
	for (unsigned i = 0; i < pass->run->config->fetch_width; i++) {
		const struct insn *insn = cycle_code_at(pass->run->code, *at);

		if (!insn)
			return UINT_MAX;
		if ((insn->next - 1) / LINE != *line) {
			unsigned waits = strayed_fetch(pass, insn);

			*line = (insn->next - 1) / LINE;
			if (waits || i)
				return waits ? waits : 1;
		}
		*at = insn->is_branch ? hp_uarch_guess(pass->uarch, insn->address, insn->next,
						       insn->kind, insn->target)
				      : insn->next;
		if (*at != insn->next) {
			*line = UINT64_MAX;
			return 1;
		}
	}
	return 1;
}

/* Caches get what is fetched after a mispredicted branch until it is resolved. */
static void stray(struct pass *pass, const struct insn *insn, bool is_taken)
{
	const struct hp_cycle_config *config = pass->run->config;
	/* no more is fetched than there is room for */
	unsigned most =
		0U + config->core.reorder_slots / config->core.issue_width + config->front_stages;
	unsigned left = hp_timing_strayed(pass->timing);
	uint64_t line = UINT64_MAX, at = insn->kind != HP_UARCH_CONDITIONAL
						 ? hp_uarch_predicted(pass->uarch)
					 : is_taken ? insn->next
						    : insn->target;

	left = left < most ? left : most;
	hp_uarch_stray(pass->uarch);
	while (left) {
		unsigned took = stray_on(pass, &at, &line);

		left -= took < left ? took : left;
	}
	hp_uarch_rejoin(pass->uarch);
	pass->line = UINT64_MAX;
}

static void follow_branch(struct pass *pass, const struct step *step)
{
	const struct insn *insn = step->insn;
	bool is_taken = insn->kind != HP_UARCH_CONDITIONAL || step->next != insn->next;
	unsigned events;

	if (!insn->is_branch || !step->has_next)
		return;
	events = heeded(pass, hp_uarch_branch(pass->uarch, insn->address, insn->next, insn->kind,
					      is_taken, step->next));
	hp_timing_branch(pass->timing, events, is_taken);
	if (events & (HP_UARCH_MISPREDICTED | HP_UARCH_BRANCH_UNKNOWN))
		stray(pass, insn, is_taken);
}

/* --- the path ---------------------------------------------------------------------------------- */

static void take(struct pass *pass, const struct step *step)
{
	struct hp_timed_access timed[2 * STEP_ACCESSES];
	uint64_t line = (step->insn->next - 1) / LINE;
	bool late = pass->run->config->core.asks_late;
	unsigned count;

	if (line != pass->line || (late ? pass->has_turned : step->begins))
		hp_timing_fetch(pass->timing,
				heeded(pass, hp_uarch_fetch(pass->uarch, step->insn->address,
							    step->insn->length)));
	pass->line = line;
	pass->has_turned = step->insn->is_branch && step->next != step->insn->next;
	count = follow(pass, step, timed);
	hp_timing_insn(pass->timing, &step->insn->timed, timed, count, &pass->spent);
	hp_uarch_retire(pass->uarch, 1);
	follow_branch(pass, step);
}

/* Stores what was spent so far, or drops it if it was to warm caches. */
static void put_aside(struct pass *pass)
{
	if (pass->passed > pass->run->warming)
		pass->ticks += pass->spent.at[HP_LANE_AS_IS];
	pass->spent = (struct hp_lanes){ 0 };
}

static void go(struct pass *pass)
{
	struct step step;

	while ((!pass->run->most || pass->passed < pass->run->most) &&
	       walk_step(&pass->walk, &step)) {
		take(pass, &step);
		if (pass->passed++ == pass->run->warming)
			pass->spent = (struct hp_lanes){ 0 };
		pass->instructions += pass->passed > pass->run->warming;
		if (hp_timing_is_due(pass->timing)) {
			put_aside(pass);
			hp_timing_rebase(pass->timing);
		}
	}
	put_aside(pass);
}

struct hp_error *one_pass_run(const struct core_run *run, double *cpi)
{
	struct pass pass = {
		.run = run,
		.uarch = hp_uarch_create(&run->config->geometry),
		.timing = hp_timing_create(&run->config->core, &run->config->geometry),
		.line = UINT64_MAX,
	};
	struct hp_error *error = NULL;

	if (pass.uarch && pass.timing && walk_begin(&pass.walk, run->trace, run->code)) {
		go(&pass);
		*cpi = pass.instructions ? pass.ticks / HP_TIMING_TICKS / (double)pass.instructions
					 : 0;
	} else {
		error = hp_error_create_no_memory();
	}
	walk_end(&pass.walk);
	hp_uarch_destroy(pass.uarch);
	hp_timing_destroy(pass.timing);
	return error;
}
