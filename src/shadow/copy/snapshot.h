/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A target's memory at one moment, read from outside while one of its threads is stopped.
 *
 * Why read, and not fork: a forked copy needs system calls made by the target (under a seccomp
 * filter they kill it; killing hpcprof between two of them would leave it astray), keeps the
 * target's pipes, locks and shared memory alive, and has the target pay for every page that it
 * writes afterwards: 1.5 to 2 ms a MiB against 0.25 to 0.5 ms for reading (Linux 6.18, a VM of 2
 * CPUs). What a fork is better for is much memory that is hardly written: there, windows are fewer
 * and longer.
 *
 * Nor is memory read ahead while the target runs, so that a stop would read only what has changed since, as
 * migrating virtual machines do (Clark et al., NSDI 2005): that takes a kernel that tells an ordinary user which
 * pages have been written (CONFIG_MEM_SOFT_DIRTY, which many lack). Reading twice and comparing finds most of
 * them, and the stop becomes short; but what the target wrote last, between the second reading and the
 * stop, is what it uses next: most copies of lua, rustc, cc1 and python3 crashed or ended at once.
 *
 * Read are the pages that are in memory and that no file holds: of private areas what has been
 * written, of shared ones that can be written everything. Devices are never touched, nor is what a
 * fork would not have. What was read is in no image of our memory, should we crash.
 *
 * Other threads go on meanwhile: what they write while it is being read may be there or not.
 */
#ifndef SHADOW_COPY_SNAPSHOT_H
#define SHADOW_COPY_SNAPSHOT_H

#include "areas.h"
#include "buffer.h"
#include "pages.h"
#include "readers.h"
#include "secrets.h"

struct snapshot {
	struct areas areas;
	struct run *runs; /* by address */
	size_t run_count, run_capacity;
	struct buffer buffer;
	uint64_t used_bytes;
	uint64_t read_bytes; /* of them, by the last snapshot_take */
	struct pages pages;
	struct secrets secrets; /* when it was prepared, or scrubbed */
	pid_t pid;
};

void snapshot_init(struct snapshot *snapshot);
void snapshot_clear(struct snapshot *snapshot);

/* What it takes here, in ns per byte; 0: nobody can say. */
struct snapshot_price {
	double reading_ns;
	double fresh_ns; /* CPU time for memory that was nobody's: the kernel finds and clears it, and so
			  * may the host */
	uint8_t *memory; /* that it was measured with, in memory: for buffer_adopt, or to unmap */
	uint64_t bytes;
};
/* Measured with a little memory of our own. */
struct snapshot_price snapshot_price(void);
/* About how much there is to read, and no more, from one look at the process; 0: nobody tells. */
uint64_t snapshot_expect(pid_t pid);
/* How much there is to read now, the target running. */
struct hp_error *snapshot_prepare(struct snapshot *snapshot, pid_t pid, uint64_t *bytes);
/* Makes room for that and some more, in time that hardly anybody else wants; looks again, where making it
 * took time. INSUFFICIENT when there is too little of such time, or `stop_fd` becomes readable (-1: never):
 * what has been made stays. */
struct hp_error *snapshot_reserve(struct snapshot *snapshot, int stop_fd);
/* Reads it; `pid` must have been prepared for. INSUFFICIENT when there is more than room, or when it
 * is not done at `deadline_ns` of the monotonic clock (0: never mind); `read_bytes` were read. */
struct hp_error *snapshot_take(struct snapshot *snapshot, uint64_t deadline_ns);
/* Forgets what it must not have (secrets.h) and has since it was prepared. */
struct hp_error *snapshot_scrub(struct snapshot *snapshot);

#endif
