/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "file_names.h"

#include "system_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Splits `path` into its directory and the name in it. NULL when it ends in a slash. */
static const char *split(const char *path, struct stat *directory)
{
	const char *slash = strrchr(path, '/');
	char text[NAME_BYTES];

	if (!slash || !slash[1])
		return NULL;
	snprintf(text, sizeof(text), "%.*s", (int)(slash + 1 - path), path);
	return stat(text, directory) == 0 ? slash + 1 : NULL;
}

static struct touched_name *find(const struct touched_names *touched, const struct stat *directory,
				 const char *name)
{
	for (size_t i = 0; i < touched->names.count; i++) {
		struct touched_name *at = &touched->names.at[i];

		if (at->inode == directory->st_ino && at->device == directory->st_dev &&
		    strcmp(at->name, name) == 0)
			return at;
	}
	return NULL;
}

enum name_touch file_names_touched(const struct touched_names *touched, const char *path)
{
	const struct touched_name *known = NULL;
	struct stat directory;
	const char *name = touched->names.count ? split(path, &directory) : NULL;

	if (name)
		known = find(touched, &directory, name);
	return known ? known->touch : NAME_UNTOUCHED;
}

bool file_names_touch(struct touched_names *touched, const char *path, enum name_touch touch)
{
	struct touched_name added = { .touch = touch };
	struct touched_name *known;
	struct stat directory;
	const char *name = split(path, &directory);

	if (!name)
		return false;
	known = find(touched, &directory, name);
	if (known) {
		known->touch = touch;
		return true;
	}
	added.device = directory.st_dev;
	added.inode = directory.st_ino;
	added.name = strdup(name);
	if (added.name && hp_vector_push(&touched->names, added))
		return true;
	free(added.name);
	return false;
}

void file_names_clear(struct touched_names *touched)
{
	for (size_t i = 0; i < touched->names.count; i++)
		free(touched->names.at[i].name);
	hp_vector_free(&touched->names);
}

/* Whether no file has been created at `path`, or removed from there, since the copy was made. */
static bool is_place_unchanged(const struct shadow_clock *clock, const char *path)
{
	char place[NAME_BYTES];
	struct stat status;
	char *slash;

	snprintf(place, sizeof(place), "%s", path);
	do {
		slash = strrchr(place, '/');
		if (!slash)
			return false;
		*slash = 0;
	} while (stat(place, &status) < 0);
	return shadow_clock_is_before(clock, status.st_mtim);
}

enum presence file_names_ask(const struct touched_names *touched, const struct shadow_clock *clock,
			     const char *path, bool follow)
{
	enum name_touch touch = file_names_touched(touched, path);
	struct timespec birth;
	struct statx status;

	if (touch == NAME_REMOVED)
		return PRESENCE_NONE;
	if (statx(AT_FDCWD, path, follow ? 0 : AT_SYMLINK_NOFOLLOW, STATX_BTIME, &status) < 0) {
		if (errno != ENOENT && errno != ENOTDIR)
			return PRESENCE_NOW;
		return touch != NAME_MADE && is_place_unchanged(clock, path) ? PRESENCE_NONE
									     : PRESENCE_GONE;
	}
	if (touch == NAME_MADE)
		return PRESENCE_THERE;
	if (!(status.stx_mask & STATX_BTIME))
		return PRESENCE_NOW;
	birth = (struct timespec){ status.stx_btime.tv_sec, status.stx_btime.tv_nsec };
	if (shadow_clock_is_after(clock, birth))
		return PRESENCE_NONE;
	return shadow_clock_is_before(clock, birth) ? PRESENCE_THERE : PRESENCE_DOUBT;
}
