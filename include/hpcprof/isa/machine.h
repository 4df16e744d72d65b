/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The properties of one kind of core: widths, queues and latencies, and the micro-ops, latency and
 * units of each instruction. Constant data that does not depend on measurements of this run.
 * Nothing here allocates, fails or keeps state.
 *
 * Times are core cycles in the best case: data in the first-level cache, branches predicted. The
 * data has two layers: tables generated from LLVM's scheduling models and an override file
 * (scripts/machine-tables), and one hand-written description per core (src/isa/machine/cores.c).
 */
#ifndef HPCPROF_ISA_MACHINE_H
#define HPCPROF_ISA_MACHINE_H

#include <hpcprof/isa/insn.h>
#include <hpcprof/model/cpu.h>

/* A unit is a port, or another resource that serves one micro-op at a time. Sets of units are
 * bits. */
enum {
	HP_CORE_UNITS = 32,
	HP_CORE_OTHERS = 10,
	HP_CORE_USES = 8,
};

/* One of these units is busy for this time. */
struct hp_unit_use {
	uint32_t units;
	uint8_t cycles;
};

/* The cost of one instruction in the core. */
struct hp_cost {
	/* slots of the issue and retirement width; 0 when fused with the previous instruction */
	uint16_t slots;
	uint16_t latency;    /* to the slowest result, from the address where it loads */
	uint16_t late;	     /* how much later than the address other operands are needed */
	uint8_t use_count;   /* micro-ops that need units */
	bool is_eliminated;  /* done at rename: no unit, no latency */
	bool is_independent; /* its result does not depend on its operands */
	bool is_merging;     /* also waits for the old value of its destination */
	bool is_serializing; /* no later instruction begins before it ends */
	bool is_guess;	     /* not in the tables: an ordinary instruction is assumed */
	struct hp_unit_use uses[HP_CORE_USES];
};

/* What uses these units of a table uses others, for as long as the table says or for `cycles`. */
struct hp_other_units {
	uint32_t of_table, units;
	uint8_t cycles; /* 0: as in the table */
};

enum hp_fusion {
	HP_FUSION_NONE,
	HP_FUSION_COMPARE,    /* cmp and test with a conditional jump */
	HP_FUSION_ARITHMETIC, /* also add, sub, and, inc, dec */
	HP_FUSION_LOGIC,      /* also or, xor */
};

/* Which loads have the register of a store at once, on cores that rename memory (src/uarch/forwards.h). */
enum hp_renaming {
	HP_RENAMING_KNOWN, /* loads whose store the core knows by name, or from before */
	HP_RENAMING_ALL,   /* all loads of a kind that the core renames */
};

struct hp_core {
	const char *name;	       /* "sapphire-rapids" */
	const char *title;	       /* "Intel Sapphire Rapids (Golden Cove)" */
	const char *const *unit_names; /* NULL where there is no such unit */
	uint32_t divider_units;	       /* not pipelined: dividers and similarly slow units */
	uint8_t table;		       /* column of the generated tables */
	bool is_generic;	       /* for a CPU that is not known */
	uint8_t issue_width;	       /* slots per cycle, at rename, at most */
	uint8_t issued_in_ten;	       /* slots in ten cycles of any long code, at most; 0: all */
	uint8_t retire_width;
	uint8_t fetch_width;  /* slots per cycle from the micro-op cache */
	uint8_t decode_width; /* instructions per cycle of one thread without it */
	uint8_t fusion;	      /* enum hp_fusion */
	bool counts_unfused;  /* the table counts a load or store separately from its operation */
	/* The latency that the table gives a store that does nothing else, as it counts a round trip of the bytes
	 * through the cache; 0: the table does not count that. */
	uint8_t table_store_cycles;
	bool eliminates_general_moves;
	bool eliminates_vector_moves;
	bool eliminates_small_additions; /* of constants to full registers */
	/* Two busy threads fetch, issue and write their stores by turns: each has half of the widths. */
	bool takes_turns;
	uint8_t taken_width; /* taken branches per cycle, except indirect jumps; 0: one */
	uint8_t call_cycles; /* of fetch at least, from a call or a return to the next branch; 0: one */
	uint8_t indirect_cycles; /* the same to an indirect jump, from the last taken branch */
	bool asks_late;		 /* requests code only when it fetches it: old cores */
	/* What one of all these units serves keeps it for a cycle more, if a result of such an operation is
	 * needed that is one of the last `chained_span` instructions; 0: nothing does. */
	uint32_t chained_units;
	uint8_t chained_span;
	/* Where its units are others than those of its table, which is of another core; ends with zeros. */
	struct hp_other_units other_units[HP_CORE_OTHERS];
	/* The latency of loads in the table is of those whose address has a scaled index or three parts, or
	 * that extend a sign. Others take l1_cycles. */
	bool indexes_late;
	bool prefetches_pointers; /* fetches what arrays of pointers lead to, ahead of those that use it */
	uint16_t reorder_slots;
	uint8_t stored_width; /* stores per cycle that leave the store buffer; 0: one */
	uint8_t miss_buffers; /* lines that the first level of data waits for at a time */
	uint8_t page_walkers; /* page walks at a time */
	uint16_t l1_cycles;   /* load to use, general register */
	uint16_t l2_cycles;
	uint16_t l3_cycles;
	uint16_t memory_cycles;
	uint16_t l2_tlb_cycles; /* additional cycles on a miss of the first TLB */
	uint16_t walk_cycles;	/* additional cycles on a miss of both TLBs */
	uint16_t mispredict_cycles;
	/* The delay of fetch behind a conditional branch that only a long history predicts; 0: unknown. */
	uint8_t late_branch_cycles;
	/* How much longer than one cycle it is at least from the last taken branch to an indirect one that has
	 * gone to several places, or to one of more branches than `early_targets` (hpcprof/isa/sizes.h); 0: no
	 * longer. */
	uint8_t late_target_cycles;
	/* From a taken branch that the branch target buffer does not have to what follows, as fetch goes straight
	 * on until the branch is decoded; 0: unknown. */
	uint8_t resteer_cycles;
	/* From the retirement of an instruction that took longer than is known beforehand (a division, a
	 * load that missed) to the start of those that read its result; 0: it retires last. */
	uint8_t late_result_cycles;
	uint16_t forward_cycles; /* from a store to a load of the same bytes, at best */
	/* The same where the core compares addresses, as it does not know the store beforehand; 0: all are
	 * at best. */
	uint16_t compared_cycles;
	uint8_t renaming; /* enum hp_renaming */
	/* Loads in each of two sets whose store it knows from before, each with that store. */
	uint8_t remembered_pairs;
	uint8_t renamed_stores;	 /* it knows the store if that is one of so many last ones */
	uint16_t blocked_cycles; /* the same if the load needs more than the bytes of that store */
	uint16_t locked_cycles;	 /* of an atomic operation */
	uint16_t fence_cycles;	 /* of a full fence */
	uint16_t pause_cycles;	 /* of a hint that a loop waits for another CPU */
};

/* The identification of a CPU in /proc/cpuinfo. */
struct hp_cpu_id {
	const char *vendor; /* "GenuineIntel" */
	unsigned family;
	unsigned model;
	bool has_amx;			  /* hypervisors hide the model, but rarely its features */
	uint32_t instruction_cache_bytes; /* first level; 0 when not known */
};

/* Finds the core by its identification; the generic core if the CPU is unknown. Never NULL. */
const struct hp_core *hp_core_of(const struct hp_cpu_id *id);
const struct hp_core *hp_core_of_cpu(const struct hp_cpu *cpu); /* as an epoch keeps it */

/* By `name`; NULL when there is none. */
const struct hp_core *hp_core_named(const char *name);

/* By number from 0; NULL past the last. */
const struct hp_core *hp_core_at(size_t number);

/* The cost of the instruction. `before` is the one executed right before it, or NULL: the two may
 * fuse. Then `cost->slots` is 0, and only the loads of `before` need a unit. */
void hp_core_cost(const struct hp_core *machine, const struct hp_insn *before,
		  const struct hp_insn *insn, struct hp_cost *cost);

/* Whether the two are one operation to the core: a comparison and the jump behind it. `before` may be
 * NULL. */
bool hp_core_fuses(const struct hp_core *machine, const struct hp_insn *before,
		   const struct hp_insn *insn);

/* Names one unit: "0" for port 0, "divider" … Never NULL. */
const char *hp_core_unit(const struct hp_core *machine, unsigned unit);

/* The kinds and widths of an instruction's operands, which together with its mnemonic select a row
 * of the tables: four bits per operand, the first operand highest. For a computed address that is
 * not accessed, its complexity. */
uint16_t hp_insn_shape(const struct hp_insn *insn);

#endif
