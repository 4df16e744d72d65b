/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The attributed model: what the views are made of and the writers print.
 *
 * Loading fills epochs, events, images and parts; attribution turns parts into rows; selection
 * sorts and cuts the rows. Everything that is not owned elsewhere lives in the arena, as long as
 * the report. Texts are raw here: each writer escapes them for its format.
 */
#ifndef REPORT_MODEL_H
#define REPORT_MODEL_H

#include <hpcprof/analyze/analysis.h>
#include <hpcprof/base/arena.h>
#include <hpcprof/base/vector.h>
#include <hpcprof/cfg/cfg.h>
#include <hpcprof/db/db.h>
#include <hpcprof/image/image.h>
#include <hpcprof/model/evidence.h>
#include <hpcprof/report/report.h>

/* Samples of one event: raw; what they stand for (in units): times their period, over the share of
 * the time for which the event had a counter in their epoch; and that in core cycles, each epoch's
 * by its own clock (0 where that is not known, or the event does not measure time). */
struct tally {
	uint64_t samples;
	double weight;
	double cycles;
};

static inline void tally_add(struct tally *into, const struct tally *from)
{
	into->samples += from->samples;
	into->weight += from->weight;
	into->cycles += from->cycles;
}

struct report_epoch {
	const char *stamp;
	const struct hp_epoch_meta *meta; /* the epoch's */
	struct hp_epoch *epoch;		  /* owned */
	uint64_t *command_samples;	  /* meta's commands times the report's events */
	bool recording;
	uid_t owner; /* who recorded; (uid_t)-1 unknown */
};

/* One event summed over the epochs that have it. */
struct report_event {
	const struct hp_event_info *info; /* as the first epoch has it */
	struct tally all;		  /* everything recorded: what percentages are of */
	struct tally kept;		  /* what passes the filters: what the rows add up to */
	bool lacks_clock;		  /* some of it is of epochs without one that it needs */
	double units;			  /* sum of samples times period, not scaled by anything */
	uint64_t unattributed;
	uint64_t lost;
	uint64_t throttled;
	uint64_t enabled_ns;
	uint64_t running_ns;
	double cpu_ns; /* that the targets used, see hp_epoch_cpu_times */
	double system_ns;
	uint64_t least_period;
	uint64_t greatest_period;
	double frequency_hz; /* asked for, by the first epoch */
};

struct report_image {
	size_t index;		/* in the report's images */
	struct hp_image_id id;	/* strings in the arena */
	const char *short_name; /* last part of the path, or more where that is ambiguous */
	const char *build_id;	/* hexadecimal; NULL without one */
	const char *problem;	/* why its file gave no names, else NULL */
	const char *advice;	/* what to do about it, or NULL */
	const char *kept; /* what epochs kept of its file and why that is used; NULL: it was read */
	const char *
		left_out; /* of its names and lines, because its file asks for too much; NULL: nothing */
	const char *origin; /* where names came from; NULL with a problem */
	bool has_lines;
	struct tally *tallies;	/* that pass --comm and --pid; one an event */
	struct tally *nameless; /* of these, in code without a symbol in a file that was read */
	HP_VECTOR(struct hp_evidence) evidence; /* of --evidence, by address */
	/* Of its samples those of commands that had no shadow window; one an event. */
	struct tally *uncovered;
	struct counted *counted; /* once asked for, see counted.h; owned */
	struct ways *ways;	 /* likewise, see ways.h */
};

/* A command of an epoch that had shadow windows. */
struct covered {
	size_t epoch;
	const char *command;
};

/* What shadow windows counted, in all epochs: see windows.h. */
struct report_windows {
	struct hp_window_evidence sum;
	double *scales; /* of each stratum: executions that one count stands for; 0: not known */
	HP_VECTOR(struct covered) covered;
	bool is_absolute;	/* for some stratum it is known */
	struct hp_grouped time; /* that the counted stand for, ns: adds up to all of it */
	/* Estimates by windows are made of these and what groups counted: see balance.h. */
	double values[HP_EVIDENCE_WINDOWS][HP_EVIDENCE_GROUPS];
	double counted_ns; /* that windows cover */
	double count;	   /* of those that count absolutely and pass --comm */
	/* Of commands with windows: user time that was sampled, and that the windows' strata tell
	 * of. A recording that never meant to count anything tells of none. */
	double sampled_ns;
	double told_ns;
	double passing_ns;	  /* of the latter, what passes --comm */
	double young;		  /* what counts are off by, processes having just begun */
	double without;		  /* of a command's time the share without windows: the greatest */
	double truncated;	  /* share of the windows that only count relatively */
	const char *why_relative; /* why nothing absolute comes of them, or NULL */
};

struct hit {
	uint64_t offset;
	uint32_t group; /* in report->groups, of a breakdown */
	struct tally tally;
	size_t event;
};

/*
 * The samples of one image that share a meaning of offsets. Files mean the same in every epoch and
 * have one part; generated code and whatever else takes its names from the epoch has one an epoch.
 */
struct report_part {
	struct report_image *image;
	struct hp_epoch *epoch; /* that has the names and bytes, with the image's index there */
	size_t epoch_image;
	HP_VECTOR(struct hit) hits; /* while loading */
	uint64_t *offsets;	    /* ascending; distinct but in a breakdown, by their groups */
	uint32_t *groups;	    /* of each */
	struct tally *tallies;	    /* count times events */
	size_t count;
	/* After attribution, where `file` could be opened; else NULL. */
	struct hp_image *file;	   /* owned */
	struct hp_cfg_image *flow; /* its control flow, once asked for; owned */
	struct hp_symbol *symbols;
	size_t symbol_count;
	struct hp_excerpt excerpt; /* of a file that could not be read, see kept.h */
	struct located *located;   /* sorted by address */
	size_t located_count;
	const struct hp_procedure **cold; /* parts split off their procedures, once collected */
	size_t cold_count;
};

/* Where an offset is in its image. */
struct located {
	uint64_t address; /* link-time */
	size_t index;	  /* into the part's offsets */
};

/* Code that a row of the instruction view stands for. */
struct row_code {
	struct report_part *part;
	const struct hp_procedure *procedure; /* the owner; NULL: only the offset is known */
	uint64_t offset;
	struct row_code *next;
	const struct hp_cfg *cfg; /* once asked for, see analyse.h */
	const struct hp_analysis *analysis;
	const char *refusal; /* why there is no graph, or no analysis */
};

/* A sum of what windows counted, with its 90 % interval. NAN where only counts to each other are
 * known. */
struct counted_figure {
	double value;
	double low;
	double high;
};

/* Of the procedure of a row, in the whole recording. */
struct row_counts {
	struct counted_figure calls;
	struct counted_figure instructions;
};

/* One line of a view. Which of the fields mean something depends on the view. */
struct row {
	const struct report_image *image;
	const char *name;	/* procedure, demangled */
	const char *shown;	/* for people, see shown.h; NULL: not yet */
	const char *linkage;	/* the same in the symbol table; NULL unknown */
	const char *file;	/* full path; NULL unknown */
	const char *short_file; /* its last part, or all of it where that is ambiguous */
	uint32_t line;
	bool inlined;	  /* name is an inlined function, wherever it went */
	bool has_address; /* address and size are meaningful */
	uint64_t address; /* link-time */
	uint64_t size;
	struct row_code *code;
	/* Instructions only. */
	const uint8_t *bytes;
	size_t length;
	const char *text;
	bool has_block;
	uint32_t block;			    /* of its procedure's graph */
	const struct hp_analysis *analysis; /* NULL where there is none, or none was asked for */
	const struct hp_analysed_insn *insn;
	uint32_t group;			 /* in report->groups, of a breakdown */
	const struct row_counts *counts; /* of procedures; NULL: windows know nothing of it */
	struct tally *tallies;		 /* one an event */
	double cumulative;		 /* share of the sorting event up to here */
	double local; /* an instruction's share of its row in the sorting event */
};

/* How well samples could be named. */
enum attribution {
	NAMED_BY_SYMBOL,
	NAMED_BY_PLT,
	NAMED_BY_EXTENT, /* .eh_frame */
	NAMED_NOT,	 /* a gap, or memory without a file */
	NAMED_REFUSED,	 /* the file is missing or changed */
	ATTRIBUTION_COUNT,
};

/* What rows of a breakdown are told apart by, in the order of the columns. */
enum breakdown_key {
	BY_COMM,
	BY_PID,
	BY_TID,
	BY_CPU,
	BY_IMAGE,
	BY_PROCEDURE,
	BY_LINE,
	BY_COUNT,
};
struct breakdown {
	uint8_t keys[BY_COUNT]; /* enum breakdown_key */
	size_t count;
	bool has[BY_COUNT];
};

/* What ran where: as far as the breakdown tells it apart. */
struct report_group {
	const char *command;
	uint32_t pid;
	uint32_t tid;	    /* 0 unknown */
	uint32_t cpu;	    /* plus 1; 0 unknown */
	const char *thread; /* its name, under which most samples are; NULL unknown */
	uint64_t samples;   /* of the stratum that has that name */
};

struct interned;
struct row_entry;
struct group_entry;

struct report {
	const struct hp_report_options *options;
	const struct hp_report_notices *notices;
	struct hp_arena *arena;
	struct interned *strings;
	struct row_entry *row_index;
	struct group_entry *group_index;
	HP_VECTOR(struct report_epoch) epochs;
	HP_VECTOR(struct report_event) events;
	HP_VECTOR(struct report_image *) images;
	HP_VECTOR(struct report_part *) parts;
	HP_VECTOR(struct row *) rows;
	struct breakdown by;
	HP_VECTOR(struct report_group) groups;
	struct report_windows windows;
	struct tally *attribution; /* ATTRIBUTION_COUNT times events */
	size_t sort_event;
	bool is_refused;     /* nothing passes the filters, and nothing was written */
	size_t hidden_rows;  /* cut by limits */
	struct tally hidden; /* of the sorting event */
};

struct hp_error *report_create(const struct hp_report_options *options,
			       const struct hp_report_notices *notices, struct report **report);
void report_destroy(struct report *report);
HP_DEFINE_CLEANUP(struct report, report_destroy);

/* The one copy of a text; NULL when memory is short. */
const char *report_intern(struct report *report, const char *text);
const char *report_format(struct report *report, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
struct tally *report_tallies(struct report *report);
void report_warn(const struct report *report, const char *advice, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Share of the event's weight, 0 to 1. */
double report_share(const struct report *report, size_t event, const struct tally *tally);
uint64_t report_samples(const struct report *report); /* of all events */
uint64_t report_unattributed(const struct report *report);
/* Of one of the epoch's commands, in the order of its meta, and one event. */
uint64_t report_command_samples(const struct report *report, const struct report_epoch *epoch,
				size_t command, size_t event);
/* Mean units between two samples; 0 without samples. */
uint64_t report_period(const struct report_event *event);
/* For what share of the time in which it might have it had a counter; NaN unknown. */
double report_coverage(const struct report_event *event);
/* It measures time, and nothing of the kernel's. */
bool report_is_user_only(const struct report_event *event);

/* The reader looks at rows of the image: it has 1 % of an event's samples or more, or something was asked
 * for by name. */
bool report_is_noticed(const struct report *report, const struct report_image *image);

/* The kernel or a module of it: no file to be read. */
bool report_is_kernel(const struct report_image *image);

/* The view looks at code: files stay open, rows say what code they stand for. */
bool report_needs_code(const struct hp_report_options *options);
/* The view is of what windows counted alone: samples or not. */
bool report_shows_counts(const struct hp_report_options *options);
/* Files stay open: the view looks at code, or at what windows counted in it. */
bool report_keeps_files(const struct report *report);
/* The view takes all procedures that a glob means, not only the hottest. */
bool report_lists_many(const struct hp_report_options *options);

/* A glob, or the very name; NULL matches all. */
bool report_matches(const char *pattern, const char *name);
const char *report_basename(const char *path);	/* of an image */
const char *report_file_name(const char *path); /* of a source file, which may be relative */

#endif
