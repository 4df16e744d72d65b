/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registers of a sample (<hpcprof/pmu/registers.h>) in the form that the interpreter uses. */
#ifndef COLLECT_EVIDENCE_REGISTERS_H
#define COLLECT_EVIDENCE_REGISTERS_H

#include <hpcprof/isa/step.h>
#include <hpcprof/sample/record.h>

/* The registers of the sample. False when it has none, or when they are not the user's at its
 * address, as for a sample in the kernel. */
bool registers_state(const struct hp_record *record, struct hp_state *state);

#endif
