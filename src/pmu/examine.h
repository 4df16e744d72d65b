/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The findings of `hpcprof doctor`, while they are collected. */
#ifndef HPCPROF_PMU_EXAMINE_H
#define HPCPROF_PMU_EXAMINE_H

#include "surroundings.h"

struct hp_examination {
	const struct hp_machine *machine;
	struct hp_surroundings around;
	struct hp_findings *findings;
	bool no_memory;
};

/* `lift` and `without` may be NULL. */
void hp_examination_add(struct hp_examination *examination, enum hp_finding_state state,
			const char *topic, const char *lift, const char *without,
			const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Examines PMUs, counters, precise levels, branch stacks and breakpoints by trying them. */
void hp_examine_hardware(struct hp_examination *examination);

#endif
