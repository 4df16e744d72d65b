/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Advice on options that would get more executions counted. */
#ifndef REPORT_COMMON_COUNTING_H
#define REPORT_COMMON_COUNTING_H

#include "state.h"

/* Advice where windows counted nothing or too little, by whether any were tried and by what ended
 * them. A clause without a full stop; static. */
const char *counting_advice(const struct report *report);

#endif
