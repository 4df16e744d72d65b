/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Causes in execution: divider, multiplier, floating point, atomic and serializing instructions; and
 * results that took longer than in the best case because little overlapped.
 *
 * Cleared: all instructions but the stalled one and those that may have retired along with it.
 * Bounded by the latency of one execution: an instruction is the oldest for no longer than that, since
 * what it depends on has retired before.
 */
#include "culprit.h"
#include "tuning.h"

#include <hpcprof/base/number.h>

#include <string.h>

static bool begins_with(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

static bool begins_with_any(const char *name, const char *const *with, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (begins_with(name, with[i]))
			return true;
	return false;
}

static bool writes_vector(const struct hp_insn *insn)
{
	return insn->written.bits[HP_REGISTER_VECTOR / 64] >> HP_REGISTER_VECTOR % 64 & UINT32_MAX;
}

/* By name, as both vendors' manuals group them. */
static enum duty duty_of(const struct hp_isa *isa, const struct hp_insn *insn)
{
	static const char *const divide[] = { "div",  "idiv",  "vdiv",	"sqrt", "vsqrt",
					      "fdiv", "fidiv", "fsqrt", "sdiv", "udiv" };
	static const char *const multiply[] = { "mul ",	 "imul",   "mulx", "pmul", "vpmul",
						"pmadd", "vpmadd", "madd", "umul", "smul" };
	static const char *const sync[] = { "mfence", "lfence", "sfence",    "cpuid",	"rdtsc",
					    "pause",  "rdpmc",	"serialize", "syscall", "sysenter",
					    "dmb",    "dsb",	"isb",	     "xbegin",	"xend",
					    "umwait", "tpause", "clflush",   "clwb",	"wbinvd" };
	static const char *const floating[] = { "add",	  "sub",    "mul",   "fmadd", "fmsub",
						"fnmadd", "fnmsub", "cvt",   "hadd",  "hsub",
						"addsub", "dp",	    "max",   "min",   "cmp",
						"round",  "comi",   "ucomi", "rcp",   "rsqrt" };
	const char *name = isa->mnemonic(insn->mnemonic);
	size_t length = strlen(name);
	const char *plain = name[0] == 'v' ? name + 1 : name;

	if (insn->is_locked || begins_with_any(name, sync, HP_ARRAY_COUNT(sync)))
		return DUTY_SYNC;
	if (begins_with_any(name, divide, HP_ARRAY_COUNT(divide)))
		return DUTY_DIVIDE;
	if (strcmp(name, "mul") == 0 || begins_with_any(name, multiply, HP_ARRAY_COUNT(multiply)))
		return DUTY_MULTIPLY;
	if (name[0] == 'f' && insn->kind == HP_INSN_PLAIN && !begins_with(name, "fxch"))
		return DUTY_FP;
	if (length > 2 && (writes_vector(insn) || strstr(name, "comi") || strstr(name, "cvt")) &&
	    (name[length - 2] == 's' || name[length - 2] == 'p' || strstr(name, "cvt")) &&
	    begins_with_any(plain, floating, HP_ARRAY_COUNT(floating)))
		return DUTY_FP;
	return DUTY_PLAIN;
}

const struct insn_facts *facts_of(struct search *search, uint32_t at)
{
	struct insn_facts *facts = &search->facts[at];
	const struct hp_insn *insn = search_insn(search, at)->insn;
	struct hp_cost cost;

	if (facts->is_known)
		return facts;
	hp_core_cost(search->core, NULL, insn, &cost);
	facts->is_known = true;
	facts->latency = cost.latency;
	facts->duty = (uint8_t)duty_of(search->cfg->isa, insn);
	return facts;
}

static enum hp_cause_kind cause_of(enum duty duty)
{
	switch (duty) {
	case DUTY_DIVIDE:
		return HP_CAUSE_DIVIDER;
	case DUTY_MULTIPLY:
		return HP_CAUSE_MULTIPLIER;
	case DUTY_FP:
		return HP_CAUSE_FP_LATENCY;
	case DUTY_SYNC:
		return HP_CAUSE_SYNC;
	case DUTY_PLAIN:
		break;
	}
	return HP_CAUSE_DEPENDENCY;
}

/* A static wait for a result is the instruction's own latency: its producer retired before it. */
enum hp_cause_kind static_cause(struct search *search, uint32_t at)
{
	const struct hp_analysed_insn *insn = search_insn(search, at);
	const struct insn_facts *facts = facts_of(search, at);

	if (facts->duty == DUTY_SYNC || facts->duty == DUTY_DIVIDE)
		return cause_of((enum duty)facts->duty);
	switch ((enum hp_stall)insn->static_stall) {
	case HP_STALL_DEPENDENCY:
		return facts->latency > 1 ? cause_of((enum duty)facts->duty) : HP_CAUSE_DEPENDENCY;
	case HP_STALL_PORT:
		return HP_CAUSE_PORT;
	case HP_STALL_NONE:
	case HP_STALL_WIDTH:
		break;
	}
	return HP_CAUSE_ISSUE_WIDTH;
}

/* What it reads was made shortly before: where little overlaps, that shows. */
static bool is_in_chain(const struct search *search, uint32_t position)
{
	const struct path *path = &search->path;
	const struct hp_insn *insn = search_insn(search, path->insns[position])->insn;

	for (uint32_t i = position + 1; i < path->count && i <= position + NEAR_CHAIN; i++) {
		const struct hp_insn *before = search_insn(search, path->insns[i])->insn;

		if ((before->written.bits[0] & insn->read.bits[0]) ||
		    (before->written.bits[1] & insn->read.bits[1]))
			return true;
	}
	return false;
}

void suspect_units(struct search *search)
{
	for (uint32_t i = 0; i < search->path.count && i < search->core->retire_width; i++) {
		uint32_t at = search->path.insns[i];
		const struct insn_facts *facts = facts_of(search, at);
		double latency = facts->latency ? facts->latency : 1;

		if (i > 0 &&
		    (facts->duty == DUTY_PLAIN || !path_retires_along(search, &search->path, i)))
			continue;
		if (facts->duty == DUTY_SYNC)
			continue;
		if (facts->duty == DUTY_DIVIDE)
			latency *= divide_margin;
		add_reserve(search, cause_of((enum duty)facts->duty), at, latency,
			    latency *
				    (facts->duty == DUTY_PLAIN ? plain_doubt * latency_shows
							       : latency_shows) *
				    path_doubt(i),
			    is_in_chain(search, i) ? chained_latency * latency : 0);
	}
}

void suspect_sync(struct search *search)
{
	const struct hp_core *core = search->core;

	for (uint32_t i = 0; i < search->path.count && i < core->retire_width; i++) {
		uint32_t at = search->path.insns[i];
		const struct hp_insn *insn = search_insn(search, at)->insn;
		double expected = insn->is_locked ? core->locked_cycles : core->fence_cycles;

		if (facts_of(search, at)->duty != DUTY_SYNC ||
		    (i > 1 && !path_retires_along(search, &search->path, i)))
			continue;
		add_suspect(search, HP_CAUSE_SYNC, at, most_sync_reads * core->memory_cycles,
			    expected * path_doubt(i));
	}
}
