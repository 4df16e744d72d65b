/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What windows cost the target, and whether its budget allows another one.
 *
 * A window costs
 *	- the time for which a thread is held, nearly all of it for reading its memory;
 *	- the time that taking the samples to be matched interrupts it;
 *	- the time to refill caches afterwards;
 *	- what its copy takes from the target: CPU time, by where it runs (see spare_cpus.h), and of
 *	  caches and memory, by how much memory there is. Memory that the kernel has to give for it, and
 *	  for the buffer, takes CPU time, too;
 *	- what the target waits for CPUs because of it (see waits.h).
 * The first, the last and CPU time are measured for each window; the others are calculated. The
 * next price is predicted from earlier measurements.
 *
 * The budget is a share of the target's CPU time. The price of a window is paid in advance, from
 * the slot that the window is due in (schedule.h), never from later slots. There is one exception:
 * the first few windows may borrow a little, which later windows repay by waiting, so that a short
 * run has windows, too.
 *
 * Other threads may be waiting for the one that is held, so its loss is counted once per running
 * thread of its process. The share then holds for wall time, too.
 */
#ifndef SHADOW_BUDGET_PRICE_H
#define SHADOW_BUDGET_PRICE_H

#include "spare_cpus.h"

#include <hpcprof/base/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ledger {
	double share;	     /* of the target's CPU time */
	double fixed_ns;     /* of a stop, whatever there is to read */
	double sample_ns;    /* of a sample */
	double ns_per_byte;  /* of reading */
	double fresh_ns;     /* per byte of memory that the kernel gives: CPU time */
	double making;	     /* CPU time of making a copy that waits, by what was guessed of it */
	double taken_per_ns; /* CPU time of copies beside that, by the length of windows */
	double whole_per_ns; /* … of those that came to the end of their window */
	double missed;	     /* of windows' samples, the share that replays did not come by */
	double call_ns;	     /* of a recorded call */
	double calls_per_ns; /* of user CPU time, in recorded windows */
	bool has_calls;
	bool has_measured; /* stops; else these are guesses, on the dear side */
	bool has_taken;	   /* so for copies */
	bool has_whole;
	uint64_t copies;  /* that ran */
	uint64_t lost_ns; /* so far */
	double owed_ns;	  /* will be, of copies that still run */
	uint64_t longest_stop_ns;
	uint64_t stopped_ns; /* of it */
};

/* What a price depends on. */
struct price_terms {
	uint64_t bytes;	      /* to copy */
	uint64_t ahead_bytes; /* of them, read before the target is held */
	uint64_t samples;
	uint64_t areas;		 /* of its address space; 0 while they are not listed */
	uint64_t resident_bytes; /* of files, too */
	uint64_t window_ns;
	uint64_t threads; /* of its process that run, the held one among them; 0 is 1 */
	double runnable;  /* threads of the machine that want a CPU; for ROOM_SHARED */
	enum spare_cpus room;
	bool is_recorded; /* the thread's calls are */
	bool is_later;	  /* the copy is to wait for an idle CPU: only making it takes something */
};

/* `sample_ns` 0: unknown. */
void ledger_init(struct ledger *ledger, double percent, double sample_ns);
uint64_t ledger_price(const struct ledger *ledger, const struct price_terms *terms);
/* Of it, what the copy costs by running. */
uint64_t ledger_copy_price(const struct ledger *ledger, const struct price_terms *terms);
/* What it costs to make so much memory for a copy in time that others want. */
uint64_t ledger_memory_price(const struct ledger *ledger, const struct price_terms *terms,
			     uint64_t bytes);
/* How long a stop to read so much is to take. */
uint64_t ledger_hold(const struct ledger *ledger, uint64_t bytes);
/*
 * How long a window of these terms is best, but for its own length. Windows are clusters of moments
 * that are alike, and the best size of a cluster is the root of what one costs over what a moment in
 * it costs, times how long moments stay alike (Cochran, Sampling Techniques, 1977, section 10.6).
 * Where copies are still busy when the next window is due, it is time that is scarce: then as short
 * as lets the budget be spent.
 */
uint64_t ledger_window_ns(const struct ledger *ledger, const struct price_terms *terms);
/* The CPU time that a copy of such a window may take, by what whole ones have taken: one that has lost
 * its way runs on until then, and is charged for it; and by the price that was predicted. Without an
 * idle CPU by what is left of the budget, or else by what it was expected to take. */
uint64_t ledger_longest_replay_ns(const struct ledger *ledger, const struct price_terms *terms,
				  uint64_t price_ns, uint64_t left_ns);
/* How much of the target's CPU time lies between two windows at least, or else copies would queue: see
 * schedule.h. */
uint64_t ledger_spacing_ns(const struct ledger *ledger, const struct price_terms *terms);
/* So much CPU time of the target pays for it. */
uint64_t ledger_slot(const struct ledger *ledger, uint64_t price_ns);
/* Where a slot ends that begins at `start_ns` of it and pays for that price, and for whatever earlier
 * ones have overdrawn. What they have left over makes it shorter, by half at most: windows are not to
 * crowd. */
uint64_t ledger_slot_end(const struct ledger *ledger, uint64_t price_ns, uint64_t start_ns);
/* How much of the target's time may still be spent in the slot that ends at `slot_end_ns` of its CPU time. */
uint64_t ledger_left_ns(const struct ledger *ledger, uint64_t slot_end_ns);
/* Whether it may be spent in the slot that ends at `slot_end_ns` of the target's CPU time. */
bool ledger_allows(const struct ledger *ledger, uint64_t price_ns, uint64_t slot_end_ns);
/* Why not, in words. */
struct hp_error *ledger_too_dear(const struct ledger *ledger, const struct price_terms *terms,
				 uint64_t price_ns);
/* What reading a byte takes here, and a byte of fresh memory, measured before there is a target. */
void ledger_expect(struct ledger *ledger, double ns_per_byte, double fresh_ns);
/* Learns from a stop in which so much was read: sooner that it is dearer than that it is not. */
void ledger_read(struct ledger *ledger, uint64_t stop_ns, uint64_t bytes);
/* Enters a stop, with `terms` as they turned out. */
void ledger_stop(struct ledger *ledger, uint64_t stop_ns, const struct price_terms *terms);
void ledger_samples(struct ledger *ledger, const struct price_terms *terms);
/* There is one more copy. */
void ledger_copied(struct ledger *ledger);
/* Learns from CPU time that making so much memory took. */
void ledger_filled_idly(struct ledger *ledger, uint64_t cpu_ns, uint64_t bytes);
/* The same of what others wanted, which is entered. */
void ledger_filled(struct ledger *ledger, const struct price_terms *terms, uint64_t cpu_ns,
		   uint64_t bytes);
/* Enters CPU time that making one took which waits, and learns from it. */
void ledger_made(struct ledger *ledger, uint64_t own_ns, const struct price_terms *terms);
/* A copy of such a window begins to run, and has ended: until it is known what it takes, it is what is
 * to be expected. The same `owed_ns` that the first returns is for the second. */
double ledger_owe(struct ledger *ledger, const struct price_terms *terms);
void ledger_settle(struct ledger *ledger, double owed_ns);
/* Enters CPU time that the window's copy took, beside stops. */
void ledger_taken(struct ledger *ledger, uint64_t taken_ns, const struct price_terms *terms);
/* The same of one that came to nothing, of which nothing is learned. */
void ledger_wasted(struct ledger *ledger, uint64_t taken_ns, const struct price_terms *terms);
/* Learns how many of a window's samples its replay came by. */
void ledger_matched(struct ledger *ledger, uint64_t samples, uint64_t matched);
/* How many samples behind a window are needed for one of them to match, but in one window of a hundred:
 * see matches.h. */
uint64_t ledger_samples_behind(const struct ledger *ledger);
/* Learns how long it takes a copy that does not lose its way. */
void ledger_whole(struct ledger *ledger, uint64_t taken_ns, uint64_t window_ns);
/* Enters what a recorded window of that user CPU time lost by its calls, and learns from it. */
void ledger_recorded(struct ledger *ledger, uint64_t calls, uint64_t lost_ns,
		     const struct price_terms *terms);
/* How many calls may be recorded in such a window in what is left of the slot; at least twice as many
 * as are expected, since a window whose end they choose counts for ratios only. */
uint64_t ledger_most_calls(const struct ledger *ledger, const struct price_terms *terms,
			   uint64_t slot_end_ns);
/* Enters other losses; below 0: earlier ones turned out to be less. */
void ledger_other(struct ledger *ledger, double lost_ns);

/* Memory that can be had here without pushing anything out: of the machine, and of our control
 * groups, less a reserve. */
uint64_t memory_to_spare(void);
/* The text of /proc/meminfo; 0 when it does not say. */
uint64_t meminfo_available(const char *text, uint64_t *total_bytes);

#endif
