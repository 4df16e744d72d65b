/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Offsets to images, procedures and lines: from parts to the rows of the view. */
#ifndef PROFILE_ATTRIBUTE_H
#define PROFILE_ATTRIBUTE_H

#include <hpcprof/profile/profiles.h>

/* A row for a procedure that has no samples, if it has none yet. */
struct hp_error *attribute_unsampled(struct hp_profiles *profiles, struct hp_loaded_part *part,
				     const struct hp_procedure *procedure);

#endif
