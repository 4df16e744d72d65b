/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/isa/duty.h>

#include <hpcprof/base/number.h>

#include <string.h>

static bool begins_with(const char *name, const char *with)
{
	return name[0] == with[0] && strncmp(name, with, strlen(with)) == 0;
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

/* Most instructions are moves, additions, comparisons and jumps, for which no name is looked at. */
static bool is_plain(const struct hp_insn *insn)
{
	switch ((enum hp_insn_kind)insn->kind) {
	case HP_INSN_JUMP:
	case HP_INSN_JUMP_INDIRECT:
	case HP_INSN_CALL:
	case HP_INSN_CALL_INDIRECT:
	case HP_INSN_RETURN:
		return true;
	case HP_INSN_CONDITIONAL: /* xbegin is one, too */
		return insn->condition != HP_CONDITION_NONE &&
		       insn->condition != HP_CONDITION_OTHER;
	case HP_INSN_PLAIN:
	case HP_INSN_TRAP:
	case HP_INSN_HALT:
	case HP_INSN_SYSCALL:
		break;
	}
	return insn->operation != HP_OPERATION_OTHER;
}

/* Classifies by mnemonic, in the groups of both vendors' manuals. */
enum hp_duty hp_duty_of(const struct hp_isa *isa, const struct hp_insn *insn)
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
	const char *name;
	const char *plain;
	size_t length;

	if (!insn->is_locked && is_plain(insn))
		return HP_DUTY_PLAIN;
	name = isa->mnemonic(insn->mnemonic);
	length = strlen(name);
	plain = name[0] == 'v' ? name + 1 : name;
	if (insn->is_locked || begins_with_any(name, sync, HP_ARRAY_COUNT(sync)))
		return HP_DUTY_SYNC;
	if (begins_with_any(name, divide, HP_ARRAY_COUNT(divide)))
		return HP_DUTY_DIVIDE;
	if (strcmp(name, "mul") == 0 || begins_with_any(name, multiply, HP_ARRAY_COUNT(multiply)))
		return HP_DUTY_MULTIPLY;
	if (name[0] == 'f' && insn->kind == HP_INSN_PLAIN && !begins_with(name, "fxch"))
		return HP_DUTY_FP;
	/* The beginning of the name is compared first, since it excludes most. */
	if (begins_with_any(plain, floating, HP_ARRAY_COUNT(floating)) && length > 2 &&
	    (writes_vector(insn) || strstr(name, "comi") || strstr(name, "cvt")) &&
	    (name[length - 2] == 's' || name[length - 2] == 'p' || strstr(name, "cvt")))
		return HP_DUTY_FP;
	return HP_DUTY_PLAIN;
}
