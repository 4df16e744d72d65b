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

#define VESSEL_NAME "hpcprof-shadow" /* shown by ps and top; at most 15 characters */

enum { VESSEL_RANGES = 64, VESSEL_SYSCALL_BYTES = 2 };

struct sandbox_range {
	uint64_t start, end;
};

struct sandbox_file {
	int ours;
	int64_t theirs; /* -errno: not open there */
};

struct sandbox {
	pid_t pid; /* 0: none */
	int pidfd; /* protected by the lock */
	pthread_mutex_t lock;
	int memory_fd; /* of /proc/PID/mem */
	/* address of our own pages in it: a `syscall` instruction, code for many, scratch memory */
	uint64_t tools;
	struct areas own; /* the areas that it started with */
	/* its descriptor of the buffer that the target's memory is in; < 0: it has none, as the
	 * buffer is no file */
	int64_t buffer;
	bool is_locked;
	/* earlier processes that were killed and have not ended yet, for lack of a CPU */
	pid_t dying[DYING_LIMIT];
	/* Ranges of the engine, and ranges that do not exist for the original: nothing that the
	 * program does may touch them. */
	struct sandbox_range engine[VESSEL_RANGES];
	size_t engine_count;
};

enum {
	TOOLS_BYTES = 4 * 4096,
	TOOLS_SCRATCH = 4096, /* offset of the writable part */
	TOOLS_SCRATCH_BYTES = TOOLS_BYTES - TOOLS_SCRATCH,
};

/* Initializes a sandbox without a process. sandbox_create reuses what it can. */
void sandbox_init(struct sandbox *sandbox);
void sandbox_clear(struct sandbox *sandbox);

/* Creates a stopped process without memory except the vdso and the tools, which are placed where
 * `around` has room. `cpus`: where it may run. */
struct hp_error *sandbox_create(struct sandbox *sandbox, const struct areas *around,
				const cpu_set_t *cpus);
/* Kills the process in any state; nothing of it runs afterwards. Usually it is reaped, too; when
 * others keep all CPUs busy, that is left to a later call. `cpu_ns`: the CPU time it used; may be
 * NULL. */
void sandbox_kill(struct sandbox *sandbox, uint64_t *cpu_ns);

/* The only function that another thread may call: ends the process, if there is one. Its owner will
 * notice. */
void sandbox_end(struct sandbox *sandbox);

/* Marks this range as the engine's. False: there are too many ranges. */
bool sandbox_reserve(struct sandbox *sandbox, uint64_t start, uint64_t bytes);
/* Whether a marked range or the tools lie within `bytes` from `start`. */
bool sandbox_is_ours(const struct sandbox *sandbox, uint64_t start, uint64_t bytes);

/* Makes a system call in it. -EIO when the sandbox has died. After sandbox_lock few calls are
 * possible. */
int64_t sandbox_call(struct sandbox *sandbox, long number, uint64_t a, uint64_t b, uint64_t c,
		     uint64_t d, uint64_t e, uint64_t f);
/* Makes many, until sandbox_lock, which takes much less time: a process is continued once for all of
 * them. Each call's number is replaced by its result. False when the sandbox has died. */
bool sandbox_calls(struct sandbox *sandbox, struct shadow_call *calls, size_t count);
/* Writes to its memory, regardless of the protection. */
bool sandbox_write(struct sandbox *sandbox, uint64_t address, const void *bytes, size_t size);
bool sandbox_read(struct sandbox *sandbox, uint64_t address, void *bytes, size_t size);
/* Opens a descriptor of ours again in the sandbox, for reading (with `flags` O_RDWR for writing,
 * too), while it still has our rights; -errno on failure. */
int64_t sandbox_open(struct sandbox *sandbox, int fd, int flags);
/* Opens the descriptor of each for reading. False when the sandbox has died. */
bool sandbox_open_all(struct sandbox *sandbox, struct sandbox_file *files, size_t count);

#endif
