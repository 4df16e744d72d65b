/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registers of a sample (<hpcprof/pmu/registers.h>) in the form that the interpreter uses. */
#ifndef COLLECT_EVIDENCE_REGISTERS_H
#define COLLECT_EVIDENCE_REGISTERS_H

#include <hpcprof/isa/step.h>
#include <hpcprof/sample/record.h>

/* The state in which the sample was taken; false when it has no registers, or not the user's own at
 * its address (of a sample in the kernel). */
bool registers_state(const struct hp_record *record, struct hp_state *state);

#endif
