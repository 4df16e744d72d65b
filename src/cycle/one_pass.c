/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "one_pass.h"

enum { LINE = 64 };

struct pass {
	const struct core_run *run;
	struct hp_uarch *uarch;
	struct hp_timing *timing;
	struct walk walk;
	uint64_t line, passed, instructions;
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

	for (unsigned i = 0; i < step->access_count; i++) {
		enum hp_trace_access_kind kind = step->accesses[i].kind;
		uint64_t address = step->accesses[i].address;
		unsigned events =
			heeded(pass, hp_uarch_access(pass->uarch, step->insn->address, address,
						     step->accesses[i].bytes, kinds[kind]));
		bool is_store = kind == HP_TRACE_STORE;

		if (kind != HP_TRACE_PREFETCH)
			timed[count++] = (struct hp_timed_access){
				.line = address / LINE,
				.store = is_store ? hp_uarch_last_store(pass->uarch)
						  : hp_uarch_met_store(pass->uarch),
				.events = events,
				.is_store = is_store,
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

static void follow_branch(struct pass *pass, const struct step *step)
{
	const struct insn *insn = step->insn;
	bool is_taken = insn->kind != HP_UARCH_CONDITIONAL || step->next != insn->next;

	if (!insn->is_branch || !step->has_next)
		return;
	hp_timing_branch(pass->timing,
			 heeded(pass, hp_uarch_branch(pass->uarch, insn->address, insn->next,
						      insn->kind, is_taken, step->next)),
			 is_taken);
}

static void take(struct pass *pass, const struct step *step)
{
	struct hp_timed_access timed[2 * STEP_ACCESSES];
	uint64_t line = (step->insn->next - 1) / LINE;
	unsigned count;

	if (step->begins || line != pass->line)
		hp_timing_fetch(pass->timing,
				heeded(pass, hp_uarch_fetch(pass->uarch, step->insn->address,
							    step->insn->length)));
	pass->line = line;
	count = follow(pass, step, timed);
	hp_timing_insn(pass->timing, &step->insn->timed, timed, count, &pass->spent);
	hp_uarch_retire(pass->uarch, 1);
	follow_branch(pass, step);
}

/* What has been spent so far counts, or was to warm. */
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
