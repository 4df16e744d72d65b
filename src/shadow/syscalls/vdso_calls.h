/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Clocks, for a copy. The vdso reads the time stamp counter, whose value in the copy is another
 * than the original's was, so that each of its calls would end a window; programs that ask for the
 * time now and then would have none. In a copy the vdso's functions make the system call of the
 * same name instead, which is answered with about the time that the original read (system_calls.h).
 *
 * What runs in the vdso is therefore not what ran in the original: it is not counted.
 */
#ifndef SHADOW_SYSCALLS_VDSO_CALLS_H
#define SHADOW_SYSCALLS_VDSO_CALLS_H

#include "../copy/areas.h"
#include "../copy/sandbox.h"

/* In a copy that has been rebuilt. Without a vdso like our own nothing is changed. */
void vdso_make_calls(struct sandbox *sandbox, const struct areas *areas);

/* The offset of a function in our own vdso, 0 when it has none. */
uint64_t vdso_function(const char *name);

#endif
