/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Advice for code without names: an option of the runtime that generated it, or a package of debug
 * symbols.
 */
#ifndef REPORT_HEADER_NAMELESS_H
#define REPORT_HEADER_NAMELESS_H

#include "../common/state.h"

/* The option of the runtime that generated the code of an anonymous image, in a sentence; NULL
 * where nobody knows which it was. */
const char *nameless_runtime(const struct report *report, const struct hp_loaded_image *image);

/* What to do about a file without symbols; malloc'ed, NULL when memory is short. It looks up whose
 * file it is in dpkg's database, below --symfs where there is one. */
char *nameless_advice(const struct report *report, const struct hp_loaded_image *image);

#endif
