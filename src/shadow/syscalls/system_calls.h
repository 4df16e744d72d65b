/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What system calls of a copy do. The original makes the same calls at about the same time, and
 * only its calls may have effects: a copy changes nothing outside its own memory. So each call is
 *
 *	answered	if it only changes the copy's own memory, or if the answer follows from what is
 *			known of the original, or from files that are only read
 *	pretended	with the result that the original most likely gets (a write is complete)
 *	the end of the window, otherwise
 *
 * A wrong answer makes the copy leave the original's path; no sample matches from there on.
 */
#ifndef SHADOW_SYSCALLS_SYSTEM_CALLS_H
#define SHADOW_SYSCALLS_SYSTEM_CALLS_H

#include "descriptors.h"
#include "../replay/engine.h"
#include "file_names.h"
#include "../copy/call_log.h"
#include "../copy/sandbox.h"

#include <signal.h>
#include <time.h>

/* What time it is for a copy: that of the moment it was made, and the CPU time it has run since,
 * which is about what the original took or somewhat more. */
struct shadow_clock {
	uint64_t copied_ns;    /* CLOCK_MONOTONIC */
	uint64_t stamp_ns;     /* what a file that changed then was stamped with, at least, */
	uint64_t real_ns;      /* and at most: most stamps are of the last tick */
	uint64_t process_ns;   /* CPU time of the original's process then */
	uint64_t thread_ns;    /* and of its thread */
	uint64_t own_start_ns; /* CPU time that the copy had used when it began to run */
	/* Where its calls are answered from a log: when the original returned from the latest one
	 * (CLOCK_MONOTONIC). 0: by the copy's own CPU time. */
	uint64_t logged_ns;
};

/* Where names of files begin, held open: the original may have ended when its copy opens a file. */
struct name_roots {
	bool are_known;
	int root, current; /* directories, with O_PATH */
};

/* The kernel's struct sigaction. */
struct signal_action {
	uint64_t handler, flags, restorer, mask;
};

/* What is known of the original, and of its copy so far. */
struct shadow_calls {
	struct sandbox *sandbox;
	struct areas *areas; /* of the moment of the copy, and then with what code the copy makes */
	struct descriptors *descriptors;
	pid_t pid;
	pid_t tid;
	int64_t ids[8];	  /* as the original itself sees them: see enum shadow_id */
	uint64_t blocked; /* signals */
	uint64_t ignored; /* signals, by the original */
	uint64_t changed; /* signals whose actions the copy has set: */
	struct signal_action actions[64];
	struct sandbox_range heap; /* when the copy was made; 0: none */
	uint64_t heap_end;	   /* now; 0: unknown */
	struct name_roots roots;
	bool may_name;	  /* files: the original has just our rights (rights.h) */
	bool is_confined; /* the original may not ask everything */
	bool may_wait;	  /* the call that ended the window was one that waits */
	bool has_aborted; /* it was abort(), which the original, as it ran on, did not call */
	struct shadow_clock clock;
	uint64_t mask;	     /* of modes: umask */
	uint64_t files_made; /* by the copy, as it believes */
	struct touched_names touched;
	/* The original's own calls: only these are made, in their order. NULL: there is no log. Borrowed */
	const struct call_log *log;
	size_t logged;	  /* calls of the log that have come by */
	bool has_strayed; /* the call that ended the window is not the log's next one */
	const char *of;	  /* what the call that ended the window was about; NULL: nothing more */
	uint64_t calls;	  /* that were let through */
};

enum shadow_id {
	ID_PROCESS,
	ID_THREAD,
	ID_PARENT,
	ID_USER,
	ID_EFFECTIVE_USER,
	ID_GROUP,
	ID_EFFECTIVE_GROUP
};

/* Reads what does not depend on the moment: ids, and ignored signals. */
bool shadow_calls_identify(struct shadow_calls *calls, pid_t pid, pid_t tid);
/* Forgets what the copy has done. */
void shadow_calls_clear(struct shadow_calls *calls);

/* When the copy is made: notes what time it is, and where names begin. */
void shadow_calls_copied(struct shadow_calls *calls);
/* When the copy is made (the CPU times), and when it begins to run. */
void shadow_clock_copied(struct shadow_clock *clock, pid_t pid, pid_t tid);
void shadow_clock_start(struct shadow_clock *clock, pid_t copy);
/* The time `id` has for the copy; false for clocks that are none of time. */
bool shadow_clock_read(const struct shadow_clock *clock, pid_t copy, clockid_t id,
		       struct timespec *time);

/* Whether what is stamped like that (CLOCK_REALTIME) is for certain from before the copy was made,
 * or from after it. */
bool shadow_clock_is_before(const struct shadow_clock *clock, struct timespec stamp);
bool shadow_clock_is_after(const struct shadow_clock *clock, struct timespec stamp);

/* For hp_engine_calls; `context` is a struct shadow_calls. */
struct hp_engine_call shadow_calls_handle(void *context, pid_t pid,
					  const struct user_regs_struct *registers);
bool shadow_calls_protect(void *context, uint64_t page, int protection);

/* Of the table: "futex"; NULL when there is none in the table. */
const char *shadow_call_name(int64_t number);
/* That of the call which ended the window: "openat of a file that is gone". */
void shadow_calls_describe_end(const struct shadow_calls *calls, int64_t number, char *text,
			       size_t size);

#endif
