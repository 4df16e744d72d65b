/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stalls of code small enough to see who can have caused them. Code runs a million times, by exact
 * counts; takes() gives an instruction cycles of each execution, on the spot (no skid). What
 * is asked for by an instruction's offset in the code is analysed then.
 */
#ifndef TESTS_ANALYZE_STALLS_H
#define TESTS_ANALYZE_STALLS_H

#include "../program.h"
#include "../support.h"

#include <hpcprof/analyze/analysis.h>

enum { RUNS = 1000000, STALL = 200, MOST_PLACES = 64 };

extern struct hp_sampled samples[MOST_PLACES];
extern size_t sample_count, count_count;
extern struct hp_analysis *found;

/* What was simulated: everything, as often; of one instruction, so many events. */
extern struct simulated {
	double apart; /* share of the time that no window saw */
	bool is_on;
	bool is_alone; /* nothing but that instruction was */
	size_t at;
	enum hp_event_kind kind;
	double share;
	bool is_timed; /* too: so long on the core as it is, and without caches or TLBs that miss */
	double as_is, without_dcache, without_dtlb;
	double without_divider, ideal; /* 0: as it is; a cycle */
	double third, memory;	   /* where lines of unknown place are there; 0: none is unknown */
	double most_walks; /* at the upper end of their interval; 0: as many as are likely */
	double walks_read; /* page walks whose entries may be there, per execution */
	double others;	   /* each other instruction, on all cores; 0: not timed */
	double unseen; /* upper end of events per execution that no execution had; 0: 3 in all */
	bool is_everywhere; /* the others had as many events */
	size_t untimed;	    /* an instruction that is not, and how often it ran; 0: none */
	double untimed_runs;
} simulated;

extern unsigned skid;	      /* instructions; 0 after begin() */
extern const char *core_name; /* granite-rapids, unless a test says otherwise after begin() */

/* What counters say that a cause took at most, in cycles of one execution; NULL: nothing. */
extern const double *limits;

/* Anew: this code, of which nothing is known. */
void begin(const uint8_t *bytes, size_t size);
void runs(size_t at, double times);
/* The counts so far are estimates with this standard deviation, as a share. */
void counted_to_within(double deviation);
void takes(size_t at, double cycles_each);
/* The instruction had so many such events per execution, and no other had any. */
void sees(size_t at, enum hp_event_kind kind, double share);

const struct hp_analysed_insn *insn_at(size_t at);
/* The most that the cause can explain of the instruction's time, and the least that it must. */
double most(size_t at, enum hp_cause_kind kind);
double least(size_t at, enum hp_cause_kind kind);
/* Where the likeliest suspect of that cause is; SIZE_MAX without one. */
size_t culprit(size_t at, enum hp_cause_kind kind);
const struct hp_cause *first_cause(size_t at);

/* The bytes are a loop that ends with dec rsi; jnz to its begin, and return after it. */
#define DEC_RSI 0x48, 0xff, 0xce
#define RET	0xc3
#define LOOP(...)                                                                                  \
	do {                                                                                       \
		static const uint8_t body[] = { __VA_ARGS__ };                                     \
		static uint8_t bytes[sizeof(body) + 6];                                            \
		const uint8_t tail[] = { DEC_RSI, 0x75, (uint8_t)(1 - sizeof(bytes)), RET };       \
                                                                                                   \
		memcpy(bytes, body, sizeof(body));                                                 \
		memcpy(bytes + sizeof(body), tail, sizeof(tail));                                  \
		begin(bytes, sizeof(bytes));                                                       \
		runs(0, RUNS);                                                                     \
		runs(sizeof(bytes) - 1, 10);                                                       \
	} while (0)
/* Straight code that returns. */
#define CODE(...)                                                                                  \
	do {                                                                                       \
		static const uint8_t bytes[] = { __VA_ARGS__, RET };                               \
                                                                                                   \
		begin(bytes, sizeof(bytes));                                                       \
		runs(0, RUNS);                                                                     \
	} while (0)

#define LOAD_RAX_FROM_RAX 0x48, 0x8b, 0x00
#define PREFETCH_AT_RAX	  0x0f, 0x18, 0x08
#define LOAD_RCX_FROM_RDI 0x48, 0x8b, 0x0f
#define ADD_RAX_RBX	  0x48, 0x01, 0xd8
#define ADD_RCX_1	  0x48, 0x83, 0xc1, 1
#define ADD_RDX_1	  0x48, 0x83, 0xc2, 1

#endif
