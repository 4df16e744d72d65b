/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Confines a copy. The code that runs in it is not trusted, and may escape from the translator; all
 * that it can do then is to compute.
 *
 * Threat model. The profiled program is the attacker: it knows this code, chooses its memory, its
 * registers and its system calls, and may share its user with us or not. It wants rights, files or
 * processes that it does not have, or to keep running when nobody looks. We trust the kernel, and
 * our own memory, which no copy can reach. What a copy says (counters, registers, arguments of
 * calls) is believed of itself only: it may lie about its own profile, and about nothing else.
 *
 *	wall			holds even if			tests/shadow/
 *	identity (rights.h)	all others fall			test_sandbox, attack/escape.test
 *	system calls (here)	the translator is left		test_sandbox (every number)
 *	code cannot be written	the translator is left		test_sandbox
 *	tables cannot be written				test_sandbox
 *	the program's own code	the translator is left		test_sandbox
 *	 is not executable
 *	calls that change memory				test_memory_calls
 *	 do not touch the engine
 *	names are not opened	the program lies about itself	test_path_calls, attack/
 *	 with other rights than
 *	 the program's
 *	nothing outlives us	we are killed			attack/ends.test
 *
 * Each system call of a locked copy stops before it is made. Calls that hpcprof set up continue
 * (inject.h); any other one ends the copy. Call numbers that nobody needs kill it without such a
 * stop.
 */
#ifndef SHADOW_COPY_SANDBOX_LOCK_H
#define SHADOW_COPY_SANDBOX_LOCK_H

#include "sandbox.h"

/*
 * Locks the sandbox, before anything of the program has run there: no descriptors, no new
 * privileges, no inspection by anybody but us, and the filter. Afterwards sandbox_call accepts only
 * mmap, munmap, mremap, mprotect and madvise, without execute permission.
 */
struct hp_error *sandbox_lock(struct sandbox *sandbox);

#endif
