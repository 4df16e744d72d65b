/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Clocks of a copy. The vdso reads the time stamp counter, whose value in the copy differs from the
 * original's, so a window has to end there, and programs that often ask for the time would have no
 * windows. In a copy the functions of the vdso therefore make the system call of the same name,
 * which is answered with about the time that the original read (system_calls.h).
 *
 * Code in the vdso is then not the code that ran in the original, so it is not counted.
 */
#ifndef SHADOW_SYSCALLS_VDSO_CALLS_H
#define SHADOW_SYSCALLS_VDSO_CALLS_H

#include "../copy/areas.h"
#include "../copy/sandbox.h"

/* Called for a copy that has been rebuilt. If its vdso differs from our own, nothing is changed. */
void vdso_make_calls(struct sandbox *sandbox, const struct areas *areas);

/* The offset of a function in our own vdso; 0 if it is not there. */
uint64_t vdso_function(const char *name);

#endif
