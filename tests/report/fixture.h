/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A database in a temporary directory, filled by hand, and reports from it as strings. */
#ifndef TESTS_REPORT_FIXTURE_H
#define TESTS_REPORT_FIXTURE_H

#include "../support.h"

#include <hpcprof/db/db.h>
#include <hpcprof/report/report.h>

/* A database; removed when the test ends. */
struct fixture {
	struct hp_db *db;
	char *output;	/* of the last report */
	char *warnings; /* what it told the notices, one a line */
	unsigned hints; /* how many, of all reports */
};
struct fixture *fixture_create(void);

/* One address of an image: samples of `command` at `offset` with `period`. */
struct fixture_count {
	const char *event;
	const struct hp_image_id *image;
	const char *command;
	uint32_t pid;
	uint64_t period;
	uint64_t offset;
	uint64_t samples;
};

enum { FIXTURE_EVENTS = 40 }; /* the most of an epoch */

/* Where samples were taken. */
struct fixture_place {
	uint32_t tid;
	const char *thread; /* NULL unknown */
	uint32_t cpu;	    /* plus 1; 0 unknown */
};

struct fixture_epoch {
	const char *label;
	const struct fixture_count *counts;
	size_t count;
	bool per_process;
	uint64_t cpu_ns;		    /* of the target; 0: not known */
	uint64_t system_ns;		    /* of that, in the kernel */
	const struct fixture_place *places; /* of each count; NULL: not told apart */
	const struct hp_symbol *symbols;    /* kept for every image that is no file */
	size_t symbol_count;
	char **warnings;
	const char *instead_of;			   /* of every event */
	double clock_hz;			   /* 0: not measured */
	uint64_t sample_cost_ns;		   /* 0: not measured */
	const struct hp_cpu *cpu;		   /* NULL: not known */
	uint32_t skid_instructions;		   /* of every event */
	const struct hp_window_evidence *evidence; /* NULL: no windows */
	const struct hp_paths *paths;		   /* NULL: none */
	struct hp_command_times *commands;
	size_t command_count;
	uint64_t later_ns;	/* than the first epoch */
	const double *coverage; /* of each event, cpu-clock:u first; NULL: not known */
};

/* Writes an epoch: events in order of appearance, cpu-clock in ns, others as events. */
void fixture_add(struct fixture *fixture, const struct fixture_epoch *epoch);
/* A database of this epoch, or of one that has these counts and nothing else. */
struct fixture *fixture_of_epoch(const struct fixture_epoch *epoch);
#define fixture_of_counts(array)                                                                   \
	fixture_of_epoch(&(const struct fixture_epoch){ .counts = (array),                         \
							.count = HP_ARRAY_COUNT(array) })

/* Reports the labelled epochs (NULL ends). The error is the caller's. */
struct hp_error *fixture_report(struct fixture *fixture, const struct hp_report_options *options,
				const char *const *labels);
/* The same of the only epoch; must succeed. Returns the output, the fixture's. */
const char *fixture_output(struct fixture *fixture, const struct hp_report_options *options);

/* For options of a report, and texts that a report with them of the only epoch holds. */
#define REPORT(...) (&(const struct hp_report_options){ __VA_ARGS__ })
#define assert_shows(fixture, options, ...)                                                        \
	fixture_shows(fixture, options, (const char *const[]){ __VA_ARGS__, NULL })
void fixture_shows(struct fixture *fixture, const struct hp_report_options *options,
		   const char *const *parts);

/* Sum of column `index` (from 0) over the records of CSV without quoted line ends. */
uint64_t fixture_csv_sum(const char *csv, size_t index);
size_t fixture_csv_records(const char *csv);

void assert_contains(const char *text, const char *part);
void assert_lacks(const char *text, const char *part);

/* The test's own program: its image, once it was looked for. */
extern struct hp_image_id self;
void find_self(void);
/* Of the file; borrows its name. */
void identify(const char *path, struct hp_image_id *id);
/* Of any code in this process: in its image's file. */
uint64_t link_address(const char *at);
uint64_t offset_of(const char *at);

extern const struct hp_image_id fixture_jit;
extern const struct hp_image_id fixture_unknown;
extern const struct hp_image_id fixture_missing;

#endif
