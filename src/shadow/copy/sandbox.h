/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process that a copy lives in: a child of hpcprof, to be filled with the target's memory.
 *
 * It executes hpcprof once more, is stopped before its first instruction, and has its address space
 * emptied. Execution (instead of a fork) gives it the highest possible place for new mappings, so
 * that mappings of any target can be imitated (rebuild.h). It dies with the thread that made it,
 * and the kernel kills it first when memory is short. Until it is locked (sandbox_lock.h) only
 * hpcprof's own calls run in it; afterwards the program's code does.
 *
 * All functions but sandbox_end() are called by the thread that created it.
 */
#ifndef SHADOW_COPY_SANDBOX_H
#define SHADOW_COPY_SANDBOX_H

#include "areas.h"
#include "inject.h"
#include "../tuning.h"

#include <pthread.h>
#include <sched.h>

#define VESSEL_NAME "hpcprof-shadow" /* for ps and top; 15 characters at most */

enum { VESSEL_RANGES = 64, VESSEL_SYSCALL_BYTES = 2 };

struct sandbox_range {
	uint64_t start, end;
};

struct sandbox {
	pid_t pid; /* 0: none */
	int pidfd; /* under the lock */
	pthread_mutex_t lock;
	int memory_fd;	  /* /proc/PID/mem */
	uint64_t tools;	  /* address of our own pages: a `syscall` instruction, then scratch */
	struct areas own; /* what it was born with */
	bool is_locked;
	/* Those before it that were killed, and have not had a CPU to end on: a few. */
	pid_t dying[DYING_LIMIT];
	/* Of the engine, or not there for the original: nothing that the program does may touch it.
	 */
	struct sandbox_range engine[VESSEL_RANGES];
	size_t engine_count;
};

enum {
	TOOLS_BYTES = 4 * 4096,
	TOOLS_SCRATCH = 4096, /* offset of what can be written to */
	TOOLS_SCRATCH_BYTES = TOOLS_BYTES - TOOLS_SCRATCH,
};

/* One that does not exist yet; sandbox_create keeps what it can from one to the next. */
void sandbox_init(struct sandbox *sandbox);
void sandbox_clear(struct sandbox *sandbox);

/* Stopped, and emptied but for the vdso and the tools, which are where `around` has room. `cpus` is
 * where it may run. */
struct hp_error *sandbox_create(struct sandbox *sandbox, const struct areas *around,
				const cpu_set_t *cpus);
/* Kills it, whatever it does: nothing of it runs any more. Mostly it is reaped, too; where others
 * keep all CPUs busy that is left to the next time. `cpu_ns`: the CPU time it used; may be NULL. */
void sandbox_kill(struct sandbox *sandbox, uint64_t *cpu_ns);

/* The one thing that another thread may do: ends it, if there is one; its owner will find out. */
void sandbox_end(struct sandbox *sandbox);

/* This range is the engine's from now on. False: too many. */
bool sandbox_reserve(struct sandbox *sandbox, uint64_t start, uint64_t bytes);
/* Whether anything of ours lies within `bytes` from `start`. */
bool sandbox_is_ours(const struct sandbox *sandbox, uint64_t start, uint64_t bytes);

/* A system call in it; -EIO when the sandbox has died. Once it is locked few are possible. */
int64_t sandbox_call(struct sandbox *sandbox, long number, uint64_t a, uint64_t b, uint64_t c,
		     uint64_t d, uint64_t e, uint64_t f);
/* Writes to its memory, whatever the protection. */
bool sandbox_write(struct sandbox *sandbox, uint64_t address, const void *bytes, size_t size);
bool sandbox_read(struct sandbox *sandbox, uint64_t address, void *bytes, size_t size);
/* A descriptor of ours, opened again in it for reading (for writing too with `flags` O_RDWR), while
 * it still has our rights; -errno. */
int64_t sandbox_open(struct sandbox *sandbox, int fd, int flags);

#endif
