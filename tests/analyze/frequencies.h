/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frequencies of code small enough to work them out by hand: what is known of it is said, RUN()
 * estimates, and what came of it is asked for by offsets in the code. */
#ifndef TESTS_ANALYZE_FREQUENCIES_H
#define TESTS_ANALYZE_FREQUENCIES_H

#include "../program.h"
#include "../support.h"

#include <hpcprof/analyze/analysis.h>

enum { MOST = 16, MOST_EVIDENCE = 100 };

/* --- what is known ---------------------------------------------------------------------------- */

extern struct hp_sampled samples[MOST];
extern struct hp_evidence evidence[MOST_EVIDENCE];
extern size_t sample_count;
extern size_t evidence_count;
extern enum hp_estimator estimator;
extern bool is_clock_unknown;
extern double off_together[HP_SOURCE_COUNT];
extern uint16_t phase_of[MOST];
extern double phase_deviation[MOST];
extern size_t phase_count; /* 0: none of the three is used */
extern bool missed[MOST];

/* Anew: nothing is known. */
void begin(void);
void sampled(size_t at, double number);
void said(enum hp_evidence_source source, enum hp_evidence_kind kind, size_t at, double value,
	  double deviation);
void counted(size_t at, double times);
void said_of_edge(size_t from, size_t to, double value, double deviation);
void outcome(size_t from, size_t to, double count, double bias);

/* --- estimates -------------------------------------------------------------------------------- */

extern struct hp_arena *arena;
extern struct hp_cfg *cfg;
extern struct hp_analysis *found;
extern struct hp_error *failure;

struct hp_error *analyse_graph(struct hp_image *image, const struct hp_analysis_input *input);
/* For fuzz_with_image(): of its code, into `found` or `failure`. */
void analyse_code(struct hp_image *image);
#define RUN(bytes)                                                                                 \
	do {                                                                                       \
		fuzz_with_image(bytes, sizeof(bytes), analyse_code);                               \
		hp_assert_ok(failure);                                                             \
		ck_assert_uint_eq(found->problems &HP_PROBLEM_NOT_CONVERGED, 0);                   \
		assert_sound();                                                                    \
	} while (0)

uint32_t block_at(size_t at);
const struct hp_frequency *frequency(size_t at);
double executions(size_t at);
const struct hp_frequency *edge(size_t from, size_t to);

/* What is true of every estimate. */
void assert_frequency(const struct hp_frequency *one);
void assert_sound(void);

/* 0: test, jz to 8 · 4: inc, jmp to 10 · 8: dec · 10: ret */
static const uint8_t diamond[] = {
	0x85, 0xff, 0x74, 0x04, 0xff, 0xc0, 0xeb, 0x02, 0xff, 0xc8, 0xc3
};
/* What is known of it now is no input. */
void assert_refused(void);

#endif
