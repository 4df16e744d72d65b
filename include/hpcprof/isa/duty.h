/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Classifies an instruction by the work that may take long in it, whatever core it runs on. */
#ifndef HPCPROF_ISA_DUTY_H
#define HPCPROF_ISA_DUTY_H

#include <hpcprof/isa/insn.h>

enum hp_duty {
	HP_DUTY_PLAIN,
	HP_DUTY_DIVIDE,	  /* and square roots */
	HP_DUTY_MULTIPLY, /* of integers */
	HP_DUTY_FP,
	HP_DUTY_SYNC, /* atomic ones, fences, what serializes or waits */
};

enum hp_duty hp_duty_of(const struct hp_isa *isa, const struct hp_insn *insn);

#endif
