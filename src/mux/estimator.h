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
/* Blocks of steps belong to two halves alternately: see HALF_BLOCK. */
#define HALVES 2

struct observation {
	double begin, end; /* positions; end - begin is the length that was counted, above 0 */
};

/* The part of the run that an observation represents, while the gap after it is not known yet. */
struct cell {
	double left; /* its part of the gap before the observation */
	/* expected squared difference from the previous observation */
	double step_before[SHAPE_COUNT];
	bool has_before;
};

/* Sums of products of the steps of two variables (of squares, if they are one). */
struct products {
	double variance[SHAPE_COUNT]; /* variance of the closed cells, for each shape alone */
	double lags[FIT_LAGS];	      /* of pairs at each distance */
	double steps;		      /* weighted by the squared length of the cell */
};

/* Sums for one variable, with itself and with known variables, from half of the steps. */
struct half {
	struct products own;
	struct products with[KNOWN_MAX];
};

/* How unevenly a variance is composed of terms. Neighbours share an observation, and a burst makes
 * two terms. */
struct spread {
	/* `neighbours`: sum of products of each term with the one before */
	double count, sum, squares, neighbours;
	double last;
};

/* An event of a track, or a known variable. */
struct variable {
	double rates[FIT_REACH];       /* in the track's last observations */
	double rate_sum, rate_squares; /* over all observations so far */
	double counted;		       /* in this interval */
	double trapezoid;	       /* in this interval, up to the end of the last observation */
	double interpolated;	       /* likewise */
	double step;		       /* difference of the last two rates */
	double carried;		       /* counted in slices too short for a rate */
	struct half halves[HALVES];
	/* Of events only: what known variables leave of their steps; degrees of freedom and
	 * covariances come from it. */
	double rest;
	struct spread spread;
};

struct track {
	double observed; /* length observed in this interval */
	double carried;	 /* of that, length of slices too short for a rate */
	/* between the first two observations; it sets the ladder of memories */
	double distance;
	uint64_t seen;			    /* number of observations so far */
	struct observation last[FIT_REACH]; /* the newest is at (seen - 1) % FIT_REACH */
	struct cell open;		    /* of the last observation */
	double geometry[SHAPE_COUNT];	    /* sums over the closed cells */
	struct fit_pairs pairs;
	double *cross; /* event_count × event_count: weighted sums of products of rests */
	struct variable known[KNOWN_MAX];
	size_t known_count;
};

struct line {
	double position;	/* end of the last slice */
	double per_enabled;	/* ns per unit of time enabled, in the previous slice */
	double counted, slices; /* length counted in all slices so far, and their number */
	struct track *tracks;
	struct variable *events;
};

/* What does not depend on the measure. */
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
	struct hp_mux_plan plan; /* a copy, with its own groups */
	struct hp_mux_group *groups;
	struct line lines[MEASURES];
	/* one per group, and one for the events always counted; likewise tracks */
	struct tally *tallies;
	struct tally_event *events;
	uint64_t begin_ns, now_ns; /* start of the interval; end of the last slice */
	double between_ns;	   /* time between slices */
	double enabled_per_ns;	   /* in the previous slice */
	bool has_rates, has_past;  /* `has_past`: there was an interval before this one */
};

/* The length of a time between slices, or without a counter. */
struct gap {
	double length[MEASURES];
};
struct gap hp_mux_gap_of(const struct hp_mux_estimator *estimator, uint64_t ns);

/* The steps of two variables before and after an observation, and the expected squares of each. */
struct steps {
	const double *before_expected, *after_expected; /* NULL: unknown */
	double before, after;				/* products of the two variables' steps */
};
/* Adds what a cell contributes to the variance, for each shape. */
void hp_mux_cell_variance(const struct steps *steps, const double geometry[SHAPE_COUNT],
			  double variance[SHAPE_COUNT]);

/* The coefficients with which the first `count` known variables of a track explain a variable's
 * steps: those of one half, or of all (HALVES). */
void hp_mux_regress(const struct track *track, const struct variable *variable, size_t count,
		    int half, double slope[KNOWN_MAX]);

/* Makes empty estimates of `count` events; NULL: out of memory. */
struct hp_mux_estimates *hp_mux_estimates_blank(size_t count);
/* Sets low and high of a count from its variance and degrees of freedom; the verdict may become
 * insufficient. */
void hp_mux_estimate_bound(struct hp_mux_estimate *event, double variance);

/* The half that the steps around the newest observation belong to. */
static inline int hp_mux_half(const struct track *track)
{
	return (int)(track->seen / HALF_BLOCK % HALVES);
}

static inline const struct observation *hp_mux_newest(const struct track *track)
{
	return &track->last[(track->seen - 1) % FIT_REACH];
}

#endif
