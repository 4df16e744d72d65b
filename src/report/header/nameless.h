/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Advice for code without names: an option of the runtime that generated it, or a package of debug
 * symbols.
 */
#ifndef REPORT_HEADER_NAMELESS_H
#define REPORT_HEADER_NAMELESS_H

#include "../common/state.h"

/* Advice on the option of the runtime that generated an anonymous image's code, as a sentence; NULL
 * if the runtime is unknown. */
const char *nameless_runtime(const struct report *report, const struct hp_loaded_image *image);

/* Advice on a file without symbols; malloc'ed; NULL: out of memory. It looks up the file's package
 * in dpkg's database, below --symfs if there is one. */
char *nameless_advice(const struct report *report, const struct hp_loaded_image *image);

#endif
