/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two sides as they were recorded, and which code of them is the same. From epochs:
 *
 *	sides_open	which epochs, which event
 *	sides_gather	samples by image and procedure
 *	sides_match	procedures of one side to those of the other
 */
#ifndef COMPARE_SIDES_H
#define COMPARE_SIDES_H

#include <hpcprof/base/arena.h>
#include <hpcprof/base/vector.h>
#include <hpcprof/compare/compare.h>
#include <hpcprof/image/image.h>

/* One epoch of a side. */
struct replicate {
	struct hp_epoch *epoch; /* owned */
	const struct hp_epoch_meta *meta;
	size_t event;	 /* index in meta->events */
	double scale;	 /* units of the comparison per unit of the event */
	double exposure; /* runs of the command, or units of work */
	bool has_work;
	double given_work; /* work of each run, as given by the caller; 0: as the runs say */
	uint64_t samples;
	double cost;
};

/* Samples at one address, in one replicate. */
struct place {
	uint64_t address; /* link-time address */
	size_t replicate;
	uint64_t samples;
	double cost;
};

/* One image of one side. Images without a file are separate for each epoch. */
struct side_image {
	struct hp_image_id id;	   /* owned */
	size_t replicate;	   /* the first replicate that has it */
	size_t epoch_image;	   /* its index there */
	struct hp_image *file;	   /* owned; NULL: it cannot be read */
	struct hp_symbol *symbols; /* as kept in the epochs, of all of them one after the other */
	size_t symbol_count;
	size_t symbol_room;
	struct hp_excerpt excerpt; /* likewise, if the file cannot be read */
	/* `file` contains only what the epochs kept, without code */
	bool is_by_names;
	const char *key;		/* equal on both sides */
	HP_VECTOR(struct place) places; /* sorted by procedure, then by address; owned */
	double cost;
};

/* A procedure of one side, including its parts. */
struct code {
	enum hp_side side;
	struct side_image *image;
	const struct hp_procedure *procedure; /* NULL: there is none */
	const char *name;		      /* its name for people */
	const char *function;		      /* its name in the source */
	const char *linkage;		      /* linkage name without compilers' suffixes */
	const char *key; /* equal on both sides: the linkage name, or whatever distinguishes it */
	const struct place *places; /* points into those of the image */
	size_t place_count;
	uint64_t samples;
	double cost;
};

struct side {
	HP_VECTOR(struct replicate) replicates;
	HP_VECTOR(struct side_image *) images; /* owned */
	HP_VECTOR(struct code *) codes;	       /* in the arena */
	double cost;
	uint64_t samples;
};

/* A procedure of one side whose code is inside another procedure on the other side. */
struct absorbed {
	const struct code *code;
	const char *how; /* "inlined", "no longer inlined" */
};

/* What counts as the same procedure on both sides. */
struct unit {
	const char *image_key;
	HP_VECTOR(struct code *) codes;	     /* of both sides; owned */
	HP_VECTOR(struct absorbed) absorbed; /* of procedures whose codes are among them; owned */
	double *counts; /* by replicate, first the base's, then the candidate's: samples */
	double cost[HP_SIDES];
	uint64_t samples[HP_SIDES];
	struct hp_compared *shown;
};

struct sides {
	struct hp_arena *arena;
	const struct hp_compare_options *options;
	/* procedures are identified by the names that epochs kept; no file is opened */
	bool by_names;
	struct side at[HP_SIDES];
	const char *event; /* its name in the base */
	enum hp_unit unit;
	bool user_part; /* samples of the kernel are left out, because not all epochs have them */
	HP_VECTOR(struct unit) units;
	HP_VECTOR(const char *) notes;
};

/* Opens the epochs and chooses the event. The candidate may be empty. */
struct hp_error *sides_open(struct sides *sides, const struct hp_compare_epochs epochs[HP_SIDES]);
struct hp_error *sides_gather(struct sides *sides);
struct hp_error *sides_match(struct sides *sides);
void sides_clear(struct sides *sides); /* does not free the arena */

/* Adds advice to the error of an epoch that is damaged or may not be read; other errors, and NULL,
 * are unchanged. */
struct hp_error *sides_advise(struct hp_error *error);
/* Adds a sentence for readers. False: out of memory. */
bool sides_note(struct sides *sides, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* All notes, in the arena; NULL: out of memory. */
const char *const *sides_notes(const struct sides *sides);
const char *sides_format(struct hp_arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The image of a call path in that epoch, opened if possible. NULL: only its identity is known. */
struct hp_error *sides_image(struct sides *sides, enum hp_side side, size_t replicate,
			     const struct hp_image_id *id, struct side_image **image);
/* The procedure at the image's offset, and its address; NULL: unknown. */
const struct hp_procedure *side_image_procedure(const struct side_image *image, uint64_t offset,
						hp_link_address *address);

/* The first image with that key, or NULL. */
const struct side_image *side_image_of(const struct side *side, const char *key);

/* Whether no file with samples is another build on the other side, or missing there, and at least
 * one file that is no system library is known to be the same. */
bool sides_are_same_build(const struct sides *sides);

/* Compares by what identifies code across sides (image and key), then by side. */
int code_compare_keys(const struct code *a, const struct code *b);

/* Its name is a symbol's. Other names contain an address, which differs in another build. */
static inline bool code_has_name(const struct code *code)
{
	return code->procedure && (code->procedure->source == HP_PROCEDURE_SYMBOL ||
				   code->procedure->source == HP_PROCEDURE_PLT);
}

/* Whether the code is inside another procedure on the other side. */
static inline bool unit_has_absorbed(const struct unit *unit, const struct code *code)
{
	for (size_t i = 0; i < unit->absorbed.count; i++)
		if (unit->absorbed.at[i].code == code)
			return true;
	return false;
}

/* The mean number of units per sample of the replicate. */
static inline double replicate_weight(const struct replicate *replicate)
{
	return replicate->samples ? replicate->cost / (double)replicate->samples : 1;
}

/* What the replicate's counts are proportional to: costs of runs, or (relative) of everything. */
static inline double replicate_exposure(const struct replicate *replicate, bool relative)
{
	return (relative ? replicate->cost : replicate->exposure) / replicate_weight(replicate);
}

#endif
