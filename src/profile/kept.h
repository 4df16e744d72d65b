/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that are gone or have been rebuilt, represented by what the epochs kept of them. */
#ifndef PROFILE_KEPT_H
#define PROFILE_KEPT_H
#include <hpcprof/profile/profiles.h>

/*
 * Opens `part->file` with what the epochs of the report kept of the file, together, and says so of
 * the image: `kept` says what that is. `why` says why the file itself is not read. Stays closed
 * where nothing was kept.
 */
struct hp_error *kept_open(struct hp_profiles *profiles, struct hp_loaded_part *part,
			   const char *why);

#endif
