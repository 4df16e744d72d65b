/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sizes of a core's caches, TLBs and queues. Constant data; latencies are in
 * hpcprof/isa/machine.h. The caches of a running machine may differ (hpcprof/calibrate/geometry.h).
 */
#ifndef HPCPROF_ISA_SIZES_H
#define HPCPROF_ISA_SIZES_H

#include <hpcprof/isa/machine.h>

struct hp_core_sets {
	uint32_t sets;
	uint32_t ways; /* 0: there is none */
};

struct hp_core_sizes {
	struct hp_core_sets l1i, l1d, l2;    /* of lines of 64 bytes */
	bool l2_is_inclusive;		     /* the first levels have nothing that it has not */
	struct hp_core_sets itlb, dtlb;	     /* of pages of 4 KiB */
	struct hp_core_sets tlb2, tlb2_code; /* none for code: it shares that of data */
	struct hp_core_sets decoded;	     /* entries of the cache of micro-ops, */
	uint32_t decoded_bytes;		     /* each for about so much code */
	uint32_t store_entries;
	uint32_t return_entries;
	/* Of the predictor, in each table: directions by history, and targets; 0: not known. */
	uint32_t tagged_entries, indirect_entries;
};

/* NULL for the generic core. */
const struct hp_core_sizes *hp_core_sizes_of(const struct hp_core *core);

#endif
