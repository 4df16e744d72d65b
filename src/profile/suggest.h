/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Procedures that a mistyped name may have meant. */
#ifndef PROFILE_SUGGEST_H
#define PROFILE_SUGGEST_H
#include <hpcprof/profile/profiles.h>

/* Whether the pattern fits the image's path, its last component, or its name in tables; NULL:
 * any. */
bool image_fits(const struct hp_loaded_image *image, const char *pattern);
/* The error "no such procedure", with advice that lists the most similar names and their samples.
 * Never NULL. */
struct hp_error *suggest_procedures(struct hp_profiles *profiles, const char *text);

#endif
