/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A running child, held for a moment, and rebuilt in a process of ours. */
#ifndef HPCPROF_TESTS_SHADOW_COPIED_H
#define HPCPROF_TESTS_SHADOW_COPIED_H

#include "../../src/shadow/copy/hold.h"
#include "../../src/shadow/copy/rebuild.h"

/* Room for what was prepared, however busy the machine is. */
void reserve(struct snapshot *snapshot);

struct copied {
	struct snapshot snapshot;
	struct sandbox sandbox;
	struct mapped_files files;
};

/* Under a sanitizer a program has terabytes of address space, which kernels before 6.7 are too slow
 * to look at: no copies of it there. */
bool can_copy(void);

/* A child that runs in user code until it is killed. */
pid_t start_spinning(void);

/* As soon as it is in user code. */
void hold_running(pid_t pid, struct held_state *state);

/* Prepares, holds the target (`state`: of then), and takes what it has. `is_old_kernel`: by the
 * means of before 6.7. */
void copied_hold(struct copied *copied, pid_t pid, bool is_old_kernel, struct held_state *state);
/* Lets it go on, and rebuilds it. */
void copied_rebuild(struct copied *copied, pid_t pid);
void copied_clear(struct copied *copied);

/* Whether the kernel would leave out of a core file what is mapped at `at`. */
bool is_left_out_of_cores(const void *at);

#endif
