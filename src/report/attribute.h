/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Offsets to images, procedures and lines: from parts to the rows of the view. */
#ifndef REPORT_ATTRIBUTE_H
#define REPORT_ATTRIBUTE_H

#include "model.h"

/* requires: load_finish. provides: rows, images' problems, events' kept, how samples were named.
 * Images whose file is missing or changed are told to the notices, once each. */
struct hp_error *attribute_samples(struct report *report);

/* A row for a procedure that has no samples, if it has none yet. */
struct hp_error *attribute_unsampled(struct report *report, struct report_part *part,
				     const struct hp_procedure *procedure);

#endif
