/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a snapshot to a process with the same memory at the same addresses.
 *
 * Everything in it is private: what was shared is a copy, files are mapped privately. What was a
 * device, or was not to be there in a fork, cannot be touched. Nothing can be executed. New mappings come to lie where the target's would, since
 * whatever is free above its highest one is taken up.
 */
#ifndef SHADOW_COPY_REBUILD_H
#define SHADOW_COPY_REBUILD_H

#include "mapped_files.h"
#include "snapshot.h"
#include "sandbox.h"

/* Gives a sandbox that has just been created all that the target has mapped, while the target's files
 * can still be found. */
struct hp_error *rebuild(struct sandbox *sandbox, const struct snapshot *snapshot,
			 struct mapped_files *files);
/* What was read of the target's memory: as much to move as there is. */
struct hp_error *rebuild_contents(struct sandbox *sandbox, const struct snapshot *snapshot);
/* Takes up what is free above the target's mappings, as far as limits let it; after everything else
 * has its place. */
struct hp_error *rebuild_close(struct sandbox *sandbox, const struct areas *areas);

#endif
