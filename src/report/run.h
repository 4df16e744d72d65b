/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a loaded report to its output: attribute, sort and cut, write. */
#ifndef REPORT_RUN_H
#define REPORT_RUN_H

#include "model.h"

#include <stdio.h>

struct hp_error *report_run(struct report *report, FILE *out);

#endif
