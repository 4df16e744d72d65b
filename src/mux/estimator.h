/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an estimator remembers: sums, and the last few observations. estimator.c adds slices,
 * estimates.c reads the result off.
 *
 * All of it is kept for two measures of length, enabled time and the ruler. By time, each track
 * also estimates what is known anyway, the ruler and the first few of the events that are always
 * counted: how far that is off says how far its own events are. These are called known.
 *
 * A track is a group's, or that of the events which every slice counts. A position is a length
 * since the interval began. The last observation's cell stays open until the next one tells how
 * long its gap is.
 */
#ifndef HPCPROF_SRC_MUX_ESTIMATOR_H
#define HPCPROF_SRC_MUX_ESTIMATOR_H

#include "fit.h"

#include <hpcprof/mux/estimate.h>

enum { BY_TIME, BY_RULER, MEASURES };
#define KNOWN_MAX 4 /* the ruler, and up to three events */

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

/* An event of a track, or something known. */
struct variable {
	double rates[FIT_REACH]; /* of the track's last observations */
	double trapezoid;	 /* so far, up to the last observation's end */
	double step;		 /* difference of the last two rates */
	double carried;		 /* counted in slices too short to say anything of a rate */
	struct products own;
	struct products with[KNOWN_MAX];
	/* Of an event only: what the known leave of its steps, which the degrees of freedom and the
	 * covariance of events come from. */
	double rest;
	double terms, terms_squared;
};

struct track {
	double observed;		    /* length in this interval */
	double carried;			    /* of that, in slices too short */
	double distance;		    /* of the first two observations; sets the ladder */
	uint64_t seen;			    /* observations ever */
	struct observation last[FIT_REACH]; /* newest at (seen - 1) % FIT_REACH */
	struct cell open;		    /* of the last observation */
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
	double interpolated_ns; /* enabled ns at the end of the last slice in which it counted */
};

struct tally_event {
	uint64_t raw;
	double interpolate; /* so far, up to interpolated_ns */
	double squares;	    /* of the counts of slices */
	double slope;	    /* a ns, of the last time it was counted */
};

struct hp_mux_estimator {
	struct hp_mux_plan plan; /* its groups are ours */
	struct hp_mux_group *groups;
	struct line lines[MEASURES];
	int measures;	       /* that there are */
	struct tally *tallies; /* of each group, then of the events always counted; so are tracks */
	struct tally_event *events;
	uint64_t begin_ns, now_ns; /* of the interval; end of the last slice */
	double between_ns;	   /* between slices */
	double enabled_per_ns;	   /* in the slice before */
	bool has_rates;
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

/* The coefficients with which a track's known things explain the steps of a variable. */
void hp_mux_regress(const struct track *track, const struct variable *variable,
		    double slope[KNOWN_MAX]);

/* Estimates of `count` events with nothing in them; NULL for want of memory. */
struct hp_mux_estimates *hp_mux_estimates_blank(size_t count);
/* Puts low and high to a count by its variance, freedom and verdict, which may become insufficient.
 */
void hp_mux_estimate_bound(struct hp_mux_estimate *event, double variance);

static inline const struct observation *hp_mux_newest(const struct track *track)
{
	return &track->last[(track->seen - 1) % FIT_REACH];
}

#endif
