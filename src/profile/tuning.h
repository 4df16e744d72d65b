/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The constants that decide what is said of a profile, each a plain literal on one line. [shown]:
 * chosen for readers; no figure depends on it. */
#ifndef PROFILE_TUNING_H
#define PROFILE_TUNING_H

/* share of the samples of some event; what is wrong with an image that has less is not said;
 * [shown] */
static const double noticed_share = 0.01;

enum {
	/* other procedures that a name stands for, too, which are told; [shown] */
	MOST_OTHERS = 4,
	/* procedures suggested where a name stands for none; [shown] */
	MOST_SUGGESTIONS = 5,
	/* length of a name over the changes that make it another, for the other to be suggested, at
	 * least; [shown] */
	LENGTH_PER_CHANGE = 3,
};

#endif
