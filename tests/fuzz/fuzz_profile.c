/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of a profile database. An input that starts like one is parsed as it is. Any other is
 * the contents of sections, for which a right container is made, so that checksums keep nobody from
 * the parsers behind them: the first byte says of what kind, the second how long the key is; of
 * names that have bodies a third says how long they are. 'C' stands for an excerpt: two bytes each
 * say how long its map and its lines are, and the rest is code; 'O' for one of an older epoch. 'T'
 * likewise stands for call paths.
 *
 * What a decoder accepts, the encoder writes down again in the same bytes, unless they are older.
 */
#include "fuzz.h"

#include "../../src/db/codec.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/cfg/cfg.h>
#include <hpcprof/db/db.h>
#include <hpcprof/image/body.h>

#include <stdlib.h>
#include <string.h>

static uint8_t *copy_of(const void *bytes, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		exit(1);
	if (size)
		memcpy(copy, bytes, size);
	return copy;
}

static void require_same(struct hp_error *error, struct hp_writer *again, const uint8_t *bytes,
			 size_t size)
{
	if (error || again->size != size || memcmp(again->bytes, bytes, size) != 0)
		abort();
	hp_writer_free(again);
}

static void try_meta(const uint8_t *bytes, size_t size)
{
	_cleanup_(hp_writer_free) struct hp_writer again = { 0 };
	struct hp_epoch_meta meta;
	struct hp_epoch_meta second;
	struct hp_error *error = hp_meta_decode(copy_of(bytes, size), size, &meta, NULL, NULL);

	if (!error) {
		/* JSON has many spellings; what counts is that ours is accepted. */
		if (hp_meta_encode(&meta, NULL, &again) ||
		    hp_meta_decode(again.bytes, again.size, &second, NULL, NULL))
			abort();
		if (meta.event_count != second.event_count ||
		    meta.command_count != second.command_count)
			abort();
		hp_epoch_meta_clear(&second);
		hp_epoch_meta_clear(&meta);
	}
	hp_error_destroy(error);
	hp_error_destroy(hp_meta_relabel(copy_of(bytes, size), size, "label", &again));
}

static void try_index(const uint8_t *bytes, size_t size, bool ours)
{
	struct hp_writer again = { 0 };
	_cleanup_(hp_index_clear) struct hp_index index;
	struct hp_error *error = hp_index_decode(copy_of(bytes, size), size, &index, NULL);

	if (!error && ours)
		require_same(hp_index_encode(&index, &again), &again, bytes, size);
	hp_error_destroy(error);
}

static void try_profile(const uint8_t *bytes, size_t size, bool ours)
{
	struct hp_writer again = { 0 };
	_cleanup_(hp_profile_clear) struct hp_profile profile;
	struct hp_error *error =
		hp_profile_decode(copy_of(bytes, size), size, &profile, NULL, NULL);

	if (!error && ours)
		require_same(hp_profile_encode(&profile, &again), &again, bytes, size);
	hp_error_destroy(error);
}

static void try_symbols(const uint8_t *bytes, size_t size, bool ours)
{
	struct hp_writer again = { 0 };
	_cleanup_(hp_symbol_file_clear) struct hp_symbol_file file;
	struct hp_error *error = hp_symbols_decode(copy_of(bytes, size), size, &file);

	if (!error && ours && !file.lost)
		require_same(hp_symbols_encode(&file.image, file.symbols, file.count, &again),
			     &again, bytes, size);
	hp_error_destroy(error);
}

/* With nothing added it is what it was, if it is whole. */
static void try_adding(const uint8_t *bytes, size_t size, bool is_whole,
		       const struct hp_writer *same)
{
	const struct hp_window_evidence none = { 0 };
	struct hp_writer file = { 0 };
	bool has_unknown;
	uint64_t items;
	struct hp_error *error = hp_evidence_add_encoded(copy_of(bytes, size), size, &none, &file,
							 &has_unknown, &items);

	if (is_whole &&
	    (error || file.size != same->size || memcmp(file.bytes, same->bytes, same->size) != 0))
		abort();
	hp_writer_free(&file);
	hp_error_destroy(error);
}

static void try_evidence(const uint8_t *bytes, size_t size)
{
	struct hp_writer again = { 0 };
	struct hp_window_evidence evidence;
	struct hp_error *lost = NULL;
	struct hp_error *error =
		hp_evidence_decode(copy_of(bytes, size), size, &evidence, NULL, &lost);
	struct hp_writer file = { 0 };

	/* Files may lack what is written today; so the second one counts. */
	if (!error && (hp_evidence_encode(&evidence, &file)))
		abort();
	hp_window_evidence_clear(&evidence);
	if (!error) {
		if (hp_evidence_decode(copy_of(file.bytes, file.size), file.size, &evidence, NULL,
				       NULL))
			abort();
		require_same(hp_evidence_encode(&evidence, &again), &again, file.bytes, file.size);
		hp_window_evidence_clear(&evidence);
	}
	try_adding(bytes, size, !error && !lost, &file);
	hp_writer_free(&file);
	hp_error_destroy(error);
	hp_error_destroy(lost);
}

/* What views do with an excerpt. */
static void look_into(const struct hp_excerpt_file *file)
{
	const struct hp_image_options options = { .kept_only = true, .excerpt = &file->excerpt };
	_cleanup_(hp_arena_destroy_scope) struct hp_arena *arena = hp_arena_create();
	const struct hp_procedure *const *procedures;
	struct hp_cfg_image *flow = NULL;
	_cleanup_(hp_image_close_scope) struct hp_image *image;
	size_t count;

	if (!arena || hp_image_open(&file->image, &options, &image))
		exit(1);
	hp_image_procedures(image, &procedures, &count);
	hp_error_destroy(hp_cfg_image_create(image, &flow));
	for (size_t i = 0; i < count && i < 64; i++) {
		hp_link_address addresses[2] = { procedures[i]->address, procedures[i]->address };
		struct hp_frames frames[2];
		struct hp_body body;
		struct hp_cfg *cfg;

		addresses[1].value += procedures[i]->size - 1;
		hp_error_destroy(hp_image_frames(image, addresses, 2, i % 2, frames));
		hp_image_has_namesake(image, procedures[i]);
		hp_image_body(image, procedures[i], &body);
		if (flow)
			hp_error_destroy(hp_cfg_create(flow, procedures[i], arena, &cfg));
	}
	hp_image_procedure_at(image, (hp_link_address){ UINT64_MAX });
	hp_image_symbol_origin(image);
	hp_cfg_image_destroy(flow);
}

static void try_excerpt(const uint8_t *bytes, size_t size, bool ours)
{
	struct hp_writer again = { 0 };
	_cleanup_(hp_excerpt_file_clear) struct hp_excerpt_file file;
	_cleanup_(hp_excerpt_clear) struct hp_excerpt sum = { 0 };
	struct hp_error *error = hp_excerpt_decode(copy_of(bytes, size), size, &file);

	if (!error && !hp_excerpt_is_empty(&file.excerpt)) {
		if (hp_excerpt_encode(&file.image, &file.excerpt, &again))
			abort();
		/* A layer of nothing is not written. */
		if (ours && !file.lost && file.excerpt.lines.count && file.excerpt.ranges.count &&
		    (again.size != size || memcmp(again.bytes, bytes, size) != 0))
			abort();
		hp_writer_free(&again);
		hp_error_destroy(hp_excerpt_add(&sum, &file.excerpt));
		hp_error_destroy(hp_excerpt_add(&sum, &file.excerpt));
		if (hp_excerpt_check(&sum))
			abort();
		look_into(&file);
	}
	hp_error_destroy(error);
}

static void try_paths(const uint8_t *bytes, size_t size, bool ours)
{
	struct hp_writer again = { 0 };
	_cleanup_(hp_paths_clear) struct hp_paths paths;
	struct hp_error *error = hp_paths_decode(copy_of(bytes, size), size, &paths, NULL);

	if (!error) {
		_cleanup_(hp_paths_clear) struct hp_paths sum = { .node_limit = 4 };

		if (hp_paths_check(&paths))
			abort();
		if (ours)
			require_same(hp_paths_encode(&paths, &again), &again, bytes, size);
		hp_error_destroy(hp_paths_merge(&sum, &paths));
		hp_error_destroy(hp_paths_merge(&sum, &paths));
		if (hp_paths_check(&sum))
			abort();
	}
	hp_error_destroy(error);
}

static void try_all(const uint8_t *bytes, size_t size, bool ours)
{
	try_meta(bytes, size);
	try_index(bytes, size, ours);
	try_profile(bytes, size, ours);
	try_symbols(bytes, size, ours);
	try_evidence(bytes, size);
	try_excerpt(bytes, size, ours);
	try_paths(bytes, size, ours);
}

/* 'T': two bytes each say how long images and series are, and the rest is nodes. */
static void try_trees(const uint8_t *bytes, size_t size)
{
	struct hp_container_builder builder = { .kind = &hp_paths_kind };
	size_t header = 5;
	size_t images = size < header ? 0 : (size_t)bytes[1] | (size_t)bytes[2] << 8;
	size_t series = size < header ? 0 : (size_t)bytes[3] | (size_t)bytes[4] << 8;
	struct hp_writer file;

	if (size < header || images > size - header || series > size - header - images)
		return;
	hp_container_add(&builder, "imgs", HP_SECTION_REQUIRED, bytes + header, images);
	hp_container_add(&builder, "sers", HP_SECTION_REQUIRED, bytes + header + images, series);
	hp_container_add(&builder, "node", HP_SECTION_REQUIRED, bytes + header + images + series,
			 size - header - images - series);
	if (hp_container_finish(&builder, &file))
		exit(1);
	try_paths(file.bytes, file.size, true);
	hp_writer_free(&file);
}

static void try_layers(const uint8_t *bytes, size_t size)
{
	struct hp_container_builder builder = { .kind = &hp_excerpt_kind };
	size_t header = 5;
	size_t map = size < header ? 0 : (size_t)bytes[1] | (size_t)bytes[2] << 8;
	size_t lines = size < header ? 0 : (size_t)bytes[3] | (size_t)bytes[4] << 8;
	const uint8_t key[] = { 1, 0, 1, 4, 1, 2, 3, 4, 2, '/', 'x' };
	struct hp_writer file;

	if (size < header || map > size - header || lines > size - header - map)
		return;
	hp_container_add(&builder, "key ", HP_SECTION_REQUIRED, key, sizeof(key));
	hp_container_add(&builder, "map ", 0, bytes + header, map);
	hp_container_add(&builder, bytes[0] == 'C' ? "lin2" : "line", 0, bytes + header + map,
			 lines);
	hp_container_add(&builder, "code", 0, bytes + header + map + lines,
			 size - header - map - lines);
	if (hp_container_finish(&builder, &file))
		exit(1);
	try_excerpt(file.bytes, file.size, bytes[0] == 'C');
	hp_writer_free(&file);
}

static void try_sections(const uint8_t *bytes, size_t size)
{
	static const struct hp_container_kind *const kinds[] = { &hp_meta_kind, &hp_index_kind,
								 &hp_profile_kind, &hp_symbols_kind,
								 &hp_evidence_kind };
	const struct hp_container_kind *kind = kinds[bytes[0] % 5];
	struct hp_container_builder builder = { .kind = kind };
	struct hp_writer file;
	const char *more = kind->tags[1] ? kind->tags[2] : NULL;
	bool has_more = more && bytes[0] >= 128 && size > 2;
	size_t key = kind->tags[1] ? bytes[1] : 0;
	size_t header = has_more ? 3 : 2;
	size_t rest;

	if (key > size - header)
		return;
	rest = size - header - key;
	if (has_more && bytes[2] < rest)
		rest = bytes[2];
	if (kind->tags[1])
		hp_container_add(&builder, kind->tags[0], HP_SECTION_REQUIRED, bytes + header, key);
	/* What an index says of the meta file may be missing. */
	hp_container_add(&builder, kind->tags[kind->tags[1] ? 1 : 0],
			 kind == &hp_index_kind && kind->tags[1] ? 0 : HP_SECTION_REQUIRED,
			 bytes + header + key, rest);
	if (has_more)
		hp_container_add(&builder, more, 0, bytes + header + key + rest,
				 size - header - key - rest);
	if (hp_container_finish(&builder, &file))
		exit(1);
	try_all(file.bytes, file.size, true);
	hp_writer_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	if (size >= 2 && (bytes[0] == 'C' || bytes[0] == 'O'))
		try_layers(bytes, size);
	else if (size >= 2 && bytes[0] == 'T')
		try_trees(bytes, size);
	else if (size >= 2 && bytes[0] != 0x89)
		try_sections(bytes, size);
	else
		try_all(bytes, size, false);
	return 0;
}
