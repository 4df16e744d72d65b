/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counts of windows in one image, for the rest of this folder. */
#ifndef INFER_IMAGE_COUNTS_H
#define INFER_IMAGE_COUNTS_H

#include <hpcprof/infer/counts.h>

void counts_destroy(struct hp_image_counts *counted);
/* Recordings may have been added that never meant to count: the share of the time that is told
 * of. */
double counts_told_share(const struct hp_inference *inference);
/* Whether any window saw it run. */
bool counts_saw(const struct hp_image_counts *counted, uint64_t address);
/* Of the rows of procedures, `counts`. requires: files open, code of rows known. */
struct hp_error *counts_fill_rows(struct hp_inference *inference);

#endif
