/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Exact counts from a file that the user supplies (hp_inference_options). */
#ifndef INFER_EXACT_COUNTS_H
#define INFER_EXACT_COUNTS_H

#include <hpcprof/infer/inference.h>

/* requires: images loaded. HP_ERROR_USAGE for a file that cannot be parsed. */
struct hp_error *exact_counts_load(struct hp_inference *inference);
/* The counts between the graph's first and last block, by address. */
const struct hp_evidence *exact_counts_of(const struct hp_inference *inference,
					  const struct hp_loaded_image *image,
					  const struct hp_cfg *cfg, size_t *count);

#endif
