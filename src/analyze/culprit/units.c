/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Causes in execution: divider, multiplier, floating point, atomic and serializing instructions;
 * and results that took longer than in the best case because little overlapped.
 *
 * Cleared: all instructions but the stalled one and those that may have retired along with it.
 * Bounded by the latency of one execution: an instruction is the oldest for no longer than that,
 * since what it depends on has retired before. The result of a division may still be on its way then.
 */
#include "causes.h"
#include "duty.h"
#include "witness.h"
#include "../tuning.h"

#include <math.h>

/* Whether the instruction reads what was computed shortly before: in a chain latencies do not
 * overlap, so they show. */
static bool is_in_chain(const struct facts *facts, const struct path *path, uint32_t position)
{
	const struct hp_insn *insn = facts_insn(facts, path->insns[position])->insn;

	for (uint32_t i = position + 1; i < path->count && i <= position + NEAR_CHAIN; i++) {
		const struct hp_insn *before = facts_insn(facts, path->insns[i])->insn;

		if ((before->written.bits[0] & insn->read.bits[0]) ||
		    (before->written.bits[1] & insn->read.bits[1]))
			return true;
	}
	return false;
}

void suspect_units(const struct facts *facts, const struct path *path, struct suspects *found)
{
	for (uint32_t i = 0; i < path->count && i < facts->core->retire_width; i++) {
		uint32_t at = path->insns[i];
		const struct insn_facts *one = &facts->insns[at];
		double latency = one->latency ? one->latency : 1;
		double shows = i > 0 && one->duty == HP_DUTY_PLAIN ? 0 : path_shows(facts, path, i);

		/* Only of divisions it is not known beforehand when their results come. */
		if (!(shows > 0) || (one->duty != HP_DUTY_DIVIDE && isfinite(shows)))
			continue;
		if (one->duty == HP_DUTY_SYNC)
			continue;
		if (one->duty == HP_DUTY_DIVIDE)
			latency *= divide_margin;
		add_reserve(found, duty_cause((enum hp_duty)one->duty), at, fmin(latency, shows),
			    latency *
				    (one->duty == HP_DUTY_PLAIN ? plain_doubt * latency_shows
								: latency_shows) *
				    path_doubt(i),
			    is_in_chain(facts, path, i) ? chained_latency * latency : 0);
	}
}

/* What follows such an instruction begins only when it ends. So each instruction behind it may be waited for
 * as long as it takes, which overlaps with what came before otherwise. Only where a path was timed does
 * anything tell whether it did. */
static void suspect_behind_sync(const struct facts *facts, const struct path *path,
				struct suspects *found)
{
	uint32_t at = path->insns[0];
	double latency = facts->insns[at].latency ? facts->insns[at].latency : 1;

	if (!witness_of(facts, at))
		return;
	for (uint32_t i = 1; i < path->count; i++) {
		if (facts->insns[path->insns[i]].duty != HP_DUTY_SYNC)
			continue;
		add_suspect(found, HP_CAUSE_SYNC, path->insns[i], latency, 0);
		return;
	}
}

void suspect_sync(const struct facts *facts, const struct path *path, struct suspects *found)
{
	const struct hp_core *core = facts->core;

	for (uint32_t i = 0; i < path->count && i < core->retire_width; i++) {
		uint32_t at = path->insns[i];
		const struct hp_insn *insn = facts_insn(facts, at)->insn;
		double expected = insn->is_locked ? core->locked_cycles : core->fence_cycles;

		if (facts->insns[at].duty != HP_DUTY_SYNC ||
		    (i > 1 && !path_retires_along(facts, path, i)))
			continue;
		add_suspect(found, HP_CAUSE_SYNC, at, most_sync_reads * core->memory_cycles,
			    expected * path_doubt(i));
	}
	suspect_behind_sync(facts, path, found);
}
