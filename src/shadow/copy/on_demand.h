/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory of a copy that is read from the target page by page, as the copy uses it, while the target's
 * thread is held: for targets whose memory as a whole would take too long to copy.
 *
 * Pages that are not there yet make the copy stop with SIGBUS (userfaultfd, UFFD_FEATURE_SIGBUS), and
 * accesses from outside fail. Every page that was filled is kept in a snapshot, so the copy can begin
 * once more with all that it used, when the target has run on and its memory has changed.
 *
 * Linux 5.11 lets every process have a userfaultfd for its own faults in user mode
 * (UFFD_USER_MODE_ONLY). Some containers do not permit it; then there are no such copies.
 */
#ifndef SHADOW_COPY_ON_DEMAND_H
#define SHADOW_COPY_ON_DEMAND_H

#include "sandbox.h"
#include "snapshot.h"

struct on_demand {
	int fd;	   /* userfaultfd of the sandbox; -1: none */
	pid_t pid; /* of the target */
	/* the list of what was filled, and its contents. Borrowed */
	struct snapshot *snapshot;
	uint64_t until_ns;  /* CLOCK_MONOTONIC: nothing is filled later; 0: always */
	bool is_over;	    /* nothing is filled any more */
	uint64_t next;	    /* where the last run that was read ended, … */
	uint64_t run_pages; /* … and how long it was */
	uint64_t fills;	    /* runs that were read */
};

void on_demand_init(struct on_demand *on_demand);
void on_demand_close(struct on_demand *on_demand);
/* Prepares a sandbox that is not locked yet. `snapshot`: of the target; what is filled is added to its
 * runs. */
struct hp_error *on_demand_open(struct on_demand *on_demand, struct sandbox *sandbox,
				struct snapshot *snapshot);
/* From now on what is not there of this range is to be filled. It is private anonymous memory. */
struct hp_error *on_demand_watch(struct on_demand *on_demand, uint64_t start, uint64_t end);
/* Whether what was filled so far is still the same in the target, except for files' code and constants.
 */
bool on_demand_is_same(const struct on_demand *on_demand);
/* Fills the page of this address, and perhaps some behind it. False: it is there already, it cannot be
 * read, there is no room, or it is too late. */
bool on_demand_fill(struct on_demand *on_demand, uint64_t address);

#endif
