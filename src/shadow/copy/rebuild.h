/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gives a sandbox the same memory at the same addresses as a snapshot has.
 *
 * All of it is private: shared memory is copied, files are mapped privately. Devices, and memory
 * that a fork would not have, are mapped without access. Nothing is executable. Whatever is free
 * above the highest mapping is taken up, so that new mappings get the addresses that they got in
 * the target.
 *
 * Large areas are lent: the sandbox maps the buffer that they were read into, privately, and gets a
 * page of its own when it writes to one. Copying them would take longer than the replay. Lent
 * memory is that of a file, so not all system calls do the same there as on anonymous memory
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
