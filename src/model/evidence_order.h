/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order of the lists of evidence: evidence.c keeps it, evidence_rules.c checks it. */
#ifndef HPCPROF_MODEL_EVIDENCE_ORDER_H
#define HPCPROF_MODEL_EVIDENCE_ORDER_H

#include <hpcprof/model/evidence.h>

/* Like strcmp(). Strata are sorted by recording, then by command; reasons by whether they are
 * refusals, then by text. For items: hp_counted_compare. */
int evidence_compare_strata(const struct hp_window_stratum *a, const struct hp_window_stratum *b);
int evidence_compare_reasons(bool is_refusal, const char *what, const struct hp_window_reason *b);

#endif
