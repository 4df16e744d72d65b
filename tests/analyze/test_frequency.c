/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frequencies that can be worked out by hand. */
#include "frequencies.h"

#include <math.h>
#include <string.h>

/* --- by hand ---------------------------------------------------------------------------------- */

/* 0: inc · 2: inc, jnz to 2 · 6: dec, jnz to 0 · 10: ret */
static const uint8_t nest[] = { 0xff, 0xc0, 0xff, 0xc1, 0x75, 0xfc, 0xff, 0xca, 0x75, 0xf6, 0xc3 };
/* 0: test, jz to 6 · 4: inc · 6: dec, jnz to 4 · 10: ret; the loop of 4 and 6 has two ways in */
static const uint8_t irreducible[] = { 0x85, 0xff, 0x74, 0x02, 0xff, 0xc0,
				       0xff, 0xc8, 0x75, 0xfa, 0xc3 };
/* 0: inc, jmp to 0 */
static const uint8_t endless[] = { 0xff, 0xc0, 0xeb, 0xfc };
/* 0: test, jz to 7 · 4: inc, then what is no instruction · 7: inc, ret */
static const uint8_t unresolved[] = { 0x85, 0xff, 0x74, 0x03, 0xff, 0xc1, 0x06, 0xff, 0xc0, 0xc3 };
/* Three times the end of an interpreter's instruction; all jump through the table at 72, whose
 * targets are 2, 25 and 48. 0: test · 2: inc, cmp, ja to 71 · 9: lea, movslq, add, jmp · 25: dec,
 * cmp, ja to 71 · 32: lea, movslq, add, jmp · 48: neg, cmp, ja to 71 · 55: lea, movslq, add, jmp ·
 * 71: ret */
static const uint8_t interpreter[] = {
	0x85, 0xf6, 0xff, 0xc1, 0x83, 0xff, 0x02, 0x77, 0x3e, 0x48, 0x8d, 0x15, 0x38, 0x00,
	0x00, 0x00, 0x48, 0x63, 0x04, 0xba, 0x48, 0x01, 0xd0, 0xff, 0xe0, 0xff, 0xc9, 0x83,
	0xff, 0x02, 0x77, 0x27, 0x48, 0x8d, 0x15, 0x21, 0x00, 0x00, 0x00, 0x48, 0x63, 0x04,
	0xba, 0x48, 0x01, 0xd0, 0xff, 0xe0, 0xf7, 0xd9, 0x83, 0xff, 0x02, 0x77, 0x10, 0x48,
	0x8d, 0x15, 0x0a, 0x00, 0x00, 0x00, 0x48, 0x63, 0x04, 0xba, 0x48, 0x01, 0xd0, 0xff,
	0xe0, 0xc3, 0xba, 0xff, 0xff, 0xff, 0xd1, 0xff, 0xff, 0xff, 0xe8, 0xff, 0xff, 0xff
};
/* 0: inc, dec, ret */
static const uint8_t straight[] = { 0xff, 0xc0, 0xff, 0xc8, 0xc3 };

/* What is known, and what has to come of it. */
struct given {
	size_t at;
	size_t to; /* of edges */
	double value;
	double deviation;
	uint16_t kind; /* enum hp_evidence_kind or SAMPLES, plus 1; 0 ends a list */
	uint8_t source;
};
enum { SAMPLES = 255 };
#define COUNT(at, value)       at, 0, value, 0, HP_EVIDENCE_COUNT + 1, 0
#define SAMPLED(at, value)     at, 0, value, 0, SAMPLES + 1, 0
#define SHADOW(at, value, by)  at, 0, value, by, HP_EVIDENCE_COUNT + 1, HP_SOURCE_SHADOW
#define WAY(at, to, value, by) at, to, value, by, HP_EVIDENCE_EDGE + 1, HP_SOURCE_SHADOW
#define PROBE(at, value, by)   at, 0, value, by, HP_EVIDENCE_COUNT + 1, HP_SOURCE_PROBES
#define RETIRED(value, by)     0, 0, value, by, HP_EVIDENCE_RETIRED + 1, HP_SOURCE_COUNTERS
#define TAKEN(at, value, by)   at, 0, value, by, HP_EVIDENCE_PROBABILITY + 1, HP_SOURCE_REGISTERS

struct figure {
	enum { NOTHING, EXECUTIONS, RELATIVE, EDGE, SHARE_OF, ENTRY, OWN_SAMPLES } of;
	size_t at;
	size_t to;
	double value;
	double tolerance;
};
#define RUNS(at, value, by)	 EXECUTIONS, at, 0, value, by
#define PART(at, value, by)	 RELATIVE, at, 0, value, by
#define GOES(at, to, value, by)	 EDGE, at, to, value, by
#define SHARE(at, to, value, by) SHARE_OF, at, to, value, by
#define HAS(at, value, by)	 OWN_SAMPLES, at, 0, value, by

static double figure_of(const struct figure *figure)
{
	switch (figure->of) {
	case EXECUTIONS:
		return executions(figure->at);
	case RELATIVE:
		return frequency(figure->at)->relative;
	case EDGE:
		return edge(figure->at, figure->to)->executions;
	case SHARE_OF:
		return edge(figure->at, figure->to)->executions / executions(figure->at);
	case OWN_SAMPLES:
		return found->blocks[block_at(figure->at)].samples;
	case ENTRY:
		return found->entry.executions;
	case NOTHING:
		break;
	}
	return NAN;
}

#define CODE(bytes) bytes, sizeof(bytes)
/* 200 come in at 2, which makes 400 of its 600 jumps' targets; the shares of the three targets are
 * 400, 400 and 200 of 1000, and that of each block's jumps too. */
#define INTERPRETED                                                                                \
	{ COUNT(0, 200) }, { COUNT(2, 600) }, { COUNT(25, 400) }, { COUNT(48, 200) },              \
		{ COUNT(9, 500) }, { COUNT(32, 350) },                                             \
	{                                                                                          \
		COUNT(55, 150)                                                                     \
	}

static const struct row {
	const char *name;
	const uint8_t *code;
	size_t bytes;
	struct given given[9];
	struct figure figures[6];
	unsigned problems;
	unsigned others; /* problems that there must not be */
	double together; /* what counts of windows are off by together */
	unsigned sources;
	bool is_relative;
} rows[] = {
	{ "what one way of a branch has the other lacks",
	  CODE(diamond),
	  { { COUNT(0, 1000) }, { COUNT(4, 300) } },
	  .figures = { { RUNS(0, 1000, 1) },
		       { RUNS(8, 700, 1) },
		       { RUNS(10, 1000, 1) },
		       { GOES(0, 8, 700, 1) },
		       { ENTRY, 0, 0, 1000, 1 } } },
	{ "what never ran is exactly zero, and so are its edges",
	  CODE(diamond),
	  { { COUNT(0, 1000) }, { COUNT(4, 0) } },
	  .figures = { { RUNS(4, 0, 0) },
		       { GOES(0, 4, 0, 0) },
		       { GOES(4, 10, 0, 0) },
		       { RUNS(8, 1000, 1) } } },
	{ "counts that cannot all be true are reported",
	  CODE(diamond),
	  { { COUNT(0, 0) }, { COUNT(4, 300) } },
	  .problems = HP_PROBLEM_CONTRADICTION },
	{ "counts that do not balance are reported",
	  CODE(diamond),
	  { { COUNT(0, 1000) }, { COUNT(4, 2000) } },
	  .problems = HP_PROBLEM_CONTRADICTION },
	{ "loops in loops follow from three counts",
	  CODE(nest),
	  { { COUNT(0, 100) }, { COUNT(2, 1000) }, { COUNT(10, 1) } },
	  .figures = { { RUNS(6, 100, 0.1) },
		       { GOES(2, 2, 900, 1) },
		       { GOES(2, 6, 100, 0.1) },
		       { GOES(6, 0, 99, 0.1) } } },
	{ "a loop with two ways in is like any other",
	  CODE(irreducible),
	  { { COUNT(0, 100) }, { COUNT(4, 950) }, { COUNT(6, 1000) } },
	  .figures = { { GOES(6, 4, 900, 2) }, { GOES(0, 4, 50, 1) }, { GOES(0, 6, 50, 1) } } },
	{ "a loop without end has the frequency of its count",
	  CODE(endless),
	  { { COUNT(0, 1e6) }, { SAMPLED(2, 500) } },
	  .figures = { { RUNS(0, 1e6, 1e3) } } },
	{ "where edges are missing a block may run more often than the graph explains",
	  CODE(unresolved),
	  { { COUNT(0, 100) }, { COUNT(7, 150) } },
	  .figures = { { RUNS(0, 100, 1) }, { RUNS(7, 150, 1.5) } },
	  .problems = HP_PROBLEM_MISSING_EDGES },
	{ "astronomical counts are counts",
	  CODE(diamond),
	  { { COUNT(0, 4e18) }, { COUNT(4, 1) } },
	  .figures = { { RUNS(0, 4e18, 4e15) }, { RUNS(8, 4e18, 4e15) } } },
	{ "one block is as frequent as itself",
	  CODE(straight),
	  { { SAMPLED(2, 100) } },
	  .figures = { { PART(0, 1, 1e-12) } },
	  .is_relative = true },
	/* The block at 10 is reached from 4 and 8; what is sampled on its first instruction is
	 * theirs. */
	{ "samples at the beginning of a block go back to where it was come from",
	  CODE(diamond),
	  { { COUNT(4, 300) }, { COUNT(8, 700) }, { SAMPLED(10, 1000) } },
	  .figures = { { HAS(4, 300, 2) }, { HAS(8, 700, 2) }, { HAS(10, 0, 0) } } },
	{ "a probability divides what comes in",
	  CODE(diamond),
	  { { COUNT(0, 1000) }, { TAKEN(2, 0.2, 1e-4) } },
	  .figures = { { RUNS(8, 200, 2) } } },
	{ "instructions retired are executions times instructions",
	  CODE(diamond),
	  { { RETIRED(2000, 20) } },
	  .figures = { { RUNS(0, 1000, 10) }, { RUNS(10, 1000, 10) } } },
	{ "a counted edge fixes its blocks",
	  CODE(diamond),
	  { { COUNT(0, 1000) }, { WAY(2, 4, 250, 0) } },
	  .figures = { { RUNS(4, 250, 1) }, { RUNS(8, 750, 1) } } },
	/* 10 of them, which are sure to a third, and millions that are sure to a tenth: what those
	 * are off by is not made good here. */
	{ "what was seen a few times holds against what nobody counted well",
	  CODE(diamond),
	  { { SHADOW(0, 2.0e8, 2e7) },
	    { WAY(0, 4, 1.9e8, 2e7) },
	    { WAY(0, 8, 10000, 3162) },
	    { SHADOW(10, 2.1e8, 2e7) } },
	  .figures = { { RUNS(8, 10000, 1000) }, { RUNS(4, 2.0e8, 2e6) } },
	  .others = HP_PROBLEM_CONTRADICTION },
	{ "a count that is more uncertain than it is large is not taken for more",
	  CODE(diamond),
	  { { SHADOW(0, 100000, 1000) }, { WAY(0, 4, 99000, 1500) }, { WAY(0, 8, 1000, 2000) } },
	  .figures = { { RUNS(8, 1000, 30) } } },
	{ "counts to each other say nothing of how often",
	  CODE(diamond),
	  { { SHADOW(0, 1000, 0) }, { SHADOW(4, 300, 0) }, { SAMPLED(6, 100) } },
	  .figures = { { PART(4, 0.3, 0.002) }, { PART(8, 0.7, 0.002) } },
	  .together = INFINITY,
	  .sources = 1u << HP_SOURCE_SHADOW,
	  .is_relative = true },
	{ "a source that knows the level lends it to one that does not",
	  CODE(diamond),
	  { { SHADOW(0, 10, 0) }, { SHADOW(4, 3, 0) }, { PROBE(4, 6000, 60) } },
	  .figures = { { RUNS(0, 20000, 400) }, { RUNS(8, 14000, 400) } },
	  .together = INFINITY },
	{ "all kinds of evidence go into one estimate",
	  CODE(nest),
	  { { SHADOW(2, 1000, 20) },
	    { RETIRED(105, 5) },
	    { TAKEN(4, 0.9, 0.003) },
	    { PROBE(10, 2, 0.02) },
	    { SAMPLED(4, 200) } },
	  .figures = { { RUNS(2, 1000, 60) },
		       { RUNS(0, 102, 6) },
		       { RUNS(10, 2, 0.1) },
		       { SHARE(2, 2, 0.9, 0.01) } },
	  .together = 0.05,
	  .sources = 1u << HP_SOURCE_SHADOW | 1u << HP_SOURCE_COUNTERS | 1u << HP_SOURCE_REGISTERS |
		     1u << HP_SOURCE_PROBES },
	/* 100 samples of a million cycles; a billion executions of a loop take at least as many. */
	{ "more than the time allows is told",
	  CODE(nest),
	  { { SAMPLED(4, 100) }, { SHADOW(2, 1e9, 1e6) } },
	  .problems = HP_PROBLEM_TOO_FAST },
	{ "what the time allows is not",
	  CODE(nest),
	  { { SAMPLED(4, 100) }, { SHADOW(2, 1e7, 1e4) } },
	  .others = HP_PROBLEM_TOO_FAST },
	{ "a counted jump through a shared table is what was counted",
	  CODE(interpreter),
	  { INTERPRETED, { WAY(46, 48, 10, 0) } },
	  .figures = { { GOES(32, 48, 10, 0.1) }, { RUNS(32, 350, 1) } } },
	{ "a target of a shared table that never ran gets nothing",
	  CODE(interpreter),
	  { { COUNT(0, 200) }, { COUNT(2, 600) }, { COUNT(25, 400) }, { COUNT(48, 0) } },
	  .figures = { { GOES(9, 48, 0, 0) }, { GOES(32, 48, 0, 0) }, { RUNS(55, 0, 0) } } },
	{ "the way with the samples is taken five times as often as the other, or more",
	  CODE(diamond),
	  { { SAMPLED(2, 400) }, { SAMPLED(6, 400) } },
	  .figures = { { PART(0, 1, 1e-6) }, { PART(4, 1, 1.0 / 6) }, { PART(8, 0, 1.0 / 6) } },
	  .is_relative = true },
	{ "evidence and samples outside the code change nothing",
	  CODE(diamond),
	  { { COUNT(0, 1000) }, { COUNT(500, 7) }, { SAMPLED(500, 100) } },
	  .figures = { { RUNS(0, 1000, 1) } } },
};

static void give(const struct given *given)
{
	for (; given->kind; given++) {
		if (given->kind == SAMPLES + 1)
			sampled(given->at, given->value);
		else
			said((enum hp_evidence_source)given->source,
			     (enum hp_evidence_kind)(given->kind - 1), given->at, given->value,
			     given->deviation);
		if (given->to)
			evidence[evidence_count - 1].to.value = FUZZ_CODE_ADDRESS + given->to;
	}
}

TEST(estimates_by_hand)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(rows); i++) {
		const struct row *row = &rows[i];

		begin();
		off_together[HP_SOURCE_SHADOW] = row->together;
		give(row->given);
		fuzz_with_image(row->code, row->bytes, analyse_code);
		ck_assert_msg(!failure, "%s: %s", row->name, failure ? failure->message : "");
		ck_assert_msg(!(found->problems & (row->others | HP_PROBLEM_NOT_CONVERGED)) &&
				      (found->problems & row->problems) == row->problems,
			      "%s: problems 0x%x", row->name, found->problems);
		assert_sound();
		for (const struct figure *figure = row->figures; figure->of; figure++)
			ck_assert_msg(fabs(figure_of(figure) - figure->value) <= figure->tolerance,
				      "%s: %g at %zu, not %g", row->name, figure_of(figure),
				      figure->at, figure->value);
		ck_assert_msg(found->is_absolute == !row->is_relative, "%s", row->name);
		ck_assert_msg(!row->sources || found->sources == row->sources, "%s: sources 0x%x",
			      row->name, found->sources);
		if (row->is_relative)
			ck_assert_msg(isnan(found->scale) && found->scale_high > 0, "%s",
				      row->name);
	}
}

TEST(code_without_samples_has_the_frequencies_of_its_shape)
{
	begin();
	RUN(nest);
	ck_assert(found->problems & HP_PROBLEM_FEW_SAMPLES);
	ck_assert_double_eq_tol(frequency(2)->relative, 1, 1e-9);
	ck_assert_double_lt(frequency(10)->relative, frequency(0)->relative);
	ck_assert_uint_eq(frequency(0)->confidence, HP_CONFIDENCE_LOW);
}

enum { BRANCHES = 30, COLD = 4 * BRANCHES + 1 };

/* test, jz to COLD, 30 times · ret · COLD: inc, ret */
static void make_branches(uint8_t bytes[COLD + 3])
{
	static const uint8_t end[] = { 0xc3, 0xff, 0xc0, 0xc3 };

	for (size_t i = 0; i < BRANCHES; i++) {
		uint8_t *branch = &bytes[4 * i];

		branch[0] = 0x85;
		branch[1] = 0xc0;
		branch[2] = 0x74;
		branch[3] = (uint8_t)(COLD - 4 * (i + 1));
	}
	memcpy(&bytes[COLD - 1], end, sizeof(end));
}

TEST(many_ways_that_nobody_took_do_not_add_up_where_they_meet)
{
	const double one = 1000; /* what each count stands for */
	uint8_t bytes[COLD + 3];

	make_branches(bytes);
	begin();
	for (size_t i = 0; i < BRANCHES; i++) {
		said(HP_SOURCE_SHADOW, HP_EVIDENCE_COUNT, 4 * i, 1e8, 2e6);
		said_of_edge(4 * i, COLD, 0, one);
		said_of_edge(4 * i, 4 * (i + 1), 1e8, 2e6);
	}
	said(HP_SOURCE_SHADOW, HP_EVIDENCE_COUNT, COLD, 0, one);
	RUN(bytes);
	ck_assert_uint_eq(found->problems & (HP_PROBLEM_CONTRADICTION | HP_PROBLEM_NOT_SOLVED), 0);
	ck_assert_double_lt(executions(COLD), one);
	ck_assert_double_eq_tol(executions(0), 1e8, 1e4);
	/* What runs three times as often as one count stands for is missed once in twenty times. */
	ck_assert_double_eq_tol(frequency(COLD)->executions_high, 3 * one, one);
}

TEST(what_one_source_is_off_by_together_is_no_doubt_between_its_counts)
{
	const struct hp_frequency *one;
	double half;

	begin();
	off_together[HP_SOURCE_SHADOW] = 0.1;
	said(HP_SOURCE_SHADOW, HP_EVIDENCE_COUNT, 0, 1000, 1);
	said(HP_SOURCE_SHADOW, HP_EVIDENCE_COUNT, 4, 300, 0.3);
	said(HP_SOURCE_SHADOW, HP_EVIDENCE_COUNT, 8, 700, 0.7);
	said(HP_SOURCE_SHADOW, HP_EVIDENCE_COUNT, 10, 1000, 1);
	RUN(diamond);
	ck_assert(found->is_absolute);
	one = frequency(4);
	ck_assert_double_eq_tol(one->executions, 300, 1);
	half = log(one->executions_high / one->executions);
	/* However many counts there are: the interval is that of their common error at least. */
	ck_assert_double_gt(half, 1.645 * 0.099);
	ck_assert_double_lt(log(one->relative_high / one->relative), half / 10);
}

/* One loop after another: nop; dec rax; jnz 1; dec rcx; jnz 6; ret */
static const uint8_t twins[] = { 0x90, 0x48, 0xff, 0xc8, 0x75, 0xfb,
				 0x48, 0xff, 0xc9, 0x75, 0xfb, 0xc3 };

/* The second one, too, or only the first. */
static void count_twins(bool both)
{
	begin();
	off_together[HP_SOURCE_SHADOW] = 0.01;
	sampled(1, 1000);
	sampled(6, 1000);
	said(HP_SOURCE_SHADOW, HP_EVIDENCE_COUNT, 0, 1, 0.01);
	said(HP_SOURCE_SHADOW, HP_EVIDENCE_COUNT, 1, 1e7, 1e5);
	said_of_edge(4, 1, 1e7, 1e5);
	if (both) {
		said(HP_SOURCE_SHADOW, HP_EVIDENCE_COUNT, 6, 1e7, 1e5);
		said_of_edge(9, 6, 1e7, 1e5);
	}
}

/* Each loop has a phase of its own; the graph has its blocks in order. */
static void set_phases(double first, double second)
{
	phase_of[1] = 1;
	phase_of[2] = 2;
	phase_deviation[0] = first;
	phase_deviation[1] = second;
	phase_count = 2;
}

/* How uncertain, as a factor. */
static double width(size_t at)
{
	return frequency(at)->executions_high / frequency(at)->executions_low;
}

TEST(counts_of_a_phase_are_off_together)
{
	count_twins(true);
	RUN(twins);
	ck_assert_double_lt(width(1), 1.1);
	count_twins(true);
	set_phases(0.2, 0.01);
	RUN(twins);
	/* However many counts the phase has. */
	ck_assert_double_gt(width(1), exp(2 * 1.645 * 0.15));
	ck_assert_double_lt(width(6), 1.15);
	phase_deviation[0] = NAN;
	assert_refused();
}

/* What one loop took says nothing of another one that ran when nobody counted. */
TEST(what_was_missed_has_a_pace_of_its_own)
{
	/* 100 cycles per execution of the first one, and so of the second. */
	count_twins(false);
	RUN(twins);
	ck_assert_double_lt(executions(6), 3e7);
	count_twins(false);
	set_phases(0.01, 0); /* nothing of the second was counted */
	missed[2] = true;
	RUN(twins);
	ck_assert_double_lt(width(1), 1.2);
	/* What is usual. */
	ck_assert_double_gt(executions(6), 2e8);
	ck_assert_double_gt(width(6), 30);
}

/* Windows that counted a block never saw it go to one that they missed: that they did not count the way
 * itself does not make it as likely as the other. */
TEST(a_way_to_what_was_missed_is_not_as_likely_as_counted_ones)
{
	begin();
	off_together[HP_SOURCE_SHADOW] = 0.05;
	phase_count = 1;
	phase_deviation[0] = 0.01;
	missed[2] = true;
	sampled(2, 3000); /* and at the end of a block: what is at a beginning may be from before */
	sampled(6, 3000);
	said(HP_SOURCE_SHADOW, HP_EVIDENCE_COUNT, 0, 1e9, 1e8);
	said(HP_SOURCE_SHADOW, HP_EVIDENCE_COUNT, 4, 1e9, 1e8);
	said(HP_SOURCE_SHADOW, HP_EVIDENCE_COUNT, 10, 1e9, 1e8);
	said_of_edge(2, 4, 1e9, 1e8);
	RUN(diamond);
	ck_assert_uint_eq(block_at(8), 2);
	ck_assert_double_lt(executions(8), 1e6);
	ck_assert_double_eq_tol(executions(0), 1e9, 1e6);
}

/* Precise counts, a long way from where the solve begins. */
TEST(a_level_far_away_is_found)
{
	static const double levels[] = { 1, 1e4, 1e8, 1e12, 1e15 };

	for (size_t i = 0; i < HP_ARRAY_COUNT(levels); i++) {
		double level = levels[i];

		begin();
		off_together[HP_SOURCE_SHADOW] = 0.02;
		sampled(0, 3);
		sampled(4, 20);
		sampled(8, 5);
		said(HP_SOURCE_SHADOW, HP_EVIDENCE_COUNT, 0, 100 * level, 0.05 * level);
		said(HP_SOURCE_SHADOW, HP_EVIDENCE_COUNT, 2, 5000 * level, 2.5 * level);
		said(HP_SOURCE_SHADOW, HP_EVIDENCE_COUNT, 6, 100 * level, 0.05 * level);
		said(HP_SOURCE_SHADOW, HP_EVIDENCE_COUNT, 10, level, 0.0005 * level);
		RUN(nest);
		ck_assert_uint_eq(
			found->problems & (HP_PROBLEM_NOT_SOLVED | HP_PROBLEM_CONTRADICTION), 0);
		ck_assert_double_eq_tol(executions(2) / level, 5000, 50);
		ck_assert_double_eq_tol(executions(10) / level, 1, 0.01);
	}
}

TEST(blocks_that_jump_through_one_table_share_its_distribution)
{
	const size_t from[] = { 9, 32, 55 };
	const double times[] = { 500, 350, 150 };

	begin();
	give((const struct given[]){ INTERPRETED, { 0 } });
	RUN(interpreter);
	for (size_t i = 0; i < HP_ARRAY_COUNT(from); i++) {
		ck_assert_double_eq_tol(executions(from[i]), times[i], times[i] * 0.002);
		ck_assert_double_eq_tol(edge(from[i], 2)->executions, times[i] * 0.4, 1);
		ck_assert_double_eq_tol(edge(from[i], 25)->executions, times[i] * 0.4, 1);
		ck_assert_double_eq_tol(edge(from[i], 48)->executions, times[i] * 0.2, 1);
		ck_assert_uint_eq(edge(from[i], 2)->confidence, HP_CONFIDENCE_LOW);
	}
	ck_assert_double_eq_tol(executions(71), 200, 1);
}

/* Times that the table led there. */
static double through(size_t to)
{
	double sum = 0;

	for (size_t from = 9; from <= 55; from += 23)
		sum += edge(from, to)->relative;
	return sum;
}

/* The outcomes of all three jumps through the table are one: 60, 30 and 10 of 100. A bias of theirs
 * leaves that much open, however many they are. */
TEST(outcomes_of_jumps_through_a_table_divide_what_goes_through_it)
{
	double narrow;

	begin();
	counted(0, 100);
	counted(71, 100);
	said(HP_SOURCE_SHADOW, HP_EVIDENCE_COUNT, 9, 10000, 10);
	for (size_t from = 9; from <= 55; from += 23) {
		outcome(from, 2, 2000, 0.1);
		outcome(from, 25, 1000, 0.1);
	}
	outcome(32, 48, 1000, 0.1);
	RUN(interpreter);
	ck_assert_double_eq_tol(through(2) / through(25), 2, 0.1);
	ck_assert_double_eq_tol(through(25) / through(48), 3, 0.3);
	narrow = frequency(48)->relative_high / frequency(48)->relative;
	ck_assert(found->sources & 1u << HP_SOURCE_REGISTERS);
	for (size_t i = 0; i < evidence_count; i++)
		if (evidence[i].kind == HP_EVIDENCE_OUTCOMES)
			evidence[i].deviation = 0.5;
	RUN(interpreter);
	ck_assert_double_gt(frequency(48)->relative_high / frequency(48)->relative, 1.3 * narrow);
}

enum {
	TARGETS = 64,
	TARGETS_AT = 25,
	TARGET_BYTES = 3,
	RETURN_AT = TARGETS_AT + TARGETS * TARGET_BYTES,
	TABLE_AT = RETURN_AT + 1,
};

/* A jump through a table of TARGETS targets. 0: cmp, ja to RETURN_AT · 9: lea, movslq, add, jmp · from 25 on
 * each target: inc, ret · RETURN_AT: ret · the table. */
static void make_table_jump(uint8_t code[TABLE_AT + 4 * TARGETS])
{
	static const uint8_t jump[TARGETS_AT] = {
		0x83, 0xff, TARGETS - 1, 0x0f, 0x87, RETURN_AT - 9, 0,
		0,    0,    0x48,	 0x8d, 0x15, TABLE_AT - 16, 0,
		0,    0,    0x48,	 0x63, 0x04, 0xba,	    0x48,
		0x01, 0xd0, 0xff,	 0xe0
	};

	memcpy(code, jump, sizeof(jump));
	for (int32_t i = 0; i < TARGETS; i++) {
		int32_t at = TARGETS_AT + i * TARGET_BYTES;
		int32_t from_table = at - TABLE_AT;

		memcpy(code + at, (const uint8_t[]){ 0xff, 0xc1, 0xc3 }, TARGET_BYTES);
		memcpy(code + TABLE_AT + 4 * i, &from_table, sizeof(from_table));
	}
	code[RETURN_AT] = 0xc3;
}

/* Otherwise ten outcomes would leave three of four executions to targets that nobody saw. */
TEST(what_was_not_seen_of_many_targets_is_shared_by_all_of_them)
{
	uint8_t code[TABLE_AT + 4 * TARGETS];

	make_table_jump(code);
	begin();
	counted(9, 1000);
	outcome(9, TARGETS_AT, 10, 0);
	RUN(code);
	ck_assert_double_gt(executions(TARGETS_AT), 600);
	ck_assert_double_lt(executions(TARGETS_AT), 1000);
	ck_assert_double_lt(executions(TARGETS_AT + TARGET_BYTES), 5);
}

TEST(more_evidence_makes_intervals_narrower)
{
	double before, between;

	begin();
	counted(0, 1000);
	RUN(diamond);
	before = width(8);
	sampled(6, 300);
	sampled(10, 700);
	RUN(diamond);
	between = width(8);
	counted(4, 300);
	RUN(diamond);
	ck_assert_double_lt(between, before);
	ck_assert_double_lt(width(8), between);
	ck_assert_uint_eq(frequency(8)->confidence, HP_CONFIDENCE_HIGH);
}

TEST(how_long_a_cycle_takes_is_nothing_to_relative_frequencies)
{
	double before;

	begin();
	sampled(2, 50);
	sampled(4, 300);
	sampled(8, 40);
	RUN(nest);
	before = frequency(6)->relative;
	for (size_t i = 0; i < sample_count; i++)
		samples[i].cycles *= 1000;
	RUN(nest);
	ck_assert_double_eq_tol(frequency(6)->relative, before, 1e-4 * before);
	ck_assert_double_lt(found->scale_high, INFINITY);
	/* Nor does anything else bound the scale. */
	is_clock_unknown = true;
	RUN(nest);
	ck_assert_double_gt(frequency(2)->relative, 0);
	ck_assert_double_infinite(found->scale_high);
}

TEST(without_a_clock_time_divides_what_was_counted_and_says_nothing_of_how_much)
{
	double before;

	begin();
	is_clock_unknown = true;
	counted(0, 1000);
	sampled(6, 300);
	sampled(10, 700);
	RUN(diamond);
	ck_assert(found->problems & HP_PROBLEM_NO_CLOCK);
	ck_assert_double_eq_tol(executions(0), 1000, 1);
	before = executions(4);
	for (size_t i = 0; i < sample_count; i++)
		samples[i].cycles *= 1000;
	RUN(diamond);
	ck_assert_double_eq_tol(executions(4), before, 0.02 * before);
	ck_assert_double_eq_tol(executions(0), 1000, 1);
	ck_assert_double_nan(found->blocks[0].cycles_per_execution);
	ck_assert_double_nan(found->blocks[0].cycles_per_execution_low);
}

/* --- where samples move to --------------------------------------------------------------------- */

/* No sample is recorded between the two, and what they wait for the comparison needs. */
TEST(samples_behind_a_fused_jump_are_those_of_its_comparison)
{
	/* ucomiss xmm0, xmm1; je 7; inc eax; 7: ret */
	static const uint8_t apart[] = { 0x0f, 0x2e, 0xc1, 0x74, 0x02, 0xff, 0xc0, 0xc3 };

	begin();
	sampled(4, 1000);
	sampled(8, 2000);
	RUN(diamond);
	ck_assert_double_eq_tol(found->insns[0].moved, 3000, 1e-9);
	ck_assert_double_eq(found->insns[1].moved, 0);
	begin();
	sampled(5, 1000);
	RUN(apart);
	ck_assert_double_eq(found->insns[0].moved, 0);
	ck_assert_double_eq_tol(found->insns[1].moved, 1000, 1e-9);
}

/* --- other estimators --------------------------------------------------------------------------- */

/* Section 6.1.4: what no sample says of the block at 8 is what the one at 4 leaves of the first. */
TEST(the_paper_s_estimator_propagates_what_samples_do_not_say)
{
	begin();
	estimator = HP_ESTIMATOR_DCPI;
	sampled(4, 1000);
	sampled(6, 30);
	fuzz_with_image(diamond, sizeof(diamond), analyse_code);
	hp_assert_ok(failure);
	ck_assert_double_eq_tol(frequency(0)->relative, 1, 1e-12);
	ck_assert_double_gt(frequency(4)->relative, 0);
	ck_assert_double_eq_tol(frequency(8)->relative, 1 - frequency(4)->relative, 1e-9);
	ck_assert_double_eq_tol(edge(0, 8)->relative, frequency(8)->relative, 1e-9);
	ck_assert(!found->is_absolute);
}

TEST(the_control_does_not_look_at_samples)
{
	double before;

	begin();
	estimator = HP_ESTIMATOR_CONTROL;
	RUN(diamond);
	before = frequency(4)->relative;
	sampled(6, 1e6);
	RUN(diamond);
	ck_assert_double_eq_tol(frequency(4)->relative, before, 1e-9);
}

HP_TEST_MAIN("analyze/frequency")
