/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a user might try against a stall, where simulation supports it. */
#ifndef REPORT_STALLS_ADVICE_H
#define REPORT_STALLS_ADVICE_H

#include "survey.h"

/* A sentence without a full stop; NULL: no cause is certain enough, or there is no general advice.
 * `culprit`: the instruction that it is about. Static. */
const char *advice_for(const struct stall *stall, const struct hp_analysed_insn **culprit);

/* The data cache's level that is waited for: "L2", "L3 or memory"; NULL if unclear. */
const char *advice_level(const struct hp_analysed_insn *insn);

#endif
