/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that are gone or have been rebuilt, represented by what the epochs kept of them. */
#ifndef PROFILE_KEPT_H
#define PROFILE_KEPT_H
#include <hpcprof/profile/profiles.h>

/*
 * Opens `part->file` from what all epochs of the report together have kept of it, and notes in
 * `kept` of the image what that is. `why`: why the file itself is not read. It stays closed if
 * nothing was kept.
 */
struct hp_error *kept_open(struct hp_profiles *profiles, struct hp_loaded_part *part,
			   const char *why);

#endif
