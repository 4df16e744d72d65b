/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cores that are known, the generic one first. */
#ifndef HPCPROF_ISA_MACHINE_CORES_H
#define HPCPROF_ISA_MACHINE_CORES_H

#include <hpcprof/isa/machine.h>

enum core {
	CORE_GENERIC,
	CORE_SKYLAKE,
	CORE_ICE_LAKE,
	CORE_SAPPHIRE_RAPIDS,
	CORE_GRANITE_RAPIDS,
	CORE_ZEN_2,
	CORE_ZEN_3,
	CORE_ZEN_4,
	CORE_ZEN_5,
	CORE_COUNT,
};

extern const struct hp_core cores[CORE_COUNT];

#endif
