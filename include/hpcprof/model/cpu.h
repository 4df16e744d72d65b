/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CPU's identification of itself. The report, perhaps on another machine, finds the tables of
 * the core with it (hp_core_of_cpu). All zero if the CPU is unknown or if there were several.
 */
#ifndef HPCPROF_MODEL_CPU_H
#define HPCPROF_MODEL_CPU_H

#include <hpcprof/base/error.h>

#include <stdbool.h>
#include <stdint.h>

struct hp_cpu {
	char *vendor;	 /* x86: "GenuineIntel". Owned; NULL elsewhere */
	uint32_t family; /* x86 */
	uint32_t model;
	uint32_t stepping; /* Arm: variant in the upper four bits of eight, revision in the lower */
	bool has_amx;	   /* hypervisors hide the model, but rarely its features */
	uint32_t implementer;		  /* Arm: MIDR's, 0x41 is Arm itself; 0 elsewhere */
	uint32_t part;			  /* Arm: 0xd0c is a Neoverse N1 */
	uint32_t instruction_cache_bytes; /* first level; 0 when not known */
};

bool hp_cpu_is_known(const struct hp_cpu *cpu);
bool hp_cpu_equal(const struct hp_cpu *a, const struct hp_cpu *b);
/* Everything in one word: "GenuineIntel-6-143-8-amx-32768", "arm-0x41-0xd0c-65536", "unknown".
 * Equal ones have equal names. malloc'ed; NULL when memory is short. */
char *hp_cpu_name(const struct hp_cpu *cpu);
struct hp_error *hp_cpu_copy(const struct hp_cpu *from, struct hp_cpu *to);
void hp_cpu_clear(struct hp_cpu *cpu);

/*
 * The CPU of a sum of epochs: `into` if both are equal, else unknown, because the tables of one
 * core do not fit both. The result does not depend on the order.
 */
void hp_cpu_meet(struct hp_cpu *into, const struct hp_cpu *from);

#endif
