/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When the instructions of a path retire, on an out-of-order core and, in the same pass, on cores
 * that differ from it in one respect each (model/lanes.h).
 *
 * Instructions are dispatched in order, up to the width of the core, when the reorder buffer and
 * the store buffer have room. An instruction begins when its operands and a unit are available, and
 * retires in order. A mispredicted branch delays the code behind it until the branch has been
 * executed; a miss of the instruction caches, until the line has arrived. Data misses share a
 * limited number of buffers. Stores and prefetches end when their address is translated, and do not wait
 * for their line. This is the model of interval analysis (Eyerman, Eeckhout, Karkhanis,
 * Smith, "A performance counter architecture for computing accurate CPI components", ASPLOS 2006,
 * section 2); the overlap of events is simulated, not computed by formulas.
 *
 * Not modelled: wrong-path code behind a mispredicted branch, and a full scheduler. Units serve
 * micro-ops in program order, whenever their operands become available.
 *
 * Times are in ticks, HP_TIMING_TICKS per cycle, relative to a moment that hp_timing_rebase moves.
 * No system call, no allocation after creation. A struct hp_timing is used by one thread at a time.
 */
#ifndef HPCPROF_UARCH_TIMING_H
#define HPCPROF_UARCH_TIMING_H

#include <hpcprof/base/cleanup.h>
#include <hpcprof/isa/insn.h>
#include <hpcprof/isa/machine.h>
#include <hpcprof/model/lanes.h>
#include <hpcprof/uarch/geometry.h>

#include <stdbool.h>
#include <stdint.h>

/* A multiple of all widths of cores. */
enum { HP_TIMING_TICKS = 360 };

/* One figure for each lane. */
struct hp_lanes {
	int32_t at[HP_LANES];
};

enum { HP_TIMED_REGISTERS = 6, HP_TIMED_USES = 4 };
/* Registers beyond HP_REGISTER_COUNT: the carry flag; the other flags. */
enum { HP_TIMED_FLAGS = 2 };

/* How an instruction names the place in memory that it loads from or stores to. */
struct hp_timed_name {
	bool may_be_renamed; /* of general registers, of as many bytes as the core renames */
	bool is_known;	     /* by base, index and displacement, or by the stack pointer */
	uint8_t base, index; /* registers, or HP_REGISTER_NONE: as the stack pointer's is */
	uint32_t hash;	     /* of displacement and scale */
};

/* A whole pointer that an instruction moves to a register, unchanged. */
enum hp_moves { HP_MOVES_NOTHING, HP_MOVES_REGISTER, HP_MOVES_MEMORY };

/* An instruction as the core handles it. */
struct hp_timed_insn {
	uint8_t address_count, operand_count, result_count;
	uint8_t addresses[HP_TIMED_REGISTERS]; /* registers, flags as further ones */
	uint8_t operands[HP_TIMED_REGISTERS];
	uint8_t results[HP_TIMED_REGISTERS];
	uint8_t use_count;
	uint32_t units[HP_TIMED_USES]; /* units per micro-op, any one of which serves it */
	uint16_t busy[HP_TIMED_USES];  /* cycles for which the unit is busy */
	uint8_t slots;
	uint8_t duty;	  /* enum hp_duty */
	uint16_t latency; /* cycles, from the address where it loads */
	uint16_t late;	  /* cycles by which the other operands are needed later than the address */
	bool is_eliminated;
	bool is_serializing;
	bool is_at_stack; /* its memory operand is addressed by the stack pointer */
	bool is_fencing;  /* later loads wait for it */
	bool is_call;	  /* or a return */
	bool is_indirect; /* a jump whose target is read */
	bool is_chained;  /* on all of the core's chained units, from registers to one */
	uint32_t place;	  /* its address, in part */
	struct hp_timed_name loaded, stored;
	uint8_t moves;	 /* enum hp_moves */
	uint8_t pointer; /* the base of its address if that has no index; else HP_REGISTER_NONE */
	int64_t displacement; /* of its address from there */
};

/* What happens to its data, as hp_uarch_access has it. */
struct hp_timed_access {
	uint64_t line;
	uint64_t store; /* the store that a load is forwarded from, or itself */
	unsigned events;
	bool is_store, is_prefetch; /* a load otherwise */
};

struct hp_timing;

/* Creates it; NULL when memory is short. The core is borrowed; only the queues of the geometry are
 * used. */
struct hp_timing *hp_timing_create(const struct hp_core *core,
				   const struct hp_uarch_geometry *geometry);
void hp_timing_destroy(struct hp_timing *timing);
HP_DEFINE_CLEANUP(struct hp_timing, hp_timing_destroy);
void hp_timing_reset(struct hp_timing *timing);

/* Makes the instructions of a block, in order: `before` is the previous one, or NULL. May change
 * its result, `made[-1]`, if the two fuse. */
void hp_timed_insn_make(const struct hp_core *core, const struct hp_isa *isa,
			const struct hp_insn *before, const struct hp_insn *insn,
			struct hp_timed_insn *made);

/* A fetch with these events of hp_uarch_fetch: call it before the first instruction in it. */
void hp_timing_fetch(struct hp_timing *timing, unsigned events);
/* The direction of the branch that was timed last, and its events of hp_uarch_branch. */
void hp_timing_branch(struct hp_timing *timing, unsigned events, bool is_taken);
/* Returns for how many cycles code beside the path was fetched, in the first lane, if that branch
 * was mispredicted. */
unsigned hp_timing_strayed(const struct hp_timing *timing);
/* Adds to `spent` the time by which the instruction extends the path: from the retirement of the
 * previous one to its own. */
void hp_timing_insn(struct hp_timing *timing, const struct hp_timed_insn *insn,
		    const struct hp_timed_access *accesses, unsigned access_count,
		    struct hp_lanes *spent);

/* Whether times have become large: the caller then saves the sums of `spent` and calls
 * hp_timing_rebase. If asked every 256 instructions, no sum overflows. */
bool hp_timing_is_due(const struct hp_timing *timing);
void hp_timing_rebase(struct hp_timing *timing);

#endif
