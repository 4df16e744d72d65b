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

/* One epoch. */
struct replicate {
	struct hp_epoch *epoch; /* owned */
	const struct hp_epoch_meta *meta;
	size_t event;	 /* in meta->events */
	double scale;	 /* what a unit of the event's period is in units of the comparison */
	double exposure; /* runs of the command, or units of work */
	bool has_work;
	double given_work; /* that each run did, as the caller says; 0: as the runs say */
	uint64_t samples;
	double cost;
};

/* Samples at one address, in one replicate. */
struct place {
	uint64_t address; /* link-time */
	size_t replicate;
	uint64_t samples;
	double cost;
};

/* One image of one side; what is not a file is one of each epoch. */
struct side_image {
	struct hp_image_id id;	   /* owned */
	size_t replicate;	   /* the first that has it */
	size_t epoch_image;	   /* its number there */
	struct hp_image *file;	   /* owned; NULL where it cannot be read */
	struct hp_symbol *symbols; /* kept in the epochs; of all of them one after the other */
	size_t symbol_count;
	size_t symbol_room;
	struct hp_excerpt excerpt;	/* likewise, where the file cannot be read */
	bool is_by_names;		/* `file` has what the epochs kept alone, and no code */
	const char *key;		/* the same on both sides */
	HP_VECTOR(struct place) places; /* by procedure, then address; owned */
	double cost;
};

/* One procedure of one side, with all its parts. */
struct code {
	enum hp_side side;
	struct side_image *image;
	const struct hp_procedure *procedure; /* NULL where there is none */
	const char *name;		      /* for people */
	const char *function;		      /* as the source has it */
	const char *linkage;		      /* without what compilers add */
	const char *key; /* the same on both sides: the linkage; or what tells it from others */
	const struct place *places; /* in the image's */
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

/* A procedure of one side whose code is in another procedure on the other side. */
struct absorbed {
	const struct code *code;
	const char *how; /* "inlined", "no longer inlined" */
};

/* What is taken for the same procedure, on both sides. */
struct unit {
	const char *image_key;
	HP_VECTOR(struct code *) codes;	     /* of both sides; owned */
	HP_VECTOR(struct absorbed) absorbed; /* whose codes are among them; owned */
	double *counts; /* [replicate]: base's, then the candidate's: samples */
	double cost[HP_SIDES];
	uint64_t samples[HP_SIDES];
	struct hp_compared *shown;
};

struct sides {
	struct hp_arena *arena;
	const struct hp_compare_options *options;
	bool by_names; /* procedures are known by the names that epochs kept: no file is opened */
	struct side at[HP_SIDES];
	const char *event; /* as the base has it */
	enum hp_unit unit;
	bool user_part; /* samples of the kernel are left out: not all epochs have them */
	HP_VECTOR(struct unit) units;
	HP_VECTOR(const char *) notes;
};

/* Epochs and the event. The candidate may have none. */
struct hp_error *sides_open(struct sides *sides, const struct hp_compare_epochs epochs[HP_SIDES]);
struct hp_error *sides_gather(struct sides *sides);
struct hp_error *sides_match(struct sides *sides);
void sides_clear(struct sides *sides); /* but for the arena */

/* What to do about an epoch that is damaged or may not be read; other errors, and NULL, stay as
 * they are. */
struct hp_error *sides_advise(struct hp_error *error);
/* A sentence for the reader; false when memory is short. */
bool sides_note(struct sides *sides, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* All of them, in the arena; NULL when memory is short. */
const char *const *sides_notes(const struct sides *sides);
const char *sides_format(struct hp_arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The image of a call path in that epoch, opened if it can be. NULL: there is no more than the
 * id. */
struct hp_error *sides_image(struct sides *sides, enum hp_side side, size_t replicate,
			     const struct hp_image_id *id, struct side_image **image);
/* What is at the image's offset; NULL, and no address, where that is not known. */
const struct hp_procedure *side_image_procedure(const struct side_image *image, uint64_t offset,
						hp_link_address *address);

/* The first image of that key, or NULL. */
const struct side_image *side_image_of(const struct side *side, const char *key);

/* No file with samples is another build on the other side, or missing there, and some file is known
 * to be the same that is no library of the system. */
bool sides_are_same_build(const struct sides *sides);

/* By what is compared with each other (image and key), then by side. */
int code_compare_keys(const struct code *a, const struct code *b);

/* A symbol's: other names say where the procedure is, which is elsewhere in another build. */
static inline bool code_has_name(const struct code *code)
{
	return code->procedure && (code->procedure->source == HP_PROCEDURE_SYMBOL ||
				   code->procedure->source == HP_PROCEDURE_PLT);
}

/* Whether the code is one that is in another procedure on the other side. */
static inline bool unit_has_absorbed(const struct unit *unit, const struct code *code)
{
	for (size_t i = 0; i < unit->absorbed.count; i++)
		if (unit->absorbed.at[i].code == code)
			return true;
	return false;
}

/* Mean units that a sample of the replicate stands for. */
static inline double replicate_weight(const struct replicate *replicate)
{
	return replicate->samples ? replicate->cost / (double)replicate->samples : 1;
}

/* What counts of the replicate are in proportion to: costs of runs, or (relative) of all. */
static inline double replicate_exposure(const struct replicate *replicate, bool relative)
{
	return (relative ? replicate->cost : replicate->exposure) / replicate_weight(replicate);
}

#endif
