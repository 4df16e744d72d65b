/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads which branches of a copy went to expected targets: translate/x86_expect.h. */
#ifndef SHADOW_REPLAY_BRANCH_LOG_H
#define SHADOW_REPLAY_BRANCH_LOG_H

#include "../translate/x86_translate.h"

/* Counts all that is in the logs, and empties them. The copy does not run. False: out of memory, or a
 * zone is full. */
bool branch_log_read(struct x86_translator *translator);

#endif
