/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/compare/comparison.h>

const char *hp_verdict_name(enum hp_verdict verdict)
{
	switch (verdict) {
	case HP_VERDICT_PASS:
		return "pass";
	case HP_VERDICT_IMPROVEMENT:
		return "improvement";
	case HP_VERDICT_REGRESSION:
		return "regression";
	case HP_VERDICT_INSUFFICIENT:
		break;
	}
	return "insufficient";
}

const char *hp_scope_name(enum hp_scope scope)
{
	switch (scope) {
	case HP_SCOPE_PROGRAM:
		return "program";
	case HP_SCOPE_IMAGE:
		return "image";
	case HP_SCOPE_PROCEDURE:
		return "procedure";
	case HP_SCOPE_LINE:
		return "line";
	case HP_SCOPE_BLOCK:
		break;
	}
	return "block";
}

const char *hp_blame_name(enum hp_blame blame)
{
	switch (blame) {
	case HP_BLAME_CALLERS:
		return "callers";
	case HP_BLAME_ALIKE:
		return "alike";
	case HP_BLAME_ONE:
		return "one";
	case HP_BLAME_INSUFFICIENT:
		return "insufficient";
	case HP_BLAME_UNKNOWN:
		break;
	}
	return NULL;
}

const char *hp_side_name(enum hp_side side)
{
	return side == HP_BASE ? "base" : "candidate";
}

void hp_comparison_destroy(struct hp_comparison *comparison)
{
	/* The comparison lives in its own arena. */
	hp_arena_destroy(comparison->arena);
}
