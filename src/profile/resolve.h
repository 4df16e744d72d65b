/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which procedure is meant by what somebody typed. */
#ifndef PROFILE_RESOLVE_H
#define PROFILE_RESOLVE_H

#include <hpcprof/profile/profiles.h>

/* Something before a single colon of the text means the image. */
bool resolve_names_image(const char *text, const struct hp_loaded_image *image);

#endif
