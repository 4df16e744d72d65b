/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The registers of a sample, as the unwinder takes them. */
#ifndef COLLECT_PATHS_REGISTERS_H
#define COLLECT_PATHS_REGISTERS_H

#include <hpcprof/pmu/registers.h>
#include <hpcprof/unwind/unwind.h>

/* Converts all HP_SAMPLED_REGISTERS: the kernel numbers them as instructions do, DWARF differently. */
static inline void unwind_registers_of(const uint64_t *sampled,
				       struct hp_unwind_registers *registers)
{
	static const uint8_t of_instructions[HP_UNWIND_REGISTERS] = {
		0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15, HP_SAMPLED_ADDRESS
	};

	registers->known = (1u << HP_UNWIND_REGISTERS) - 1;
	for (size_t i = 0; i < HP_UNWIND_REGISTERS; i++)
		registers->at[i] = sampled[hp_sampled_register_place(of_instructions[i])];
}

#endif
