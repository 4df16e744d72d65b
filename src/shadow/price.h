/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What windows cost the target, and whether there is enough left for one more.
 *
 * A window costs the time that a thread is held, nearly all of it for reading its memory; the
 * samples that are matched; and the caches that are cold afterwards. The first is measured each
 * time, and the next price predicted from what has been measured; the others are reckoned.
 *
 * The budget is a share of the target's CPU time. A price is paid in advance out of the slot that
 * it is due in (see schedule.h), never out of more.
 */
#ifndef HPCPROF_SHADOW_PRICE_H
#define HPCPROF_SHADOW_PRICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ledger {
	double share;	    /* of the target's CPU time */
	double fixed_ns;    /* of a stop, whatever there is to read */
	double sample_ns;   /* of a sample */
	double ns_per_byte; /* of reading */
	bool has_measured;  /* else these are guesses, on the dear side */
	uint64_t lost_ns;   /* so far */
	uint64_t longest_stop_ns;
	uint64_t stopped_ns; /* of it */
};

/* `sample_ns` 0: unknown. */
void ledger_init(struct ledger *ledger, double percent, double sample_ns);
/* For so much memory, and so many samples. */
uint64_t ledger_price(const struct ledger *ledger, uint64_t bytes, uint64_t samples);
/* So much CPU time of the target pays for it. */
uint64_t ledger_slot(const struct ledger *ledger, uint64_t price_ns);
/* Whether it may be spent in the slot that ends at `slot_end_ns` of the target's CPU time. */
bool ledger_allows(const struct ledger *ledger, uint64_t price_ns, uint64_t slot_end_ns);
/* Enters a stop and what was read in it. */
void ledger_stop(struct ledger *ledger, uint64_t stop_ns, uint64_t bytes);
/* Enters other losses. */
void ledger_samples(struct ledger *ledger, uint64_t samples);
void ledger_other(struct ledger *ledger, uint64_t lost_ns);

/* Memory that can be had here without pushing anything out: of the machine, and of our control
 * groups, less a reserve. */
uint64_t memory_to_spare(void);
/* The text of /proc/meminfo; 0 when it does not say. */
uint64_t meminfo_available(const char *text, uint64_t *total_bytes);

#endif
