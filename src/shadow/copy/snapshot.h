/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A target's memory at one moment, read from outside while one of its threads is stopped.
 *
 * Memory is read instead of forked for four reasons. A fork needs system calls made by the target:
 * a seccomp filter may kill it for them, and if hpcprof is killed between two of them the target is
 * left in an inconsistent state. A fork keeps the target's pipes, locks and shared memory alive.
 * Every page that the target writes afterwards costs it a page fault: 1.5 to 2 ms per MiB against
 * 0.25 to 0.5 ms for reading (Linux 6.18, a VM of 2 CPUs). A fork would be better only for much
 * memory that is hardly written: for such programs, windows are fewer and longer.
 *
 * If a stop would be long, memory is read ahead while the target runs, and the stop reads only
 * pages that are new or that change now and then, as in the migration of virtual machines (Clark et
 * al., NSDI 2005). Many kernels do not tell an ordinary user which pages have been written (they
 * lack CONFIG_MEM_SOFT_DIRTY), so pages are compared with their earlier contents (history.h).
 *
 * This comparison can miss a change: a page that the target has just written for the first time is
 * likely to be used next. In-memory databases change hardly any pages, and their copies work well.
 * Compilers and interpreters with some ten MiB change nearly all of their pages: many copies
 * crashed, and stops were hardly shorter. So the memory of such programs is read during the stop.
 *
 * The pages that are read are those in memory that no file holds: of private areas the pages that
 * have been written, of writable shared areas all pages. Devices are never read, nor is memory that
 * a fork would not inherit. The memory that was read is excluded from core files of hpcprof.
 *
 * The target's other threads continue meanwhile: what they write during the reading may or may not
 * be in the snapshot.
 */
#ifndef SHADOW_COPY_SNAPSHOT_H
#define SHADOW_COPY_SNAPSHOT_H

#include "areas.h"
#include "buffer.h"
#include "history.h"
#include "pages.h"
#include "readers.h"
#include "secrets.h"

/* Of what was read ahead. */
struct early {
	struct run run;
	bool is_calm; /* need not be read again */
};

struct snapshot {
	struct areas areas;
	struct run *runs; /* by address */
	size_t run_count, run_capacity;
	struct buffer buffer;
	uint64_t used_bytes;   /* of it */
	uint64_t filled_ns;    /* CPU time of the last snapshot_reserve, … */
	uint64_t filled_bytes; /* … which made so much */
	uint64_t read_bytes; /* by the last snapshot_take; what was read ahead is not among them */
	struct early *early; /* by address */
	size_t early_count, early_capacity;
	uint64_t early_bytes;
	bool has_looked;    /* since it was prepared */
	uint64_t hot_bytes; /* that change, as it was then, */
	uint64_t new_bytes; /* or may: they are not known for long enough */
	struct run *reads;  /* of a stop behind a look */
	size_t read_count, read_capacity;
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
/* About how much there is to read, and no more, from one look at the process; 0: nobody tells. And how much it
 * has in memory, of files, too. */
uint64_t snapshot_expect(pid_t pid, uint64_t *resident_bytes);
/* How much there is to read now, the target running. */
struct hp_error *snapshot_prepare(struct snapshot *snapshot, pid_t pid, uint64_t *bytes);
/* Makes room for that and some more (see buffer_enlarge); looks again, where making it took time. INSUFFICIENT
 * when there is too little of such time, or `stop_fd` becomes readable (-1: never): what has been made stays.
 */
struct hp_error *snapshot_reserve(struct snapshot *snapshot, enum filling_time time, int stop_fd);
/* How much room is still to be made. */
uint64_t snapshot_missing_bytes(const struct snapshot *snapshot);
/* Reads all of it, the target running, so that a stop has to read only what is new or changes. INSUFFICIENT:
 * there is more than room, or `stop_fd` became readable. */
struct hp_error *snapshot_look(struct snapshot *snapshot, struct history *history, int stop_fd);
/* How much a stop is to read, as it was when that was looked at last. */
uint64_t snapshot_to_read(const struct snapshot *snapshot);
/* Reads it; `pid` must have been prepared for. INSUFFICIENT when there is more than room, or when it
 * is not done at `deadline_ns` of the monotonic clock (0: never mind); `read_bytes` were read. */
struct hp_error *snapshot_take(struct snapshot *snapshot, uint64_t deadline_ns);
/* Forgets what it must not have (secrets.h) and has since it was prepared. */
struct hp_error *snapshot_scrub(struct snapshot *snapshot);

#endif
