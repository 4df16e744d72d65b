/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The registers that come with a sample (<hpcprof/pmu/registers.h>), as the interpreter takes them.
 */
#ifndef HPCPROF_COLLECT_REGISTERS_H
#define HPCPROF_COLLECT_REGISTERS_H

#include "record.h"

#include <hpcprof/isa/step.h>

/* The state in which the sample was taken; false when it has no registers, or not the user's own at
 * its address (of a sample in the kernel). */
bool registers_state(const struct record *record, struct hp_state *state);

#endif
