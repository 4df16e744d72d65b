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
 * run has windows, too. Nor does a window begin before most of its price has been earned: its slot
 * may end long after the program does.
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
	double share;	     /* the budget, as a share of the target's CPU time */
	double fixed_ns;     /* duration of a stop that reads no memory */
	double sample_ns;    /* per sample */
	double ns_per_byte;  /* of a stop, per byte read */
	double known_by;     /* squares of the bytes read in stops that tell it; old ones fade */
	double fresh_ns;     /* CPU time per byte of memory that the kernel gives to a process */
	double huge_ns;	     /* the same, in huge pages */
	double making;	     /* CPU time of making a copy that waits: measured over guessed */
	double taken_per_ns; /* CPU time of running a copy, per ns of its window */
	double whole_per_ns; /* CPU time of copies that reached the end, per ns of their window */
	double missed;	     /* share of a window's samples that its replay did not match */
	double call_ns;	     /* the target's loss per recorded call */
	double calls_per_ns; /* recorded calls per ns of user CPU time */
	bool has_calls;	     /* call_ns and calls_per_ns are measured, not guessed */
	bool has_measured;   /* a stop has been measured; the guesses before it are high */
	bool has_taken;	     /* taken_per_ns is measured */
	bool has_whole;	     /* whole_per_ns is measured */
	uint64_t copies;     /* made so far */
	uint64_t lost_ns;    /* CPU time that the target has lost so far */
	double owed_ns;	     /* CPU time that copies which still run are expected to cost it */
	uint64_t longest_stop_ns;
	uint64_t stopped_ns; /* the sum of all stops */
};

/* The quantities that a price depends on. */
struct price_terms {
	uint64_t bytes;	      /* to copy */
	uint64_t ahead_bytes; /* the part of `bytes` that is read before the target is held */
	uint64_t samples;
	uint64_t areas;		 /* of the target's address space; 0: not known yet */
	uint64_t resident_bytes; /* of the target, including pages of files */
	uint64_t window_ns;
	uint64_t threads; /* running threads of the process, including the held one; 0 means 1 */
	double runnable;  /* threads of the machine that want a CPU; for ROOM_SHARED */
	enum spare_cpus room;
	bool is_recorded; /* the thread's system calls are recorded */
	bool is_later;	  /* the copy waits for an idle CPU: only making it costs CPU time */
	bool is_written;  /* the copy's memory is written, not mapped, even if it is large */
};

/* All prices and losses are CPU time of the target, in ns. */

/* `sample_ns` 0: unknown. */
void ledger_init(struct ledger *ledger, double percent, double sample_ns);
/* The predicted price of a window. */
uint64_t ledger_price(const struct ledger *ledger, const struct price_terms *terms);
/* The part of that price that running the copy costs. */
uint64_t ledger_copy_price(const struct ledger *ledger, const struct price_terms *terms);
/* The CPU time of a copy, or of work for it, that costs the target `loss_ns`. */
uint64_t time_for_loss_ns(const struct price_terms *terms, uint64_t loss_ns);
/* The CPU time to make so much of a buffer, … */
uint64_t ledger_filling_ns(const struct ledger *ledger, const struct price_terms *terms,
			   uint64_t bytes);
/* … and its price. */
uint64_t ledger_memory_price(const struct ledger *ledger, const struct price_terms *terms,
			     uint64_t bytes);
/* The predicted duration of a stop that reads `bytes`. */
uint64_t ledger_hold(const struct ledger *ledger, uint64_t bytes);
/*
 * The best length of a window with these terms, whose `window_ns` is ignored. A window is a cluster
 * of similar moments. The best size of a cluster is the square root of the cost per cluster,
 * divided by the cost per moment, times the time for which moments stay similar (Cochran, Sampling
 * Techniques, 1977, section 10.6). If copies would still be busy when the next window is due, the
 * limit is time, not the budget. Then the window is made just short enough to spend the budget.
 */
uint64_t ledger_window_ns(const struct ledger *ledger, const struct price_terms *terms);
/* The limit for the CPU time of the window's copy. A copy that no longer follows the target runs
 * until this limit and is charged for it. There are two limits, and the lower one holds: a multiple
 * of the time that complete copies took, and the time that the target can pay for. The latter
 * is derived from `price_ns` if a CPU is idle, else from `left_ns`, the rest of the budget, or from
 * the expected cost of the copy if that is more. */
uint64_t ledger_longest_replay_ns(const struct ledger *ledger, const struct price_terms *terms,
				  uint64_t price_ns, uint64_t left_ns);
/* The least CPU time of the target between two windows. With less, copies would queue: see
 * schedule.h. */
uint64_t ledger_spacing_ns(const struct ledger *ledger, const struct price_terms *terms);
/* The CPU time of the target whose share of the budget pays for the price. */
uint64_t ledger_slot(const struct ledger *ledger, uint64_t price_ns);
/* The end of a slot that begins at `start_ns` of the target's CPU time. The slot pays for the price
 * and for what earlier slots have overspent. What earlier slots have not spent makes it shorter, by
 * half at most, so that windows do not crowd. */
uint64_t ledger_slot_end(const struct ledger *ledger, uint64_t price_ns, uint64_t start_ns);
/* How much may still be spent in the slot that ends at `slot_end_ns` of the target's CPU time. */
uint64_t ledger_left_ns(const struct ledger *ledger, uint64_t slot_end_ns);
/* From which CPU time of the target on the price may be spent: if the target ends right after it has
 * been spent, all windows have cost hardly more than the budget. */
uint64_t ledger_earliest(const struct ledger *ledger, uint64_t price_ns);
/* Whether the price may be spent at `now_ns` in the slot that ends at `slot_end_ns`, both in CPU time
 * of the target. */
bool ledger_allows(const struct ledger *ledger, uint64_t price_ns, uint64_t now_ns,
		   uint64_t slot_end_ns);
/* The error that tells the user why the price may not be spent. */
struct hp_error *ledger_too_dear(const struct ledger *ledger, const struct price_terms *terms,
				 uint64_t price_ns);
/* Sets the costs per byte of reading and of fresh memory, as measured before there is a target. 0:
 * unknown. */
void ledger_expect(struct ledger *ledger, double ns_per_byte, double fresh_ns);
/* The same of fresh memory in huge pages. */
void ledger_expect_huge(struct ledger *ledger, double huge_ns);
/* Learns the cost of reading from a stop in which `bytes` were read. A stop may be late by some ms
 * whatever it reads, so it tells the more of a byte's cost the more it reads (least squares). */
void ledger_read(struct ledger *ledger, uint64_t stop_ns, uint64_t bytes);
/* Charges a stop. `terms`: the actual values. */
void ledger_stop(struct ledger *ledger, uint64_t stop_ns, const struct price_terms *terms);
/* Charges the samples of a window. */
void ledger_samples(struct ledger *ledger, const struct price_terms *terms);
/* Counts one more copy. */
void ledger_copied(struct ledger *ledger);
/* Learns the cost of fresh memory from the CPU time that `bytes` of it took, if they are not too few
 * to tell. Charges nothing. */
void ledger_filled_idly(struct ledger *ledger, const struct price_terms *terms, uint64_t cpu_ns,
			uint64_t bytes);
/* The same, and charges that CPU time, because other threads wanted it. */
void ledger_filled(struct ledger *ledger, const struct price_terms *terms, uint64_t cpu_ns,
		   uint64_t bytes);
/* Charges the CPU time of making a copy that waits for an idle CPU, and learns from it. */
void ledger_made(struct ledger *ledger, uint64_t own_ns, const struct price_terms *terms);
/* A copy begins to run: its expected cost is owed until its real cost is known. Returns that
 * expected cost, which the caller passes to ledger_settle when the copy has ended. */
double ledger_owe(struct ledger *ledger, const struct price_terms *terms);
void ledger_settle(struct ledger *ledger, double owed_ns);
/* Charges the CPU time that the window's copy took, without stops, and learns from it. */
void ledger_taken(struct ledger *ledger, uint64_t taken_ns, const struct price_terms *terms);
/* Charges the CPU time of a window without a result. Learns nothing. */
void ledger_wasted(struct ledger *ledger, uint64_t taken_ns, const struct price_terms *terms);
/* Takes back the charge for CPU time of a copy in which the target had ended: it lost nothing. */
void ledger_take_back(struct ledger *ledger, uint64_t taken_ns, const struct price_terms *terms);
/* Learns how many of a window's samples its replay matched. */
void ledger_matched(struct ledger *ledger, uint64_t samples, uint64_t matched);
/* How many samples to take after the end of a window, so that at least one of them matches in all
 * but about one window of a hundred: see matches.h. */
uint64_t ledger_samples_behind(const struct ledger *ledger);
/* Learns the CPU time of a copy that followed the target to the end of the window. */
void ledger_whole(struct ledger *ledger, uint64_t taken_ns, uint64_t window_ns);
/* Charges what a recorded window with `window_ns` of user CPU time lost by its calls, and learns
 * from it. */
void ledger_recorded(struct ledger *ledger, uint64_t calls, uint64_t lost_ns,
		     const struct price_terms *terms);
/* How many calls may be recorded in the window: as many as the rest of the slot pays for, but at
 * least twice the expected number. A window that ends because of this limit does not end at a
 * random moment, so it counts for ratios only. */
uint64_t ledger_most_calls(const struct ledger *ledger, const struct price_terms *terms,
			   uint64_t slot_end_ns);
/* Charges another loss. Less than 0: earlier losses turned out to be smaller. */
void ledger_other(struct ledger *ledger, double lost_ns);

/* Memory that can be used without displacing other memory: what is available on the machine, within
 * our control groups and within the limit of our address space, minus a reserve. */
uint64_t memory_to_spare(void);
/* The available bytes by the text of /proc/meminfo; 0 if it does not tell. */
uint64_t meminfo_available(const char *text, uint64_t *total_bytes);

#endif
