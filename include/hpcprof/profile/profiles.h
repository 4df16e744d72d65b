/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The profiles of some epochs, loaded, added up and attributed: the data of inference and views.
 *
 *	hp_profiles_create	checks the options
 *	hp_profiles_open	opens the epochs
 *	hp_profiles_load	reads their profiles: events, images, parts
 *	hp_profiles_attribute	turns parts into rows
 *	hp_profiles_resolve	keeps the rows that were asked for
 *
 * Memory without another owner is in the arena, which lives as long as the profiles. Texts are raw
 * here; each writer escapes them for its format.
 */
#ifndef HPCPROF_PROFILE_PROFILES_H
#define HPCPROF_PROFILE_PROFILES_H

#include <hpcprof/base/arena.h>
#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/vector.h>
#include <hpcprof/cfg/cfg.h>
#include <hpcprof/db/db.h>
#include <hpcprof/image/image.h>

#include <sys/types.h>

struct hp_row;

/* What a row stands for. */
enum hp_rows {
	HP_ROWS_OF_PROCEDURES,
	HP_ROWS_OF_IMAGES,
	HP_ROWS_OF_LINES,
	HP_ROWS_OF_GROUPS, /* what `by` tells apart */
};

/* Zeroed selects all procedures. Patterns are globs; a pattern that equals a name also matches it
 * ("[vdso]", "operator[]"). NULL selects everything. */
struct hp_profiles_options {
	const char *event;
	bool stalls;	   /* events of record --stalls too, which only `event` selects otherwise */
	const char *image; /* full path or its last part */
	const char *procedure; /* as shown, or as in the symbol table */
	bool by_part;	       /* `procedure` may be a part of a name */
	const char *comm;
	const char *pid;    /* needs epochs recorded with --per-process */
	const char *listed; /* the requested procedure: see hp_profiles_resolve */
	const char *by;	    /* comm,pid,tid,cpu,image,procedure,line: the keys of rows */
	bool full_names;    /* with the arguments of templates and functions */
	bool inlines;	    /* samples of inlined functions are their own */
	bool no_debuginfo;  /* names and lines from the recorded files only */
	const char *symfs;  /* prefix of every file looked up */
	/* What the view needs. */
	enum hp_rows rows;
	bool needs_code;       /* files stay open, and rows have their code */
	bool lists_many;       /* all procedures that a glob matches, not only the hottest */
	bool describes_images; /* where names came from, whether there are lines */
};

/* Messages to the reader that are not a part of the report. `advice` may be NULL. */
struct hp_notices {
	void (*warn)(const char *message, const char *advice, void *context);
	/* How to get a better report; at most once per report. May be NULL. */
	void (*hint)(const char *message, void *context);
	void *context;
};

/* Samples of one event: raw; their weight in units, which is their period divided by the share of
 * the time in which the event had a counter in their epoch; and the weight in core cycles, by the
 * clock of each epoch (0 if it is unknown, or if the event does not measure time). */
struct hp_tally {
	uint64_t samples;
	double weight;
	double cycles;
};

static inline void hp_tally_add(struct hp_tally *into, const struct hp_tally *from)
{
	into->samples += from->samples;
	into->weight += from->weight;
	into->cycles += from->cycles;
}

struct hp_loaded_epoch {
	const char *stamp;
	const struct hp_epoch_meta *meta; /* the epoch's */
	struct hp_epoch *epoch;		  /* owned */
	uint64_t *command_samples;	  /* meta's commands times the profiles' events */
	bool recording;
	uid_t owner; /* the recording user; (uid_t)-1 unknown */
};

/* One event summed over the epochs that have it. */
struct hp_loaded_event {
	const struct hp_event_info *info; /* as the first epoch has it */
	struct hp_tally all;		  /* everything recorded: 100 % */
	struct hp_tally kept;		  /* what passes the filters: the sum of the rows */
	bool lacks_clock; /* a part comes from epochs without a clock that it needs */
	double units;	  /* sum of samples times period, unscaled */
	uint64_t unattributed;
	uint64_t lost;
	uint64_t throttled;
	uint64_t enabled_ns;
	uint64_t running_ns;
	double cpu_ns; /* used by the targets, see hp_epoch_cpu_times */
	double system_ns;
	uint64_t processes; /* that this is of; 0: unknown */
	uint64_t least_period;
	uint64_t greatest_period;
	double frequency_hz; /* requested in the first epoch */
};

struct hp_loaded_image {
	size_t index;		/* in the profiles' images */
	struct hp_image_id id;	/* strings in the arena */
	const char *short_name; /* last part of the path, or more where that is ambiguous */
	const char *build_id;	/* hexadecimal; NULL without one */
	const char *problem;	/* why its file has no names, else NULL */
	const char *advice;	/* what to do about it, or NULL */
	/* what epochs contain of its file and why it is used; NULL: the file was read */
	const char *kept;
	/* Names and lines omitted because its file asks for too much; NULL: none. */
	const char *left_out;
	const char *origin; /* where names came from; NULL with a problem */
	bool has_lines;
	struct hp_tally *tallies;  /* that pass --comm and --pid; one an event */
	struct hp_tally *nameless; /* the part in code without a symbol, in a file that was read */
	/* The samples of commands without a shadow window; one per event. */
	struct hp_tally *uncovered;
};

/* A command of an epoch that had shadow windows. */
struct hp_covered {
	size_t epoch;
	const char *command;
	bool is_truncated; /* all of them */
};

struct hp_hit {
	uint64_t offset;
	uint32_t group; /* in the profiles' groups, of a breakdown */
	struct hp_tally tally;
	size_t event;
};

/* Where an offset is in its image. */
struct hp_located {
	uint64_t address; /* link-time */
	size_t index;	  /* into the part's offsets */
};

/*
 * The samples of one image whose offsets mean the same. A file has one part for all epochs.
 * Generated code, and other images whose names come from the epoch, have one part per epoch.
 */
struct hp_loaded_part {
	struct hp_loaded_image *image;
	/* that contains the names and bytes, with the image's index there */
	struct hp_epoch *epoch;
	size_t epoch_image;
	HP_VECTOR(struct hp_hit) hits; /* while loading */
	uint64_t *offsets;	       /* ascending; distinct except in a breakdown, by group */
	uint32_t *groups;	       /* of each */
	struct hp_tally *tallies;      /* count times events */
	size_t count;
	/* After attribution, if `file` could be opened; else NULL. */
	struct hp_image *file;	   /* owned */
	struct hp_cfg_image *flow; /* its control flow, on request of inference; owned */
	struct hp_symbol *symbols;
	size_t symbol_count;
	struct hp_excerpt excerpt;  /* of a file that could not be read, see kept.h */
	struct hp_located *located; /* sorted by address */
	size_t located_count;
	const struct hp_procedure **cold; /* parts split off their procedures, once collected */
	size_t cold_count;
};

/* The source of the samples' names. */
enum hp_attribution {
	HP_NAMED_BY_SYMBOL,
	HP_NAMED_BY_PLT,
	HP_NAMED_BY_EXTENT, /* .eh_frame */
	HP_NAMED_NOT,	    /* a gap, or memory without a file */
	HP_NAMED_REFUSED,   /* the file is missing or changed */
	HP_ATTRIBUTION_COUNT,
};

/* The keys of a breakdown, in the order of the columns. */
enum hp_breakdown_key {
	HP_BY_COMM,
	HP_BY_PID,
	HP_BY_TID,
	HP_BY_CPU,
	HP_BY_IMAGE,
	HP_BY_PROCEDURE,
	HP_BY_LINE,
	HP_BY_COUNT,
};
struct hp_breakdown {
	uint8_t keys[HP_BY_COUNT]; /* enum hp_breakdown_key */
	size_t count;
	bool has[HP_BY_COUNT];
};

/* One combination of the keys of a breakdown. */
struct hp_loaded_group {
	const char *command;
	uint32_t pid;
	uint32_t tid;	    /* 0 unknown */
	uint32_t cpu;	    /* plus 1; 0 unknown */
	const char *thread; /* its most frequent name by samples; NULL unknown */
	uint64_t samples;   /* of the stratum with that name */
};

struct interned;
struct row_entry;
struct group_entry;

struct hp_core;

struct hp_profiles {
	const struct hp_profiles_options *options; /* borrowed */
	const struct hp_notices *notices;	   /* borrowed; may be NULL */
	struct hp_arena *arena;
	struct interned *strings;
	struct row_entry *row_index;
	struct group_entry *group_index;
	HP_VECTOR(struct hp_loaded_epoch) epochs;
	HP_VECTOR(struct hp_loaded_event) events;
	HP_VECTOR(struct hp_loaded_image *) images;
	HP_VECTOR(struct hp_loaded_part *) parts;
	HP_VECTOR(struct hp_row *) rows;
	struct hp_breakdown by;
	HP_VECTOR(struct hp_loaded_group) groups;
	bool keeps_files; /* after attribution: `needs_code`, or the caller needs them */
	/* Commands whose windows counted something; inference sets them before profiles are
	 * loaded. */
	HP_VECTOR(struct hp_covered) covered;
	double covered_ns;	      /* sampled user time of these */
	struct hp_tally *attribution; /* HP_ATTRIBUTION_COUNT times events */
	size_t sort_event;
	size_t hidden_rows;	/* omitted by limits */
	struct hp_tally hidden; /* of the sorting event */
};

/* Checks the options: USAGE if they are wrong. Both are borrowed. */
struct hp_error *hp_profiles_create(const struct hp_profiles_options *options,
				    const struct hp_notices *notices,
				    struct hp_profiles **profiles);
void hp_profiles_destroy(struct hp_profiles *profiles);
HP_DEFINE_CLEANUP(struct hp_profiles, hp_profiles_destroy);

/* Opens the named epochs (none: the latest); INSUFFICIENT if they do not contain what is asked
 * for. */
struct hp_error *hp_profiles_open(struct hp_profiles *profiles, struct hp_db *db,
				  char *const *arguments, size_t argument_count);
/* Reads the profiles of the opened epochs; the filters apply here. There are parts of the `others`
 * too: images that need not have samples. */
struct hp_error *hp_profiles_load(struct hp_profiles *profiles, const struct hp_image_id *others,
				  size_t other_count);
/* requires: hp_profiles_load. provides: rows, images' problems, events' kept, how samples were
 * named. Images whose file is missing or changed are told to the notices, once each. */
struct hp_error *hp_profiles_attribute(struct hp_profiles *profiles);
/* requires: hp_profiles_attribute, of all procedures. provides: of the rows those that the option
 * `listed` means:
 *
 *	NAME		as shown or as in the symbol table; of C++ also without its arguments
 *	GLOB		over the same
 *	PART		of the name
 *	0xADDRESS	link-time, anywhere inside the procedure
 *	IMAGE:any	of those, in images whose path, or last part of it, matches the glob
 *
 * A glob lists all that match where the options say so; else the hottest is taken, and the notices
 * name the others. A procedure without samples gets a row when its name or address is exact. Fails
 * with INSUFFICIENT when nothing is meant, and advises the nearest names. */
struct hp_error *hp_profiles_resolve(struct hp_profiles *profiles);
/* Sets short_file of every row. */
struct hp_error *hp_profiles_name_files(struct hp_profiles *profiles);
/* Sets `shown` of the rows of one table: short names, but full names if two would look the same,
 * and for all rows with the option `full_names`. Rows without a name have none. */
struct hp_error *hp_profiles_show_names(const struct hp_profiles *profiles,
					struct hp_row *const *rows, size_t count);

/* The event that measures time: in cycles, else in nanoseconds; events.count when there is none. */
size_t hp_profiles_time_event(const struct hp_profiles *profiles);
/* Core cycles per unit of that event, the mean over all its samples; 0 if the clock of any of them
 * is unknown. */
double hp_profiles_cycles_per_unit(const struct hp_profiles *profiles);
/* That of all epochs; the unknown one if they differ. */
const struct hp_cpu *hp_profiles_cpu(const struct hp_profiles *profiles);
/* The core whose tables give best cases; epochs from different CPUs have the generic one. */
const struct hp_core *hp_profiles_core(const struct hp_profiles *profiles);
/* Warns if epochs differ in the data that an analysis uses: CPU, skid, or the existence of a
 * clock. */
void hp_profiles_check_mixture(const struct hp_profiles *profiles);
/* The part's first sampled place at or after the address. */
size_t hp_first_located(const struct hp_loaded_part *part, uint64_t address);

/* The one copy of a text; NULL when memory is short. */
const char *hp_profiles_intern(struct hp_profiles *profiles, const char *text);
const char *hp_profiles_format(struct hp_profiles *profiles, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
struct hp_tally *hp_profiles_tallies(struct hp_profiles *profiles);
void hp_profiles_warn(const struct hp_profiles *profiles, const char *advice, const char *format,
		      ...) __attribute__((format(printf, 3, 4)));

/* Share of the event's weight, 0 to 1. */
double hp_profiles_share(const struct hp_profiles *profiles, size_t event,
			 const struct hp_tally *tally);
uint64_t hp_profiles_samples(const struct hp_profiles *profiles); /* of all events */
uint64_t hp_profiles_unattributed(const struct hp_profiles *profiles);
/* Of one of the epoch's commands, in the order of its meta, and one event. */
uint64_t hp_profiles_command_samples(const struct hp_profiles *profiles,
				     const struct hp_loaded_epoch *epoch, size_t command,
				     size_t event);
/* Mean units between two samples; 0 without samples. */
uint64_t hp_profiles_period(const struct hp_loaded_event *event);
/* The share of the time in which the event had a counter; NaN unknown. */
double hp_profiles_coverage(const struct hp_loaded_event *event);
/* Whether it measures time, in user mode only. */
bool hp_profiles_is_user_only(const struct hp_loaded_event *event);

/* Whether the image matters to the reader: it has 1 % of an event's samples or more, or something
 * was asked for by name. */
bool hp_profiles_is_noticed(const struct hp_profiles *profiles,
			    const struct hp_loaded_image *image);

/* Whether it is the kernel or a module, which has no file to read. */
bool hp_profiles_is_kernel(const struct hp_loaded_image *image);

/* Whether the pattern is a glob that matches, or the name itself; NULL matches all. */
bool hp_profiles_matches(const char *pattern, const char *name);
const char *hp_image_basename(const char *path); /* of an image */
const char *hp_source_name(const char *path);	 /* of a source file, which may be relative */

#endif
