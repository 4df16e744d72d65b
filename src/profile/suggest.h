/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a mistyped name of a procedure may have meant. */
#ifndef PROFILE_SUGGEST_H
#define PROFILE_SUGGEST_H
#include <hpcprof/profile/profiles.h>

/* "No such procedure", with the nearest names and their samples for advice. Never NULL. */
struct hp_error *suggest_procedures(struct hp_profiles *profiles, const char *text);

#endif
