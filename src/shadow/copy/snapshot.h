/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A target's memory at one moment, read from outside while one of its threads is stopped.
 *
 * Why read, and not fork: a forked copy needs system calls made by the target (under a seccomp
 * filter they kill it; killing hpcprof between two of them would leave it astray), keeps the
 * target's pipes, locks and shared memory alive, and has the target pay for every page that it
 * writes afterwards: 1.5 to 2 ms a MiB against 0.25 to 0.5 ms for reading (Linux 6.18, a VM of 2
 * CPUs). Much memory that is hardly written is read ahead (ahead.h).
 *
 * Read are the pages that are in memory and that no file holds: of private areas what has been
 * written, of shared ones that can be written everything. Devices are never touched, nor is what a
 * fork would not have. What was read is in no image of our memory, should we crash.
 *
 * Other threads go on meanwhile: what they write while it is being read may be there or not.
 */
#ifndef SHADOW_COPY_SNAPSHOT_H
#define SHADOW_COPY_SNAPSHOT_H

#include "ahead.h"
#include "areas.h"
#include "pages.h"
#include "secrets.h"

struct snapshot {
	struct areas areas;
	struct runs found; /* the pages that there are, one run behind the other */
	struct ahead ahead;
	struct runs runs; /* of the moment of the stop: where the buffer has each page … */
	struct runs due;  /* … and those of them that were read in the stop */
	uint8_t *buffer;  /* in memory beforehand, so that reading is no slower than it must be */
	uint64_t buffer_bytes;
	uint64_t used_bytes; /* of the buffer, by the last snapshot_take … */
	uint64_t read_bytes; /* … which read so many of what was due */
	struct pages pages;
	struct secrets secrets; /* when it was prepared, or scrubbed */
	pid_t pid;
};

void snapshot_init(struct snapshot *snapshot);
void snapshot_clear(struct snapshot *snapshot);

/* How much there is to read now, the target running. */
struct hp_error *snapshot_prepare(struct snapshot *snapshot, pid_t pid, uint64_t *bytes);
/* Makes room for that and some more; looks again, where making it took time. Gives up, with an
 * error, when `stop_fd` becomes readable (-1: never): of a large target it may take a second. */
struct hp_error *snapshot_reserve(struct snapshot *snapshot, int stop_fd);
/* Reads most of it while the target runs, so that less is due in the stop (ahead.h). There must be room.
 * Gives up as snapshot_reserve does. */
struct hp_error *snapshot_read_ahead(struct snapshot *snapshot, int stop_fd);
/* How much that will be, about. */
uint64_t snapshot_due_bytes(const struct snapshot *snapshot);
/* Reads it, or what is due of it; `pid` must have been prepared for. INSUFFICIENT when there is more than room, or when it
 * is not done at `deadline_ns` of the monotonic clock (0: never mind); `read_bytes` were read. */
struct hp_error *snapshot_take(struct snapshot *snapshot, uint64_t deadline_ns);
/* Forgets what it must not have (secrets.h) and has since it was prepared. */
struct hp_error *snapshot_scrub(struct snapshot *snapshot);

#endif
