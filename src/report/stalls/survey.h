/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The analysis of all sampled procedures: the stalls of the whole profile, and how its cycles were
 * spent.
 */
#ifndef REPORT_STALLS_SURVEY_H
#define REPORT_STALLS_SURVEY_H

#include "../common/state.h"
#include <hpcprof/analyze/penalties.h>

/* One instruction that stalls. Its row has image, name, address and, for those that are shown,
 * file and line. */
struct stall {
	struct hp_row row;
	const struct hp_row_code *code;
	const struct hp_analysis *analysis;
	const struct hp_analysed_insn *insn;
	double cycles;		  /* of stall, likeliest; all executions together */
	struct hp_range possible; /* likewise */
	/* Share of the whole profile's cycles, 0 to 1: of the frequencies that are possible, and of
	 * chance in the samples. Holds that of `cycles`. */
	struct hp_range share;
};

enum { SURVEY_PROBLEMS = 16 };

struct survey {
	struct hp_stall_sheet sheet;
	double cycles;	  /* of the whole profile, what passes no filter too; 0 without a clock */
	uint64_t samples; /* of the event that measures time, that pass; but those in the kernel, */
	uint64_t kernel;  /* whose code is not there to be analysed */
	uint64_t few;	  /* of these, in procedures with too few samples to ask why */
	double refused;	  /* of these, in code that could not be analysed */
	size_t simulated; /* instructions that were; of SURVEY_TIMED procedures */
	/* SURVEY_TIMED: of all of them, by these penalties. */
	struct hp_prediction prediction;
	struct hp_cpi_stack stack; /* a sum that was not ended */
	struct hp_penalties penalties;
	double scaled;	   /* cycles of those of them whose executions are not known */
	size_t procedures; /* analysed */
	size_t counted;	   /* of these, those with evidence that counts */
	bool is_absolute;  /* all of them are */
	unsigned problems; /* of any of them: enum hp_analysis_problem */
	struct trouble {
		size_t procedures;
		uint64_t samples;	/* in them */
	} troubles[SURVEY_PROBLEMS];	/* with each of these problems, by its bit's number */
	HP_VECTOR(struct stall) stalls; /* the worst first, the limits applied */
	size_t hidden;			/* cut by limits */
	double hidden_cycles;
};

/* What is listed: stalls; or instructions that were simulated, with the stalls that each causes:
 * loads and stores, or branches. Lists need rows of procedures. */
enum survey_list {
	SURVEY_NO_LIST,
	SURVEY_STALLS,
	SURVEY_MEMORY,
	SURVEY_BRANCHES,
	SURVEY_TIMED, /* procedures that were simulated: a row each, without an instruction */
};

/* Whether the view lists instructions that were simulated. */
static inline bool shows_culprits(const struct hp_report_options *options)
{
	return options->view == HP_VIEW_MEMORY || options->view == HP_VIEW_BRANCHES;
}

/* requires: attribute_samples of a view that needs code */
struct hp_error *survey_make(struct report *report, enum survey_list list, struct survey *survey);
void survey_clear(struct survey *survey);
/* How many of its stalls the limits leave; survey_make has cut the others off. */
size_t survey_shown(const struct report *report, const struct survey *survey);

/* Share of the whole profile's cycles, 0 to 1. */
double survey_share(const struct survey *survey, double cycles);

/* Cycles of stall each time the instruction runs: what is likeliest where that is absolute (else
 * NAN), and at least. */
double stall_average(const struct stall *stall);
double stall_average_low(const struct stall *stall);

#endif
