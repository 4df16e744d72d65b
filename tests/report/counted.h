/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What windows counted, made up, of this very program: four windows of 100 ms, in which two
 * procedures of known code ran, stand for 4 s: ten times as much. A test changes what count_all()
 * makes, records it, and looks at reports. On x86-64 only.
 */
#ifndef TESTS_REPORT_COUNTED_H
#define TESTS_REPORT_COUNTED_H

#include "../json.h"
#include "fixture.h"

/* --- this program: places in its code, in order ------------------------------------------------- */

extern const char counted_loop[], counted_body[], counted_back[], counted_jump[], counted_end[];
extern const char counted_leaf[], counted_leaf_jump[], counted_leaf_then[], counted_leaf_end[];
extern const char counted_hidden[], counted_hidden_jump[], counted_hidden_target[];
extern const char counted_after[];
int counted_function(int x);
extern const unsigned line_of_counted_function;

/* --- windows ---------------------------------------------------------------------------------- */

enum { WINDOWS = 4, PARTS = HP_WINDOW_PARTS, MOST_ITEMS = 24 };
static const uint64_t window_ns = 100000000;

extern struct hp_counted items[MOST_ITEMS];
extern size_t item_count;
extern struct hp_window_stratum stratum;
extern struct hp_window_evidence windows;
extern struct hp_command_times command_times;
extern char command[];
/* Of the items that are added from now on. */
extern bool is_relative;

/* In each window about 100 runs of counted_loop; a quarter of the calls find 0. */
extern const uint64_t entered[WINDOWS], around[WINDOWS], zero[WINDOWS], other[WINDOWS];

/* All of it, anew; what is added or taken away is to be sorted. */
void count_all(void);
/* The first ones only. */
void keep_windows(size_t count);
/* Of windows of one part each. */
void set_counts(struct hp_counted *item, const uint64_t *counts);
void block(const char *start, const char *end, uint32_t instructions, const uint64_t *counts);
void edge(enum hp_counted_kind kind, const char *from, const char *to, const uint64_t *counts);
int compare_items(const void *a, const void *b);
void sort_items(void);
void forget_item(size_t i);

/* Samples in windows: the loop's, and the leaf's after its branch. */
extern struct hp_counted ticks[2];
void take_ticks(void);
/* In the part `part` of each window from `first` to `end`. */
void put_ticks(size_t place, size_t first, size_t end, size_t part, uint64_t count);

/* --- recordings ------------------------------------------------------------------------------- */

/* A sample a millisecond. */
#define clock_at(at, samples)                                                                      \
	{                                                                                          \
		"cpu-clock:u", &self, "t", 0, 1000000, offset_of(at), samples                      \
	}

struct fixture *record_counts(const struct fixture_count *counts, size_t count);
/* 4 s at 3 GHz: half of it in the loop, half in the leaf. Of the leaf some are of another
 * command. */
struct fixture *record(uint64_t of_others);

/* --- reports ---------------------------------------------------------------------------------- */

json_t *report_json(struct fixture *fixture, const struct hp_report_options *options);
json_t *view_of(struct fixture *fixture, enum hp_report_view view);
json_t *listed(struct fixture *fixture, const char *name);
json_t *instruction_at(json_t *procedure, const char *at);
/* `which`: "estimate", "low", "high", "relative" */
double executions(json_t *procedure, const char *at, const char *which);
bool has_source(json_t *procedure, const char *source);
/* All that a figure of executions has in JSON: numbers, or nothing. */
bool has_null(json_t *object);

void assert_near(double value, double expected, double share);
/* What a figure has to be; 0: whatever it is. */
struct expected {
	double estimate;
	double within; /* as a share */
	double low_above;
	double low_below;
	double high_above;
	double high_below;
};
void assert_figure(json_t *figure, const char *what, struct expected expected);
void assert_leaf_runs(struct fixture *fixture, double estimate, double within);

#endif
