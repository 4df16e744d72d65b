/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The analysis of all sampled procedures: the stalls of the whole profile, and how its cycles were
 * spent.
 */
#ifndef REPORT_STALLS_SURVEY_H
#define REPORT_STALLS_SURVEY_H

#include "../common/state.h"
#include <hpcprof/analyze/penalties.h>

/* One instruction that stalls. Its row has image, name and address, and, if it is shown, file and
 * line. */
struct stall {
	struct hp_row row;
	const struct hp_row_code *code;
	const struct hp_analysis *analysis;
	const struct hp_analysed_insn *insn;
	double cycles;		  /* likeliest stall cycles of all executions together */
	struct hp_range possible; /* likewise */
	/* Share of the whole profile's cycles, 0 to 1: the range covers the possible frequencies
	 * and the chance in samples. It contains the share of `cycles`. */
	struct hp_range share;
};

enum { SURVEY_PROBLEMS = 16 };

struct survey {
	struct hp_stall_sheet sheet;
	double cycles; /* of the whole profile, regardless of filters; 0: without a clock */
	/* samples of the event that measures time, that pass the filters; without those in the
	 * kernel, */
	uint64_t samples;
	uint64_t kernel;  /* whose code cannot be analysed */
	uint64_t few;	  /* of `samples`: in procedures with too few samples to find causes */
	double refused;	  /* of `samples`: in code that could not be analysed */
	size_t simulated; /* number of simulated instructions; for SURVEY_TIMED, of procedures */
	/* SURVEY_TIMED: the sum over them, by these penalties. */
	struct hp_prediction prediction;
	struct hp_cpi_sum stack;
	struct hp_penalties penalties;
	double scaled;	   /* cycles in those whose executions are unknown */
	size_t procedures; /* number of analysed procedures */
	size_t counted;	   /* of these: number with counts */
	bool is_absolute;  /* all of them have absolute counts */
	unsigned problems; /* of any of them: bits of enum hp_analysis_problem */
	struct trouble {
		size_t procedures;
		uint64_t samples; /* samples in these procedures */
				  /* by number of the problem's bit: procedures with that problem */
	} troubles[SURVEY_PROBLEMS];
	HP_VECTOR(struct stall) stalls; /* the worst first, with limits applied */
	size_t hidden;			/* number of stalls cut by limits */
	double hidden_cycles;
};

/* What is listed: stalls; or simulated instructions (loads and stores, or branches) with the stalls
 * that each causes. Lists need rows of procedures. */
enum survey_list {
	SURVEY_NO_LIST,
	SURVEY_STALLS,
	SURVEY_MEMORY,
	SURVEY_BRANCHES,
	SURVEY_TIMED, /* simulated procedures; one row each, without an instruction */
};

/* Whether the view lists simulated instructions. */
static inline bool shows_culprits(const struct hp_report_options *options)
{
	return options->view == HP_VIEW_MEMORY || options->view == HP_VIEW_BRANCHES;
}

/* requires: hp_profiles_attribute, of a view that needs code. */
struct hp_error *survey_make(struct report *report, enum survey_list list, struct survey *survey);
void survey_clear(struct survey *survey);
/* The number of stalls left by limits; survey_make has removed the others. */
size_t survey_shown(const struct report *report, const struct survey *survey);

/* Share of the whole profile's cycles, 0 to 1. */
double survey_share(const struct survey *survey, double cycles);

/* Stall cycles per execution: the likeliest value, if executions are absolute (otherwise NAN), and
 * the lower limit. */
double stall_average(const struct stall *stall);
double stall_average_low(const struct stall *stall);

#endif
