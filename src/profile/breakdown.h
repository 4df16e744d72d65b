/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keys that rows can be split by: process, thread, CPU and place in the code. */
#ifndef PROFILE_BREAKDOWN_H
#define PROFILE_BREAKDOWN_H

#include <hpcprof/profile/profiles.h>

/* Parses --by, a comma-separated list of our keys or perf's. USAGE for others. */
struct hp_error *breakdown_parse(struct hp_profiles *profiles);

/* Whether rows are by thread or CPU, for which profiles need shares. */
bool breakdown_needs_shares(const struct hp_profiles *profiles);

/* An error if an epoch lacks a key of --by, with advice how to record it; otherwise NULL. */
struct hp_error *breakdown_check(const struct hp_profiles *profiles, const char *stamp,
				 const struct hp_epoch_meta *meta);

/* The group of a stratum's process, thread and CPU, as far as rows distinguish them: its index in
 * the profiles' groups. */
struct hp_error *breakdown_group(struct hp_profiles *profiles, const struct hp_stratum *stratum,
				 uint32_t *group);

void breakdown_forget(struct hp_profiles *profiles);

#endif
