/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which procedure is meant by what somebody typed:
 *
 *	NAME		as shown or as in the symbol table; of C++ also without its arguments
 *	GLOB		over the same
 *	PART		of the name
 *	0xADDRESS	link-time, anywhere inside the procedure
 *	IMAGE:any	of those, in images whose path, or last part of it, matches the glob
 */
#ifndef REPORT_RESOLVE_H
#define REPORT_RESOLVE_H

#include "model.h"

/*
 * requires: attribute_samples, of all procedures. provides: of the rows only those that the option
 * `listed` means. A glob lists all that match when `report_lists_many`; else the hottest is taken,
 * and the notices name the others. A procedure without samples gets a row when its name or address
 * is exact. Fails with INSUFFICIENT when nothing is meant, and advises the nearest names.
 */
struct hp_error *resolve_listed(struct report *report);

/* Something before a single colon of the text means the image. */
bool resolve_names_image(const char *text, const struct report_image *image);

#endif
