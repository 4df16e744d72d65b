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

/* The time for a copy: the moment at which it was made, plus the CPU time that it has used since,
 * which is about the original's or somewhat more. */
struct shadow_clock {
	uint64_t copied_ns; /* CLOCK_MONOTONIC */
	/* the lower and the upper limit of the time stamp of a file that changed at that moment: */
	uint64_t stamp_ns;
	uint64_t real_ns;      /* most stamps are those of the last tick */
	uint64_t process_ns;   /* CPU time of the original's process at that moment */
	uint64_t thread_ns;    /* CPU time of its thread */
	uint64_t own_start_ns; /* CPU time of the copy when it began to run */
	/* If calls are answered from a log: when the original returned from the latest call
	 * (CLOCK_MONOTONIC). 0: the time follows the copy's own CPU time. */
	uint64_t logged_ns;
};

/* The directories at which lookups start. They are held open, since the original may have ended
 * when its copy opens a file. */
struct name_roots {
	bool are_known;
	int root, current; /* opened with O_PATH */
};

/* The kernel's struct sigaction. */
struct signal_action {
	uint64_t handler, flags, restorer, mask;
};

/* What is known of the original and of its copy. */
struct shadow_calls {
	struct sandbox *sandbox;
	struct areas *areas; /* when the copy was made, plus code that the copy has made since */
	struct descriptors *descriptors;
	pid_t pid;
	pid_t tid;
	int64_t ids[8];	  /* as the original sees them: see enum shadow_id */
	uint64_t blocked; /* set of blocked signals */
	uint64_t ignored; /* set of signals that the original ignores */
	uint64_t changed; /* set of signals whose actions the copy has set: */
	struct signal_action actions[64];
	struct sandbox_range heap; /* when the copy was made; empty: there is none */
	uint64_t heap_end;	   /* current end; 0: unknown */
	struct name_roots roots;
	/* files may be opened by name: the original's rights are ours (rights.h) */
	bool may_name;
	bool is_confined; /* the original may be forbidden to ask some things */
	bool may_wait;	  /* the call that ended the window may wait */
	/* the call was abort(), which the original did not make, since it has run on */
	bool has_aborted;
	struct shadow_clock clock;
	uint64_t mask;	     /* of file modes: umask */
	uint64_t files_made; /* number of files that the copy believes it has created */
	struct touched_names touched;
	/* The original's own calls: the copy may make only these, in this order. NULL: there is no
	 * log. Borrowed */
	const struct call_log *log;
	size_t logged;	  /* number of calls of the log that were answered */
	bool has_exited;  /* the original's thread has ended: the window ends where its copy does */
	bool has_strayed; /* the call that ended the window differs from the next one in the log */
	const char *of;	  /* the object of the call that ended the window; NULL: unknown */
	uint64_t calls;	  /* number of calls that were answered */
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

/* Reads what does not change: ids and ignored signals. */
bool shadow_calls_identify(struct shadow_calls *calls, pid_t pid, pid_t tid);
/* Forgets everything that the copy has done. */
void shadow_calls_clear(struct shadow_calls *calls);

/* Called when the copy is made: notes the time and the directories at which lookups start. */
void shadow_calls_copied(struct shadow_calls *calls);
/* Called when the copy is made (for the CPU times) and when it begins to run. */
void shadow_clock_copied(struct shadow_clock *clock, pid_t pid, pid_t tid);
void shadow_clock_start(struct shadow_clock *clock, pid_t copy);
/* The time of clock `id` for the copy. False for clocks that are not supported. */
bool shadow_clock_read(const struct shadow_clock *clock, pid_t copy, clockid_t id,
		       struct timespec *time);

/* Whether a file with this stamp (CLOCK_REALTIME) was certainly last changed before the copy was
 * made, or after it. */
bool shadow_clock_is_before(const struct shadow_clock *clock, struct timespec stamp);
bool shadow_clock_is_after(const struct shadow_clock *clock, struct timespec stamp);

/* The handler for hp_engine_calls; `context` is a struct shadow_calls. */
struct hp_engine_call shadow_calls_handle(void *context, pid_t pid,
					  const struct user_regs_struct *registers);
bool shadow_calls_protect(void *context, uint64_t address, uint64_t bytes, int protection);

/* Writes the name, such as "futex"; "number 1000" if the kernel's headers have none. */
void shadow_call_name(int64_t number, char *text, size_t size);
/* Describes the call that ended the window: "openat of a file that is gone". */
void shadow_calls_describe_end(const struct shadow_calls *calls, int64_t number, char *text,
			       size_t size);

#endif
