/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keys that rows can be split by: process, thread, CPU and place in the code. */
#ifndef PROFILE_BREAKDOWN_H
#define PROFILE_BREAKDOWN_H

#include <hpcprof/profile/profiles.h>

/* Understands --by, comma-separated: our words and perf's. USAGE for others. */
struct hp_error *breakdown_parse(struct hp_profiles *profiles);

/* The rows are of threads or CPUs: of the shares of profiles. */
bool breakdown_needs_shares(const struct hp_profiles *profiles);

/* What --by asks for and the epoch does not keep apart, with the way to it; else NULL. */
struct hp_error *breakdown_check(const struct hp_profiles *profiles, const char *stamp,
				 const struct hp_epoch_meta *meta);

/* What of a stratum's process, thread and CPU the rows are told apart by: a number in
 * the profiles' groups. */
struct hp_error *breakdown_group(struct hp_profiles *profiles, const struct hp_stratum *stratum,
				 uint32_t *group);

void breakdown_forget(struct hp_profiles *profiles);

#endif
