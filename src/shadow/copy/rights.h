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

/* Namespaces that decide what a process can reach, in the order of `namespaces` in rights.c. */
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
	uint64_t capabilities; /* union of the effective, permitted, inheritable and ambient sets */
	uint64_t effective;    /* the effective set alone */
	/* number of seccomp filters; UINT64_MAX: an unknown number, or strict mode */
	uint64_t filters;
	/* Set before an ordinary user can be confined in any way, including Landlock, which cannot
	 * be observed. */
	bool no_new_privs;
	uint64_t namespaces[RIGHTS_NAMESPACES]; /* inode numbers */
	uint64_t root_device, root_inode;
	char label[256]; /* of a security module; "" if there is none */
};

/* Memory is reused from one call to the next. NOT_FOUND: the process has ended. */
struct hp_error *rights_read(struct rights *rights, pid_t pid, pid_t tid);
void rights_clear(struct rights *rights);

/*
 * Whether the target may be confined more than `own` is, as far as that can be told. It is not if
 * it has no filters, or if it is a descendant of ours with the same number of filters, which it has
 * inherited from us (those of a container, mostly).
 */
bool rights_are_confined(const struct rights *target, const struct rights *own, bool is_descendant);
/* Whether one process descends from another. */
bool rights_descend(pid_t pid, pid_t from);
/*
 * Whether `own` may do with files only what `target` may do, if that is not confined: ids, groups,
 * capabilities, namespaces, root and label are the same. Only then files are opened for a copy by
 * name.
 */
bool rights_are_same(const struct rights *target, const struct rights *own);

/* NULL, or NOT_PERMITTED with a sentence: we could not limit a copy to these rights. */
struct hp_error *rights_can_be_given(const struct rights *target, const struct rights *own);

/*
 * Gives a sandbox the target's ids, groups, root and namespaces, and no capabilities. Everything
 * that it needs to open must be open before. NOT_PERMITTED, with a sentence, where that is not
 * possible: then there must be no copy.
 */
struct hp_error *rights_give(struct sandbox *sandbox, pid_t pid, const struct rights *target,
			     const struct rights *own);

#endif
