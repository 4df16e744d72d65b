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

/* Gives a sandbox that has just been created all that the target has mapped, while the target's
 * files can still be found. Runs of the snapshot that it maps, too, are no longer in its list: the
 * buffer is to stay as it is while the sandbox lives. */
struct hp_error *rebuild(struct sandbox *sandbox, struct snapshot *snapshot,
			 struct mapped_files *files);
/* The other runs: as much to move as there is. */
struct hp_error *rebuild_contents(struct sandbox *sandbox, const struct snapshot *snapshot);
/* Takes up what is free above the target's mappings, as far as limits let it; after everything else
 * has its place. */
struct hp_error *rebuild_close(struct sandbox *sandbox, const struct areas *areas);

#endif
