/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an estimator keeps: sums, and the last few observations. estimator.c adds slices,
 * estimates.c makes estimates.
 *
 * Terms:
 *	measure		everything is kept for two measures of length: enabled time, and counts of the
 *			reference event
 *	track		the slices of one group; or of the events that every slice counts
 *	position	a length since the interval began
 *	known		whose total is known: the reference event, and the first few of the events that
 *			are always counted. Each track estimates them by time as well; the error of that
 *			estimate tells the error of the track's own events
 *	cell		the part of the run that an observation stands for. That of the last observation
 *			stays open until the next one ends the gap behind it
 */
#ifndef HPCPROF_SRC_MUX_ESTIMATOR_H
#define HPCPROF_SRC_MUX_ESTIMATOR_H

#include "fit.h"
#include "tuning.h"

#include <hpcprof/mux/estimate.h>

enum { BY_TIME, BY_REFERENCE, MEASURES };
/* Blocks of steps take turns between two halves: see HALF_BLOCK. */
#define HALVES 2

struct observation {
	double begin, end; /* positions; end - begin is what was counted, > 0 */
};

/* The part of the run that an observation stands for, while the gap after it is not known. */
struct cell {
	double left;			 /* of the gap before it */
	double step_before[SHAPE_COUNT]; /* E of the squared difference to the one before */
	bool has_before;
};

/* Sums of products of the steps of two variables (of squares, of one). */
struct products {
	double variance[SHAPE_COUNT]; /* closed cells, if all were of that shape */
	double lags[FIT_LAGS];	      /* of the pairs that far apart */
	double steps;		      /* weighted by the length of the cell, squared */
};

/* Of one variable with itself and with what is known, from half the steps. */
struct half {
	struct products own;
	struct products with[KNOWN_MAX];
};

/* How unevenly a variance is made up of terms. Neighbours have an observation in common, and a
 * burst makes two of them. */
struct spread {
	double count, sum, squares, neighbours; /* products of each with the one before */
	double last;
};

/* An event of a track, or something known. */
struct variable {
	double rates[FIT_REACH];       /* of the track's last observations */
	double rate_sum, rate_squares; /* of all observations ever */
	double counted;		       /* so far, in this interval */
	double trapezoid;	       /* so far, up to the last observation's end */
	double interpolated;	       /* so is this */
	double step;		       /* difference of the last two rates */
	double carried;		       /* counted in slices too short to say anything of a rate */
	struct half halves[HALVES];
	/* Of an event only: what the known leave of its steps, which the degrees of freedom and the
	 * covariance of events come from. */
	double rest;
	struct spread spread;
};

struct track {
	double observed;		    /* length in this interval */
	double carried;			    /* of that, in slices too short */
	double distance;		    /* of the first two observations; sets the ladder */
	uint64_t seen;			    /* observations ever */
	struct observation last[FIT_REACH]; /* newest at (seen - 1) % FIT_REACH */
	struct cell open;		    /* of the last observation */
	double geometry[SHAPE_COUNT];	    /* sums over the closed cells */
	struct fit_pairs pairs;
	double *cross; /* event_count × event_count: sums of products of rests, weighted */
	struct variable known[KNOWN_MAX];
	size_t known_count;
};

struct line {
	double position;	/* the end of the last slice */
	double per_enabled;	/* ns, in the slice before */
	double counted, slices; /* length counted in all slices ever, and how many */
	struct track *tracks;
	struct variable *events;
};

/* What does not hang on the measure. */
struct tally {
	uint32_t first_event, event_count;
	uint64_t slices;
	double running_ns;
};

struct tally_event {
	uint64_t raw;
	double squares; /* of the counts of slices */
};

struct hp_mux_estimator {
	struct hp_mux_plan plan; /* its groups are ours */
	struct hp_mux_group *groups;
	struct line lines[MEASURES];
	struct tally *tallies; /* of each group, then of the events always counted; so are tracks */
	struct tally_event *events;
	uint64_t begin_ns, now_ns; /* of the interval; end of the last slice */
	double between_ns;	   /* between slices */
	double enabled_per_ns;	   /* in the slice before */
	bool has_rates, has_past;  /* has_past: an interval came before this one */
};

/* A time between slices, or without a counter, as a length. */
struct gap {
	double length[MEASURES];
};
struct gap hp_mux_gap_of(const struct hp_mux_estimator *estimator, uint64_t ns);

/* The steps before and after an observation of two variables, and what is expected of each. */
struct steps {
	const double *before_expected, *after_expected; /* NULL: not known */
	double before, after;				/* products */
};
/* What a cell adds to the variance, shape by shape. */
void hp_mux_cell_variance(const struct steps *steps, const double geometry[SHAPE_COUNT],
			  double variance[SHAPE_COUNT]);

/* The coefficients with which the first `count` of a track's known things explain the steps of a
 * variable: those of one half, or with HALVES all. */
void hp_mux_regress(const struct track *track, const struct variable *variable, size_t count,
		    int half, double slope[KNOWN_MAX]);

/* Estimates of `count` events with nothing in them; NULL for want of memory. */
struct hp_mux_estimates *hp_mux_estimates_blank(size_t count);
/* Puts low and high to a count by its variance, freedom and verdict, which may become insufficient.
 */
void hp_mux_estimate_bound(struct hp_mux_estimate *event, double variance);

/* Which half the steps around the newest observation belong to. */
static inline int hp_mux_half(const struct track *track)
{
	return (int)(track->seen / HALF_BLOCK % HALVES);
}

static inline const struct observation *hp_mux_newest(const struct track *track)
{
	return &track->last[(track->seen - 1) % FIT_REACH];
}

#endif
