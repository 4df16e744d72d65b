/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Epochs into one set of events, images and histograms; the sample filters apply here. */
#ifndef REPORT_LOAD_H
#define REPORT_LOAD_H

#include "model.h"

/* Everything from the database: opens the epochs, adds them, finishes. */
struct hp_error *load_epochs(struct report *report, struct hp_db *db, char *const *arguments,
			     size_t argument_count);

/* The same in steps. Every epoch first, then the profiles, then finish. `meta` and `stamp` must
 * outlive the report; `epoch` (NULL if there is none) is owned by it from here on. */
struct hp_error *load_epoch(struct report *report, const char *stamp,
			    const struct hp_epoch_meta *meta, struct hp_epoch *epoch);
/* Adds a profile of the epoch's image number `image_index`. */
struct hp_error *load_profile(struct report *report, size_t epoch, size_t image_index,
			      const struct hp_image_id *id, const struct hp_profile *profile);
struct hp_error *load_finish(struct report *report);

#endif
