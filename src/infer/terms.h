/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The terms of one procedure's estimate, one function per kind of evidence. */
#ifndef INFER_TERMS_H
#define INFER_TERMS_H

#include <hpcprof/infer/counts.h>

typedef HP_VECTOR(struct hp_evidence) evidence_vector;

struct counts_terms {
	evidence_vector terms;
	double shared_deviation; /* goes into hp_analysis_input, like the next three */
	uint16_t *phase_of;	 /* the same, as are the next two */
	double *phase_deviation;
	size_t phase_count;
	bool *missed; /* the same */
};
void counts_terms_clear(struct counts_terms *terms);
/* Terms from windows for the graph's blocks and edges; none where no window executed any. The graph
 * and the samples of the input are known already. */
struct hp_error *counts_terms_of(const struct hp_inference *inference,
				 const struct hp_image_counts *counted,
				 const struct hp_analysis_input *input, struct counts_terms *terms);

#endif
