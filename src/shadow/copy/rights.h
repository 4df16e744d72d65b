/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rights of a thread, from its credentials; its copy gets no more than these.
 *
 * Threads of one process may have different credentials, so those of the thread are read. User and
 * group ids are those of hpcprof's user namespace.
 */
#ifndef SHADOW_COPY_RIGHTS_H
#define SHADOW_COPY_RIGHTS_H

#include "sandbox.h"

#include <hpcprof/base/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum rights_id { RIGHTS_REAL, RIGHTS_EFFECTIVE, RIGHTS_SAVED, RIGHTS_FILES, RIGHTS_IDS };

/* Namespaces that decide what there is, in the order of `rights_namespace_name`. */
enum rights_namespace {
	RIGHTS_USERS,
	RIGHTS_MOUNTS,
	RIGHTS_NETWORK,
	RIGHTS_IPC,
	RIGHTS_NAMES, /* uts */
	RIGHTS_CGROUPS,
	RIGHTS_PROCESSES,
	RIGHTS_NAMESPACES,
};

struct rights {
	uint32_t users[RIGHTS_IDS], groups[RIGHTS_IDS];
	uint32_t *others; /* supplementary groups, ascending. Owned */
	size_t other_count, other_capacity;
	uint64_t capabilities; /* effective, permitted, inheritable or ambient */
	uint64_t effective;    /* of them */
	uint64_t filters;      /* of system calls; UINT64_MAX: some, or the strict mode */
	/* It comes before all that an ordinary user can be confined by: Landlock too, which nobody
	 * can see. */
	bool no_new_privs;
	uint64_t namespaces[RIGHTS_NAMESPACES]; /* inodes */
	uint64_t root_device, root_inode;
	char label[256]; /* of a security module; "" none */
};

/* Keeps its memory from one call to the next. NOT_FOUND: it has ended. */
struct hp_error *rights_read(struct rights *rights, pid_t pid, pid_t tid);
void rights_clear(struct rights *rights);

/*
 * Whether the target may be confined in other ways than `own` is, as far as can be told: it is not
 * where it has no filters, or, being a descendant of ours, the very ones that it has of us (those
 * of a container, mostly).
 */
bool rights_are_confined(const struct rights *target, const struct rights *own, bool is_descendant);
/* Whether one process descends from another. */
bool rights_descend(pid_t pid, pid_t from);
/*
 * Whether whatever `own` may do with files is what `target` may do with them, if that is not
 * confined: the same ids, groups and capabilities, namespaces, root and label. Only then are files
 * opened for a copy by their names.
 */
bool rights_are_same(const struct rights *target, const struct rights *own);

/* NULL, or NOT_PERMITTED with a sentence: we could not give a copy no more than that. */
struct hp_error *rights_can_be_given(const struct rights *target, const struct rights *own);

/*
 * Gives a sandbox the target's ids, groups, root and namespaces, and no capability at all; nothing
 * that it was to open can be opened by it afterwards. NOT_PERMITTED, with a sentence, where we
 * cannot give them: then there is no copy.
 */
struct hp_error *rights_give(struct sandbox *sandbox, pid_t pid, const struct rights *target,
			     const struct rights *own);

#endif
