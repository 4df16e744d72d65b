/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of each ISA; each is in a file of its own. */
#ifndef HPCPROF_ISA_MACHINES_H
#define HPCPROF_ISA_MACHINES_H

#include <hpcprof/isa/insn.h>

extern const struct hp_isa isa_x86_64;

#endif
