/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a mistyped name of a procedure may have meant. */
#ifndef REPORT_SUGGEST_H
#define REPORT_SUGGEST_H

#include "model.h"

/* "No such procedure", with the nearest names and their samples for advice. Never NULL. */
struct hp_error *suggest_procedures(struct report *report, const char *text);

#endif
