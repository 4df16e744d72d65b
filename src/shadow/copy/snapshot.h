/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A target's memory at one moment, read from outside while one of its threads is stopped.
 *
 * Memory is read instead of forked for four reasons. A fork needs system calls made by the target:
 * a seccomp filter may kill it for them, and if hpcprof is killed between two of them the target is
 * left in an inconsistent state. A fork keeps the target's pipes, locks and shared memory alive.
 * Every page that the target writes afterwards costs it a page fault, which takes several times as
 * long as reading the page. A fork would be better only for much memory that is hardly written: for
 * such programs, windows are fewer and longer.
 *
 * If a stop would be long, memory is read ahead while the target runs, and the stop reads only
 * pages that are new or that change now and then, as in the migration of virtual machines (Clark et
 * al., NSDI 2005). Many kernels do not tell an ordinary user which pages have been written (they
 * lack CONFIG_MEM_SOFT_DIRTY), so pages are compared with their earlier contents (history.h).
 *
 * This comparison can miss a change: a page that the target has just written for the first time is
 * likely to be used next. Nearly all such pages are beside pages that change, so the stop reads
 * these, too. In-memory databases change hardly any pages, and their copies work well. Compilers
 * and interpreters with some ten MiB change nearly all of their pages: many copies crashed, and
 * stops were hardly shorter. So the memory of such programs is read during the stop.
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
#include "reached.h"
#include "pages.h"
#include "readers.h"
#include "secrets.h"

/* A run that was read ahead. */
struct early {
	struct run run;
	bool is_calm;	      /* it is not expected to change */
	uint64_t kept, limit; /* addresses: the stop need not read this part again */
};

struct snapshot {
	struct areas areas;
	struct run *runs; /* sorted by address */
	size_t run_count, run_capacity;
	struct buffer buffer;
	uint64_t used_bytes;   /* of the buffer */
	uint64_t filled_ns;    /* CPU time that the last snapshot_reserve took … */
	uint64_t filled_bytes; /* … to make this many bytes */
	uint64_t read_bytes;   /* by the last snapshot_take, without what was read ahead */
	struct early *early;   /* sorted by address */
	size_t early_count, early_capacity;
	uint64_t early_bytes;
	bool has_looked;     /* since it was prepared, by snapshot_look */
	uint64_t hot_bytes;  /* bytes that change, at the last look */
	uint64_t new_bytes;  /* bytes that may change, as they are not known for long enough */
	uint64_t near_bytes; /* calm bytes so near these that the stop reads them, too */
	struct run *reads;   /* what the stop reads after a look */
	size_t read_count, read_capacity;
	struct pages pages;
	struct secrets secrets; /* as of the last snapshot_prepare or snapshot_scrub */
	pid_t pid;
};

void snapshot_init(struct snapshot *snapshot);
void snapshot_clear(struct snapshot *snapshot);

/* Prices on this machine, in ns per byte; 0: unknown. */
struct snapshot_price {
	double reading_ns;
	/* CPU time to allocate memory: the kernel finds and clears it, and so may the host */
	double fresh_ns;
	/* the memory that it was measured with, in memory: for buffer_adopt, or to be unmapped */
	uint8_t *memory;
	uint64_t bytes;
};
/* Measures the prices with a little memory of our own. */
struct snapshot_price snapshot_price(void);
/* About how many bytes there are to read, from one look at the process; 0: unknown.
 * `resident_bytes`: its memory, including that of files. */
uint64_t snapshot_expect(pid_t pid, uint64_t *resident_bytes);
/* Whether some of its memory is locked, or that is unknown. */
bool snapshot_has_locked(pid_t pid);
/* Finds how many bytes there are to read now. The target runs meanwhile. */
struct hp_error *snapshot_prepare(struct snapshot *snapshot, pid_t pid, uint64_t *bytes);
/* Makes room for these bytes and some more, and scans again if that took time. The rest is as of
 * buffer_enlarge. */
struct hp_error *snapshot_reserve(struct snapshot *snapshot, enum filling_time time,
				  uint64_t most_ns, int stop_fd);
/* Calls `each`, in order, for what was in huge pages when the process was last prepared for. */
struct hp_error *snapshot_find_huge(struct snapshot *snapshot,
				    bool (*each)(void *context, uint64_t start, uint64_t end),
				    void *context);
/* How many bytes of room are missing. */
uint64_t snapshot_missing_bytes(const struct snapshot *snapshot);
/* Reads all of it while the target runs, in a thread of the lowest priority, so that a stop has to
 * read only what is new or changes, and what is near that (snapshot_set_reach). INSUFFICIENT: the
 * room is too small, no CPU had time for it, or `stop_fd` became readable. */
struct hp_error *snapshot_look(struct snapshot *snapshot, struct history *history, int stop_fd);
/* Sets how many calm pages the stop reads on each side of a page that is new or changes: a program
 * that writes a page for the first time is likely to have written the one beside it just before. */
void snapshot_set_reach(struct snapshot *snapshot, unsigned pages);
/* How many bytes a stop would read, according to the last look. */
uint64_t snapshot_to_read(const struct snapshot *snapshot);
/* Reads the memory; `pid` must have been prepared for. INSUFFICIENT when the room is too small, or
 * when it is not finished at `deadline_ns` of the monotonic clock (0: no deadline). `read_bytes`
 * tells how much was read. */
struct hp_error *snapshot_take(struct snapshot *snapshot, uint64_t deadline_ns);
/* Reads pages again that were read ahead, if the held thread can reach them from its registers. A program may
 * write to each of its objects for a moment only, as perl and python do that count references: a page that
 * never seemed to change is old where the thread is now. */
void snapshot_take_again(struct snapshot *snapshot, const struct reached *reached);
/* Clears what has become secret since it was prepared (secrets.h). */
struct hp_error *snapshot_scrub(struct snapshot *snapshot);

#endif
