/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which files exist for a copy, by name. The original runs ahead of its copy. So a file that was
 * made since the copy was (as the file system says) does not exist for it yet; a file that the copy
 * made itself does; and a file that the copy removed does not, even if the original has made it
 * again.
 */
#ifndef SHADOW_SYSCALLS_FILE_NAMES_H
#define SHADOW_SYSCALLS_FILE_NAMES_H

#include <hpcprof/base/vector.h>

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct shadow_clock;

enum { NAME_BYTES = PATH_MAX + 64 };

enum name_touch {
	NAME_UNTOUCHED,
	NAME_MADE,
	NAME_REMOVED,
};

struct touched_name {
	uint64_t device, inode; /* of its directory */
	char *name;
	enum name_touch touch;
};

/* Names that the copy believes it has created or removed. */
struct touched_names {
	HP_VECTOR(struct touched_name) names;
};

enum presence {
	PRESENCE_NONE,
	/* nothing exists there now, but something was removed or renamed since the copy was made */
	PRESENCE_GONE,
	/* it has existed since before the copy was made, or the copy has created it */
	PRESENCE_THERE,
	PRESENCE_NOW,	/* it exists now; the file system does not store when files were created */
	PRESENCE_DOUBT, /* it was created about when the copy was made */
};

/* `path`: as we reach the file; shorter than NAME_BYTES. */
enum presence file_names_ask(const struct touched_names *touched, const struct shadow_clock *clock,
			     const char *path, bool follow);
enum name_touch file_names_touched(const struct touched_names *touched, const char *path);
/* False: out of memory, or there is no such directory. */
bool file_names_touch(struct touched_names *touched, const char *path, enum name_touch touch);
void file_names_clear(struct touched_names *touched);

#endif
