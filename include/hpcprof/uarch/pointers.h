/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which loads give addresses to other instructions. Cores that prefetch what arrays of pointers lead
 * to (struct hp_uarch_geometry, prefetches_pointers) find it out by values, which a path does not
 * have. So registers are followed: a value that was loaded is a pointer where it is the base of an
 * address, also after moves between registers.
 */
#ifndef HPCPROF_UARCH_POINTERS_H
#define HPCPROF_UARCH_POINTERS_H

#include <hpcprof/uarch/path.h>
#include <hpcprof/uarch/timing.h>

/* All zero at the beginning of a path. */
struct hp_uarch_pointers {
	uint64_t loaded_by[HP_REGISTER_VECTOR]; /* address of the load of its value; 0: of none */
};

/* The instruction at `ip` is executed. Call it before hp_uarch_access of its accesses. `address`: that
 * of its first access; NULL: it has none. */
void hp_uarch_pointers_follow(struct hp_uarch_pointers *pointers, struct hp_uarch *uarch,
			      const struct hp_timed_insn *insn, uint64_t ip,
			      const uint64_t *address);

#endif
