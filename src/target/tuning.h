/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chosen constants of targets: how two commands share a CPU, and how often a target is looked at.
 *
 * Each stands on a line of its own, as NAME = VALUE, with its unit behind it and its reason above it.
 * [chosen]: nobody has measured it; scripts/sensitivity finds it by this mark. [bound]: it limits
 * memory or work where input is hostile or rare: no ordinary program reaches it.
 */
#ifndef HPCPROF_SRC_TARGET_TUNING_H
#define HPCPROF_SRC_TARGET_TUNING_H

enum {
	/* The kernel's slice of two commands on one CPU. Measured on bzip2 in pairs of 3 s (Zen 4, a busy
	 * host): one run's time divided by the other's has a standard deviation of 8.1 % when they run one
	 * after the other. On one CPU it is 1.0 % with the kernel's slices of 3 ms, which cost 25 % of time
	 * for cold caches; 0.8 % and no such cost with 6 ms; 1.0 % with 12 ms, up to 2.8 % with 20 ms. */
	SHARED_SLICE_NS = 6000000, /* ns; the measurement above */
	/* timeout(1) and others signal hpcprof and then its whole process group: that is one interrupt. */
	SAME_INTERRUPT_NS = 200000000, /* ns [chosen] */
	/* How often threads are looked at for how long they waited for a CPU: what a thread waits between
	 * its last look and its end is missed. */
	LOOK_EVERY_MS = 10, /* ms [chosen] */
	/* Threads whose waiting is known, and processes that started each other. */
	MOST_THREADS = 16384,	 /* threads [bound] */
	DEEPEST_DESCENDANT = 32, /* processes [bound] */
};

#endif
