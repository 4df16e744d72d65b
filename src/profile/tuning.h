/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The constants that decide what is said of a profile. Each is [chosen], and a plain literal on one
 * line. */
#ifndef PROFILE_TUNING_H
#define PROFILE_TUNING_H

/* share of the samples of some event; what is wrong with an image that has less is not said;
 * [chosen] */
static const double noticed_share = 0.01;

enum {
	/* other procedures that a name stands for, too, which are told; [chosen] */
	MOST_OTHERS = 4,
	/* procedures suggested where a name stands for none; [chosen] */
	MOST_SUGGESTIONS = 5,
	/* length of a name over the changes that make it another, for the other to be suggested, at
	 * least; [chosen] */
	LENGTH_PER_CHANGE = 3,
};

#endif
