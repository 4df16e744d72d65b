/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an instruction does that may take long, and the name of the cause for that time. */
#ifndef HPCPROF_ANALYZE_CULPRIT_DUTY_H
#define HPCPROF_ANALYZE_CULPRIT_DUTY_H

#include "facts.h"

struct hp_error *duty_prepare(struct facts *facts, struct hp_arena *arena);
enum hp_cause_kind duty_cause(enum hp_duty duty);
/* The cause that the static stall of this instruction is attributed to. */
enum hp_cause_kind duty_static_cause(const struct facts *facts, uint32_t at);

#endif
