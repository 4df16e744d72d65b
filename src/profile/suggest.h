/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Procedures that a mistyped name may have meant. */
#ifndef PROFILE_SUGGEST_H
#define PROFILE_SUGGEST_H
#include <hpcprof/profile/profiles.h>

/* The pattern is of its path, its last component, or what it is called in tables; NULL: any. */
bool image_fits(const struct hp_loaded_image *image, const char *pattern);
/* "No such procedure", with the nearest names and their samples for advice. Never NULL. */
struct hp_error *suggest_procedures(struct hp_profiles *profiles, const char *text);

#endif
