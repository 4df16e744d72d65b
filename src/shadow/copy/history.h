/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which pages of a process change, found by reading its memory from time to time.
 *
 * A page that has not changed for long is assumed not to change within the next milliseconds, so
 * that a stop need not read it. That may be wrong. Then the copy has an old page, and leaves the
 * original's path when it depends on that page. The window's counts end at the last match, as
 * after any wrong answer.
 */
#ifndef SHADOW_COPY_HISTORY_H
#define SHADOW_COPY_HISTORY_H

#include "../tuning.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct page_past {
	uint64_t address;
	uint64_t hash;	   /* of what it held at the latest look */
	uint64_t since_ns; /* that it was seen to hold that first (CLOCK_MONOTONIC) */
	bool has_changed;  /* it held something else before */
};

struct page_pasts {
	struct page_past *at; /* by address */
	size_t count, capacity;
};

/* Of one process. */
struct history {
	pid_t pid;
	uint64_t used_ns; /* the latest time that it was asked for */
	struct page_pasts pages;
	struct page_pasts next; /* of the look that is going on */
	size_t passed;		/* of `pages`, in it */
	uint64_t now_ns;
};

/* Of the processes that were looked at last. */
struct histories {
	struct history at[HISTORIES];
};

void histories_clear(struct histories *histories);
/* That of a process, perhaps one of nothing. */
struct history *histories_of(struct histories *histories, pid_t pid, uint64_t now_ns);

/* A look: first one call of this, … */
void history_look(struct history *history, uint64_t now_ns);
/* … then one per page, in the order of addresses. */
enum page_kind {
	PAGE_CALM, /* is taken not to change now */
	PAGE_HOT,  /* changes now and then */
	PAGE_NEW, /* has not been known for long enough; so are all without memory for what is known */
};
enum page_kind history_page(struct history *history, uint64_t address, const void *page);
/* … and at its end this. Pages that it did not come by are forgotten. */
void history_looked(struct history *history);

#endif
