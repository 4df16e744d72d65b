/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between bytes and model data: one pair of functions for each kind of file. hpcprof-db(5) has the
 * bytes. Equal data always encode to equal bytes.
 *
 * Decoders take over `bytes` (malloc'ed) also when they fail; their errors are DAMAGED with the
 * offset in the file. Encoders refuse data that breaks the model's rules (unsorted, zero counts).
 */
#ifndef HPCPROF_SRC_DB_CODEC_H
#define HPCPROF_SRC_DB_CODEC_H

#include "container.h"

#include <hpcprof/model/epoch.h>
#include <hpcprof/model/evidence.h>
#include <hpcprof/model/excerpt.h>
#include <hpcprof/model/paths.h>

extern const struct hp_container_kind hp_meta_kind;
extern const struct hp_container_kind hp_index_kind;
extern const struct hp_container_kind hp_profile_kind;
extern const struct hp_container_kind hp_symbols_kind;
extern const struct hp_container_kind hp_evidence_kind;
extern const struct hp_container_kind hp_excerpt_kind;
extern const struct hp_container_kind hp_paths_kind;

/* --- meta --------------------------------------------------------------------------------- */

/* What the index knows of meta: digests of its lists, and of all else but the label. */
enum { HP_META_PARTS = 5 };
struct hp_meta_parts {
	bool are_known; /* not in older epochs and unfinished ones */
	uint64_t digests[HP_META_PARTS];
};
const char *hp_meta_part_name(size_t part);

/* What meta knows of another file of a finished epoch. */
struct hp_file_sum {
	char *name;
	char *digest; /* XXH3-64 of its bytes, 16 hexadecimal digits */
	uint64_t bytes;
	uint64_t entries;      /* images, offsets, names or windows */
	uint64_t samples;      /* of profiles */
	uint64_t period_total; /* likewise: samples times period */
};
struct hp_file_sums {
	struct hp_file_sum *at;	    /* sorted by name, distinct */
	size_t count;		    /* 0 in older epochs and unfinished ones */
	struct hp_meta_parts parts; /* of the meta that was read */
};
void hp_file_sum_clear(struct hp_file_sum *sum);
void hp_file_sums_clear(struct hp_file_sums *sums);

/* `sums` may be NULL: none. */
struct hp_error *hp_meta_encode(const struct hp_epoch_meta *meta, const struct hp_file_sums *sums,
				struct hp_writer *file);
/* Of what hp_meta_encode writes. */
struct hp_error *hp_meta_digest(const struct hp_epoch_meta *meta, struct hp_meta_parts *parts);
/* `sums` and `has_unknown` may be NULL, the latter: whether there are sections that this version
 * ignores. */
struct hp_error *hp_meta_decode(uint8_t *bytes, size_t size, struct hp_epoch_meta *meta,
				struct hp_file_sums *sums, bool *has_unknown);
/* The same file with another label (NULL: none); all else stays, known or not. */
struct hp_error *hp_meta_relabel(uint8_t *bytes, size_t size, const char *label,
				 struct hp_writer *file);

/* --- the index of images ------------------------------------------------------------------ */

struct hp_index_entry {
	struct hp_image_id id;
	uint64_t hash;	     /* of it; not in the file */
	bool has_bytes;	     /* a copy of the image is kept */
	uint32_t bytes_size; /* then its size */
	uint32_t bytes_crc;  /* and CRC-32 */
};

struct hp_index {
	struct hp_index_entry *entries;
	size_t count;
	size_t capacity;
	struct hp_meta_parts meta; /* that is to be beside it */
};

void hp_index_clear(struct hp_index *index);
/* The entry's number, or SIZE_MAX. */
size_t hp_index_find(const struct hp_index *index, const struct hp_image_id *id);
struct hp_error *hp_index_add(struct hp_index *index, const struct hp_image_id *id, size_t *at);
struct hp_error *hp_index_encode(const struct hp_index *index, struct hp_writer *file);
struct hp_error *hp_index_decode(uint8_t *bytes, size_t size, struct hp_index *index,
				 bool *has_unknown);

/* --- profiles and symbols ----------------------------------------------------------------- */

/* NULL when the profile keeps the rules of the model: sorted, distinct, nothing 0. */
struct hp_error *hp_profile_check(const struct hp_profile *profile);
struct hp_error *hp_profile_encode(const struct hp_profile *profile, struct hp_writer *file);
/* The image comes out without its `deleted` mark, which only the index knows. `lost` becomes the
 * damage to shares, which are not there then (the caller destroys it), or NULL; with NULL it is an
 * error. */
struct hp_error *hp_profile_decode(uint8_t *bytes, size_t size, struct hp_profile *profile,
				   bool *has_unknown, struct hp_error **lost);

struct hp_symbol_file {
	struct hp_image_id image;
	struct hp_symbol *symbols;
	size_t count;
	bool has_unknown;      /* sections that this version ignores */
	struct hp_error *lost; /* why bodies that were kept are not among them; NULL: they are */
};
void hp_symbol_file_clear(struct hp_symbol_file *symbols);
struct hp_error *hp_symbols_encode(const struct hp_image_id *image, const struct hp_symbol *symbols,
				   size_t count, struct hp_writer *file);
/* Damaged bodies are left out: that is no error. */
struct hp_error *hp_symbols_decode(uint8_t *bytes, size_t size, struct hp_symbol_file *symbols);

/*
 * The section of bodies beside that of names. It is of a version of hashing, which the last
 * character of the tag counts: what hashes otherwise is not to be compared, and skipped like every
 * section that a reader does not know.
 */
#define HP_BODIES_TAG "bod1"
/* No image has so many procedures that matter; further ones are not written, and not read. */
enum { HP_BODIES_MOST = 1 << 16 };
/* Of symbols that have one. Nothing is written where none has. */
struct hp_error *hp_bodies_encode(const struct hp_symbol *symbols, size_t count,
				  struct hp_container_builder *builder);
/* Into `symbols`, which have none; after an error they have none again. */
struct hp_error *hp_bodies_decode(const struct hp_container *file, struct hp_symbol *symbols,
				  size_t count);

/* --- excerpts of images --------------------------------------------------------------------- */

struct hp_excerpt_file {
	struct hp_image_id image;
	struct hp_excerpt excerpt;
	bool has_unknown;      /* sections that this version ignores */
	struct hp_error *lost; /* the first damage to a layer, which is not there then, or NULL */
};
void hp_excerpt_file_clear(struct hp_excerpt_file *file);
struct hp_error *hp_excerpt_encode(const struct hp_image_id *image,
				   const struct hp_excerpt *excerpt, struct hp_writer *file);
/* A damaged layer is left out (without the map all are): that is no error. */
struct hp_error *hp_excerpt_decode(uint8_t *bytes, size_t size, struct hp_excerpt_file *file);

/* --- what windows counted ------------------------------------------------------------------ */

/* Each takes far more memory than bytes, so a file of few bytes may not have many. */
uint64_t hp_evidence_most_items(size_t file_bytes);
struct hp_error *hp_evidence_encode(const struct hp_window_evidence *evidence,
				    struct hp_writer *file);
/* `lost` becomes the damage to sections, if there is any: all others are in `evidence`. With NULL
 * it is an error, as is that of the images everywhere. */
struct hp_error *hp_evidence_decode(uint8_t *bytes, size_t size,
				    struct hp_window_evidence *evidence, bool *has_unknown,
				    struct hp_error **lost);

/* Without outcomes of branches and durations of straight code, which a long recording has very many
 * of. Their damage is none here, that of all else an error. */
struct hp_error *hp_evidence_decode_windows(uint8_t *bytes, size_t size,
					    struct hp_window_evidence *evidence);
/*
 * The file (`bytes`, NULL: there is none yet) and `more`, which keeps the rules of the model: as if
 * the former were decoded, added to and encoded, but in little memory. Any damage is an error. Of
 * more than HP_EVIDENCE_MOST_ITEMS `items` there is no file.
 */
struct hp_error *hp_evidence_add_encoded(uint8_t *bytes, size_t size,
					 const struct hp_window_evidence *more,
					 struct hp_writer *file, bool *has_unknown,
					 uint64_t *items);

/* --- call paths ------------------------------------------------------------------------------ */

/* In canonical order, whatever order they are in. */
struct hp_error *hp_paths_encode(const struct hp_paths *paths, struct hp_writer *file);
/* `has_unknown` may be NULL. */
struct hp_error *hp_paths_decode(uint8_t *bytes, size_t size, struct hp_paths *paths,
				 bool *has_unknown);

/* --- shared by the codecs ----------------------------------------------------------------- */

/* Of an image: four bytes of what and how, the length of the path, and its first character. */
enum { HP_IMAGE_LEAST_BYTES = 6 };
/* Bits of its flag byte. */
enum { HP_IMAGE_DELETED = 1, HP_IMAGE_HAS_BYTES = 2 };
/* Kind, identity, path; `flags` is for the index. */
void hp_image_encode(const struct hp_image_id *id, uint8_t flags, struct hp_writer *writer);
struct hp_error *hp_image_decode(const struct hp_section *section, struct hp_reader *reader,
				 struct hp_image_id *id, uint8_t *flags);
/* The image that all of a file is about; `what` the file has of it, for errors. */
struct hp_error *hp_image_decode_key(const struct hp_container *file, const char *what,
				     struct hp_image_id *id);
/* NULL when `id` keeps the rules of the model. */
struct hp_error *hp_image_check(const struct hp_image_id *id);
/* The section must have been read to its end. */
struct hp_error *hp_section_check_end(const struct hp_section *section,
				      const struct hp_reader *reader);

#endif
