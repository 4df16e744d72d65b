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
	uint64_t hash;	   /* of its contents at the latest look */
	uint64_t since_ns; /* when these contents were first seen (CLOCK_MONOTONIC) */
	bool has_changed;  /* it had other contents before */
};

struct page_pasts {
	struct page_past *at; /* sorted by address */
	size_t count, capacity;
};

/* The pages of one process. */
struct history {
	pid_t pid;
	uint64_t used_ns; /* when it was last asked for */
	unsigned misled;  /* copies of it that pages read ahead have led elsewhere */
	struct page_pasts pages;
	struct page_pasts next; /* collected by the current look */
	size_t passed;		/* entries of `pages` that the current look has passed */
	uint64_t now_ns;
};

/* The histories of the processes that were looked at last. */
struct histories {
	struct history at[HISTORIES];
};

void histories_clear(struct histories *histories);
/* The history of a process; an empty one if there is none yet. */
struct history *histories_of(struct histories *histories, pid_t pid, uint64_t now_ns);

/* Begins a look. Then call … */
void history_look(struct history *history, uint64_t now_ns);
/* … history_page for each page, in the order of addresses, … */
enum page_kind {
	PAGE_CALM, /* assumed not to change for now */
	PAGE_HOT,  /* changes now and then */
	PAGE_NEW,  /* not known for long enough; also if there is no memory to keep what is known */
};
enum page_kind history_page(struct history *history, uint64_t address, const void *page);
/* … and this at the end. Pages that the look did not come by are forgotten. */
void history_looked(struct history *history);

#endif
