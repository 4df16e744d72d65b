/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "duty.h"

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

struct hp_error *duty_prepare(struct facts *facts, struct hp_arena *arena)
{
	size_t count = facts->analysis->insn_count;
	struct insn_facts *insns = hp_arena_array(arena, count + 1, sizeof(*insns));

	if (!insns)
		return hp_error_create_no_memory();
	for (uint32_t i = 0; i < count; i++) {
		const struct hp_insn *insn = facts_insn(facts, i)->insn;
		struct hp_cost cost;

		hp_core_cost(facts->core, NULL, insn, &cost);
		insns[i].latency = cost.latency;
		insns[i].duty = (uint8_t)duty_of(facts->cfg->isa, insn);
	}
	facts->insns = insns;
	return NULL;
}

enum hp_cause_kind duty_cause(enum duty duty)
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
enum hp_cause_kind duty_static_cause(const struct facts *facts, uint32_t at)
{
	const struct hp_analysed_insn *insn = facts_insn(facts, at);
	const struct insn_facts *one = &facts->insns[at];

	if (one->duty == DUTY_SYNC || one->duty == DUTY_DIVIDE)
		return duty_cause((enum duty)one->duty);
	switch ((enum hp_stall)insn->static_stall) {
	case HP_STALL_DEPENDENCY:
		return one->latency > 1 ? duty_cause((enum duty)one->duty) : HP_CAUSE_DEPENDENCY;
	case HP_STALL_PORT:
		return HP_CAUSE_PORT;
	case HP_STALL_NONE:
	case HP_STALL_WIDTH:
		break;
	}
	return HP_CAUSE_ISSUE_WIDTH;
}
