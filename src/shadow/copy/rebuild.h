/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds the memory of a snapshot in a sandbox, at the same addresses.
 *
 * All memory is private: shared memory is copied, and files are mapped privately. Devices, and
 * memory that a fork would not get, are mapped without access. Nothing is executable. Free space
 * above the highest mapping is filled, so that new mappings get the same addresses as in the
 * target.
 *
 * Large areas are lent: the sandbox maps the buffer that they were read into, privately, and gets
 * a page of its own when it writes to one. Copying them would take longer than the replay. Lent
 * memory belongs to a file, so some system calls treat it differently from anonymous memory
 * (areas_are_lent; syscalls/memory_calls.c).
 */
#ifndef SHADOW_COPY_REBUILD_H
#define SHADOW_COPY_REBUILD_H

#include "mapped_files.h"
#include "snapshot.h"
#include "sandbox.h"

/* Maps everything into a newly created sandbox that the target has mapped, while the target's files
 * can still be found, and opens the buffer in it. Runs that are lent are removed from the snapshot's
 * list, and the buffer must not change while the sandbox lives. */
struct hp_error *rebuild(struct sandbox *sandbox, struct snapshot *snapshot,
			 struct mapped_files *files);
/* Copies the contents of the remaining runs; it takes as long as there is memory to move. Where the
 * buffer is a file, the sandbox reads it, at its own priority. */
struct hp_error *rebuild_contents(struct sandbox *sandbox, const struct snapshot *snapshot);
/* Fills the free space above the target's mappings, as far as limits permit. Called after
 * everything else has its place. */
struct hp_error *rebuild_close(struct sandbox *sandbox, const struct areas *areas);

#endif
