/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of procedures for people: short, where that still tells them apart. */
#ifndef REPORT_SHOWN_H
#define REPORT_SHOWN_H

#include "model.h"

/* Gives the rows of one table `shown`: short names, but whole ones where two of them would look alike, and
 * of all rows with --full-names. Rows without a name have none. */
struct hp_error *shown_names(const struct report *report, struct row *const *rows, size_t count);

#endif
