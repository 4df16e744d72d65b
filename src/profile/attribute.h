/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Turns parts of profiles into the rows of a view: offsets become images, procedures and lines. */
#ifndef PROFILE_ATTRIBUTE_H
#define PROFILE_ATTRIBUTE_H

#include <hpcprof/profile/profiles.h>

/* Adds a row for a procedure without samples, if it has none yet. */
struct hp_error *attribute_unsampled(struct hp_profiles *profiles, struct hp_loaded_part *part,
				     const struct hp_procedure *procedure);

#endif
