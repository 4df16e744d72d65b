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
	struct hp_core_sets l1i, l1d, l2; /* of lines of 64 bytes */
	bool l2_is_inclusive;		  /* the first levels contain only lines that it contains */
	struct hp_core_sets itlb, dtlb;	  /* of pages of 4 KiB */
	struct hp_core_sets tlb2, tlb2_code; /* `tlb2_code` is empty if code and data share one */
	struct hp_core_sets decoded;	     /* entries of the micro-op cache */
	uint32_t decoded_bytes;		     /* code per entry, about */
	uint32_t store_entries;
	uint32_t return_entries;
	/* Entries per table of the predictor: for directions by history, and for targets; 0:
	 * unknown. */
	uint32_t tagged_entries, indirect_entries;
	uint32_t longest_history; /* taken branches that it looks back at; 0: unknown */
	uint32_t early_targets;	  /* taken branches whose target it knows at once; 0: unknown */
	struct hp_core_sets targets; /* entries of the branch target buffer; none: unknown */
};

/* NULL for the generic core. */
const struct hp_core_sizes *hp_core_sizes_of(const struct hp_core *core);

#endif
