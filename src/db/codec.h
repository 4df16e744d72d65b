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

/* What the index knows of meta: one digest for each of its lists, and one for everything else
 * except the label. */
enum { HP_META_PARTS = 5 };
struct hp_meta_parts {
	bool are_known; /* false for older and for unfinished epochs */
	uint64_t digests[HP_META_PARTS];
};
const char *hp_meta_part_name(size_t part);

/* What meta knows of another file of a finished epoch. */
struct hp_file_sum {
	char *name;
	char *digest; /* XXH3-64 of its bytes, 16 hexadecimal digits */
	uint64_t bytes;
	uint64_t entries;      /* number of images, offsets, names or windows */
	uint64_t samples;      /* of profiles only */
	uint64_t period_total; /* of profiles only: samples times period */
};
struct hp_file_sums {
	struct hp_file_sum *at;	    /* sorted by name, distinct */
	size_t count;		    /* 0 in older and in unfinished epochs */
	struct hp_meta_parts parts; /* parts of the meta that was read */
};
void hp_file_sum_clear(struct hp_file_sum *sum);
void hp_file_sums_clear(struct hp_file_sums *sums);

/* `sums` may be NULL: then none are written. */
struct hp_error *hp_meta_encode(const struct hp_epoch_meta *meta, const struct hp_file_sums *sums,
				struct hp_writer *file);
/* Digests of the parts that hp_meta_encode writes. */
struct hp_error *hp_meta_digest(const struct hp_epoch_meta *meta, struct hp_meta_parts *parts);
/* `sums` and `has_unknown` may be NULL. `has_unknown`: whether there are sections that this version
 * ignores. */
struct hp_error *hp_meta_decode(uint8_t *bytes, size_t size, struct hp_epoch_meta *meta,
				struct hp_file_sums *sums, bool *has_unknown);
/* Replaces the label (NULL: none). Everything else is kept, including what this version does not
 * know. */
struct hp_error *hp_meta_relabel(uint8_t *bytes, size_t size, const char *label,
				 struct hp_writer *file);

/* --- the index of images ------------------------------------------------------------------ */

struct hp_index_entry {
	struct hp_image_id id;
	uint64_t hash;	     /* of `id`; not in the file */
	bool has_bytes;	     /* a copy of the image is kept */
	uint32_t bytes_size; /* size of the copy */
	uint32_t bytes_crc;  /* CRC-32 of the copy */
};

struct hp_index {
	struct hp_index_entry *entries;
	size_t count;
	size_t capacity;
	struct hp_meta_parts meta; /* parts of the meta that belongs to it */
};

void hp_index_clear(struct hp_index *index);
/* The entry's index, or SIZE_MAX. */
size_t hp_index_find(const struct hp_index *index, const struct hp_image_id *id);
struct hp_error *hp_index_add(struct hp_index *index, const struct hp_image_id *id, size_t *at);
struct hp_error *hp_index_encode(const struct hp_index *index, struct hp_writer *file);
struct hp_error *hp_index_decode(uint8_t *bytes, size_t size, struct hp_index *index,
				 bool *has_unknown);

/* --- profiles and symbols ----------------------------------------------------------------- */

/* NULL when the profile obeys the rules of the model: sorted, distinct, no zeros. */
struct hp_error *hp_profile_check(const struct hp_profile *profile);
struct hp_error *hp_profile_encode(const struct hp_profile *profile, struct hp_writer *file);
/* The decoded image has no `deleted` mark, which only the index knows. If shares are damaged,
 * `lost` becomes the error (owned by the caller) and the profile has no shares; otherwise NULL. If
 * `lost` is NULL, such damage is an error. */
struct hp_error *hp_profile_decode(uint8_t *bytes, size_t size, struct hp_profile *profile,
				   bool *has_unknown, struct hp_error **lost);

struct hp_symbol_file {
	struct hp_image_id image;
	struct hp_symbol *symbols;
	size_t count;
	bool has_unknown;      /* sections that this version ignores */
	struct hp_error *lost; /* why bodies that were kept are missing; NULL: none are missing */
};
void hp_symbol_file_clear(struct hp_symbol_file *symbols);
struct hp_error *hp_symbols_encode(const struct hp_image_id *image, const struct hp_symbol *symbols,
				   size_t count, struct hp_writer *file);
/* Damaged bodies are left out, which is not an error. */
struct hp_error *hp_symbols_decode(uint8_t *bytes, size_t size, struct hp_symbol_file *symbols);

/*
 * The section of bodies, beside that of names. The tag's last character is the version of the
 * hashes: hashes of another version are not comparable, and are skipped like any unknown section.
 */
#define HP_BODIES_TAG "bod1"
/* Bodies beyond this number are neither written nor read; no image has so many procedures that
 * matter. */
enum { HP_BODIES_MOST = 1 << 16 };
/* Encodes the bodies of symbols that have one. Nothing is written if none has. */
struct hp_error *hp_bodies_encode(const struct hp_symbol *symbols, size_t count,
				  struct hp_container_builder *builder);
/* Adds bodies to `symbols`, which have none before, nor after an error. */
struct hp_error *hp_bodies_decode(const struct hp_container *file, struct hp_symbol *symbols,
				  size_t count);

/* --- excerpts of images --------------------------------------------------------------------- */

struct hp_excerpt_file {
	struct hp_image_id image;
	struct hp_excerpt excerpt;
	bool has_unknown;      /* sections that this version ignores */
	struct hp_error *lost; /* the first damage to a layer, which is then missing, or NULL */
};
void hp_excerpt_file_clear(struct hp_excerpt_file *file);
struct hp_error *hp_excerpt_encode(const struct hp_image_id *image,
				   const struct hp_excerpt *excerpt, struct hp_writer *file);
/* A damaged layer is left out, which is not an error. Without the map, all layers are left out. */
struct hp_error *hp_excerpt_decode(uint8_t *bytes, size_t size, struct hp_excerpt_file *file);

/* --- what windows counted ------------------------------------------------------------------ */

/* The most items that a file of this size may have, since each takes far more memory than bytes. */
uint64_t hp_evidence_most_items(size_t file_bytes);
struct hp_error *hp_evidence_encode(const struct hp_window_evidence *evidence,
				    struct hp_writer *file);
/* If sections are damaged, `lost` becomes the error, and all other sections are in `evidence`. If
 * `lost` is NULL, damage is an error. Damage to the images always is. */
struct hp_error *hp_evidence_decode(uint8_t *bytes, size_t size,
				    struct hp_window_evidence *evidence, bool *has_unknown,
				    struct hp_error **lost);

/* Decodes windows only, without outcomes of branches and durations of straight code, of which a
 * long recording has very many. Damage to those is ignored; any other is an error. */
struct hp_error *hp_evidence_decode_windows(uint8_t *bytes, size_t size,
					    struct hp_window_evidence *evidence);
/*
 * Adds `more`, which obeys the rules of the model, to the file in `bytes` (NULL: there is none
 * yet). The result is as if the file were decoded, added to and encoded, but takes little memory.
 * Any damage is an error. If there are more than HP_EVIDENCE_MOST_ITEMS `items`, no file is made.
 */
struct hp_error *hp_evidence_add_encoded(uint8_t *bytes, size_t size,
					 const struct hp_window_evidence *more,
					 struct hp_writer *file, bool *has_unknown,
					 uint64_t *items);

/* --- call paths ------------------------------------------------------------------------------ */

/* Writes the paths in canonical order, whatever their order in memory. */
struct hp_error *hp_paths_encode(const struct hp_paths *paths, struct hp_writer *file);
/* `has_unknown` may be NULL. */
struct hp_error *hp_paths_decode(uint8_t *bytes, size_t size, struct hp_paths *paths,
				 bool *has_unknown);

/* --- shared by the codecs ----------------------------------------------------------------- */

/* of an image: four bytes of kind and identity, the length of the path, and its first character */
enum { HP_IMAGE_LEAST_BYTES = 6 };
/* Bits of its flag byte. */
enum { HP_IMAGE_DELETED = 1, HP_IMAGE_HAS_BYTES = 2 };
/* Encodes kind, identity and path. `flags` is for the index. */
void hp_image_encode(const struct hp_image_id *id, uint8_t flags, struct hp_writer *writer);
struct hp_error *hp_image_decode(const struct hp_section *section, struct hp_reader *reader,
				 struct hp_image_id *id, uint8_t *flags);
/* Decodes the image that the whole file is about. `what`: what the file contains, for errors. */
struct hp_error *hp_image_decode_key(const struct hp_container *file, const char *what,
				     struct hp_image_id *id);
/* NULL when `id` obeys the rules of the model. */
struct hp_error *hp_image_check(const struct hp_image_id *id);
/* An error if the section has bytes left. */
struct hp_error *hp_section_check_end(const struct hp_section *section,
				      const struct hp_reader *reader);

#endif
