/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the files of an epoch other than profiles: names and bodies, evidence, call paths,
 * excerpts of images.
 */
#include "contents.h"
#include "names.h"
#include "symbol_union.h"
#include "writing.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>

#include <string.h>
#include <zlib.h>

static struct hp_error *encode_united(const struct hp_image_id *image,
				      const struct hp_symbol_file *before,
				      const struct hp_symbol *symbols, size_t count,
				      struct hp_writer *file)
{
	struct hp_symbol *united;
	size_t united_count;
	struct hp_error *error = hp_symbols_unite(image->kind, before->symbols, before->count,
						  symbols, count, &united, &united_count);

	if (error)
		return error;
	error = hp_symbols_encode(image, united, united_count, file);
	free(united);
	return error;
}

struct hp_error *hp_epoch_writer_symbols(struct hp_epoch_writer *writer, size_t index,
					 const struct hp_symbol *symbols, size_t count)
{
	const struct hp_image_id *image = &writer->before.index.entries[index].id;
	_cleanup_free_ char *name = hp_symbols_name(image);
	struct hp_writer file = { 0 };
	struct hp_symbol_file before;
	struct hp_error *error;

	if (!name)
		return hp_error_create_no_memory();
	error = hp_contents_read_symbols(writer->directory, image, &before);
	if (error)
		return hp_error_wrap(error, "epoch %s", writer->name);
	if (before.has_unknown)
		error = hp_writing_would_lose();
	if (!error)
		error = hp_writing_reopen(writer);
	if (!error)
		error = encode_united(image, &before, symbols, count, &file);
	if (!error)
		error = hp_file_replace(writer->directory, name, file.bytes, file.size,
					writer->file_mode);
	hp_symbol_file_clear(&before);
	hp_writer_free(&file);
	return hp_error_wrap(error, "epoch %s: %s", writer->name, name);
}

/* A damaged one, or one of another file, as it were, gives way to what is known now. */
static struct hp_error *encode_added_excerpt(struct hp_epoch_writer *writer,
					     const struct hp_image_id *image,
					     const struct hp_excerpt *excerpt,
					     struct hp_writer *file)
{
	struct hp_excerpt_file before;
	struct hp_error *error = hp_contents_read_excerpt(writer->directory, image, &before);

	if (error && error->class == HP_ERROR_DAMAGED) {
		hp_error_destroy(error);
		return hp_excerpt_encode(image, excerpt, file);
	}
	if (!error && before.has_unknown)
		error = hp_writing_would_lose();
	if (!error)
		error = hp_excerpt_add(&before.excerpt, excerpt);
	if (!error)
		error = hp_excerpt_encode(image, &before.excerpt, file);
	hp_excerpt_file_clear(&before);
	return error;
}

struct hp_error *hp_epoch_writer_excerpt(struct hp_epoch_writer *writer, size_t index,
					 const struct hp_excerpt *excerpt)
{
	const struct hp_image_id *image = &writer->before.index.entries[index].id;
	_cleanup_free_ char *name = hp_excerpt_name(image);
	struct hp_writer file = { 0 };
	struct hp_error *error;

	if (hp_excerpt_is_empty(excerpt))
		return NULL;
	if (!name)
		return hp_error_create_no_memory();
	error = encode_added_excerpt(writer, image, excerpt, &file);
	if (!error)
		error = hp_writing_reopen(writer);
	if (!error)
		error = hp_file_replace(writer->directory, name, file.bytes, file.size,
					writer->file_mode);
	hp_writer_free(&file);
	return hp_error_wrap(error, "epoch %s: %s", writer->name, name);
}

/* The file with `more`; how many items that would be. */
static struct hp_error *encode_added(struct hp_epoch_writer *writer,
				     const struct hp_window_evidence *more, struct hp_writer *file,
				     uint64_t *items)
{
	struct hp_error *error;
	bool has_unknown;
	bool found;
	uint8_t *bytes;
	size_t size;

	error = hp_contents_read_file(writer->directory, HP_EVIDENCE_NAME, &bytes, &size, &found);
	if (!error)
		error = hp_evidence_add_encoded(found ? bytes : NULL, size, more, file,
						&has_unknown, items);
	if (!error && has_unknown)
		error = hp_writing_would_lose();
	return error;
}

static struct hp_error *encode_without_events(struct hp_epoch_writer *writer,
					      const struct hp_window_evidence *evidence,
					      struct hp_writer *file, uint64_t *items)
{
	struct hp_window_evidence bare = { 0 };
	struct hp_error *error = hp_window_evidence_add_without_events(&bare, evidence);

	if (!error)
		error = encode_added(writer, &bare, file, items);
	hp_window_evidence_clear(&bare);
	return error;
}

/* What is there already stays as it is, and is readable. */
static struct hp_error *encode_without_counts(struct hp_epoch_writer *writer,
					      const struct hp_window_evidence *evidence,
					      struct hp_writer *file)
{
	struct hp_window_evidence bare = { 0 };
	uint64_t items;
	struct hp_error *error = hp_window_evidence_add_without_counts(&bare, evidence);

	if (!error)
		error = hp_window_evidence_add_reason(&bare, true, "the epoch has no room for more",
						      1);
	if (!error)
		error = encode_added(writer, &bare, file, &items);
	hp_window_evidence_clear(&bare);
	return error;
}

struct hp_error *hp_epoch_writer_read_windows(struct hp_epoch_writer *writer,
					      struct hp_window_evidence *evidence)
{
	return hp_error_wrap(hp_contents_read_windows(writer->directory, evidence), "epoch %s",
			     writer->name);
}

struct hp_error *hp_epoch_writer_evidence(struct hp_epoch_writer *writer,
					  const struct hp_window_evidence *evidence)
{
	struct hp_writer file = { 0 };
	struct hp_error *error = hp_window_evidence_check(evidence);
	uint64_t items;

	if (!error && hp_window_evidence_is_empty(evidence))
		return NULL;
	if (!error)
		error = hp_writing_reopen(writer);
	if (!error)
		error = encode_added(writer, evidence, &file, &items);
	if (!error && items > HP_EVIDENCE_MOST_ITEMS)
		error = encode_without_events(writer, evidence, &file, &items);
	if (!error && items > HP_EVIDENCE_MOST_ITEMS)
		error = encode_without_counts(writer, evidence, &file);
	if (!error)
		error = hp_file_replace(writer->directory, HP_EVIDENCE_NAME, file.bytes, file.size,
					writer->file_mode);
	hp_writer_free(&file);
	if (error)
		return hp_error_wrap(error, "epoch %s: " HP_EVIDENCE_NAME, writer->name);
	writer->holds_data = true;
	return NULL;
}

/* Of an epoch that is recorded, for days maybe: 5 MiB of memory. */
enum { PATH_NODES = HP_PATHS_DEFAULT_NODES };

/* Reads what there is, has it added to, and writes it. */
static struct hp_error *encode_added_paths(struct hp_epoch_writer *writer, size_t limit,
					   hp_paths_adder add, void *context,
					   struct hp_writer *file)
{
	struct hp_paths sum;
	bool has_unknown;
	struct hp_error *error = hp_contents_read_paths(writer->directory, &sum, &has_unknown);

	if (error)
		return error;
	if (has_unknown)
		error = hp_writing_would_lose();
	sum.node_limit = sum.nodes.count > limit ? sum.nodes.count : limit;
	if (!error)
		error = add(context, &sum);
	if (!error)
		error = hp_paths_bound(&sum);
	if (!error)
		error = hp_paths_check(&sum);
	if (!error)
		error = hp_paths_encode(&sum, file);
	hp_paths_clear(&sum);
	return error;
}

static struct hp_error *add_paths(struct hp_epoch_writer *writer, size_t limit, hp_paths_adder add,
				  void *context)
{
	struct hp_writer file = { 0 };
	struct hp_error *error = hp_writing_reopen(writer);

	if (!error)
		error = encode_added_paths(writer, limit, add, context, &file);
	if (!error)
		error = hp_file_replace(writer->directory, HP_PATHS_NAME, file.bytes, file.size,
					writer->file_mode);
	hp_writer_free(&file);
	if (error)
		return hp_error_wrap(error, "epoch %s: " HP_PATHS_NAME, writer->name);
	writer->holds_data = true;
	return NULL;
}

struct hp_error *hp_epoch_writer_add_paths(struct hp_epoch_writer *writer, hp_paths_adder add,
					   void *context)
{
	return add_paths(writer, PATH_NODES, add, context);
}

static struct hp_error *add_tree(void *context, struct hp_paths *sum)
{
	const struct hp_paths *const *paths = context;

	return hp_paths_merge(sum, *paths);
}

struct hp_error *hp_writing_add_paths(struct hp_epoch_writer *writer, const struct hp_paths *paths,
				      size_t limit)
{
	struct hp_error *error = hp_paths_check(paths);

	if (error)
		return hp_error_wrap(error, "epoch %s: " HP_PATHS_NAME, writer->name);
	return hp_paths_samples(paths, NULL) ? add_paths(writer, limit, add_tree, &paths) : NULL;
}

struct hp_error *hp_epoch_writer_paths(struct hp_epoch_writer *writer, const struct hp_paths *paths)
{
	return hp_writing_add_paths(writer, paths, PATH_NODES);
}

struct hp_error *hp_epoch_writer_read_paths(struct hp_epoch_writer *writer, struct hp_paths *paths)
{
	return hp_error_wrap(hp_contents_read_paths(writer->directory, paths, NULL), "epoch %s",
			     writer->name);
}

struct hp_error *hp_epoch_writer_bytes(struct hp_epoch_writer *writer, size_t index,
				       const void *bytes, size_t size)
{
	struct hp_index_entry *entry = &writer->before.index.entries[index];
	_cleanup_free_ char *name = hp_bytes_name(&entry->id);
	struct hp_error *error;

	if (!name)
		return hp_error_create_no_memory();
	/* The same image has the same bytes: what is kept stays, whoever dies now. */
	if (entry->has_bytes)
		return NULL;
	if (size > HP_CONTAINER_MAX_FILE_BYTES)
		return hp_error_create(HP_ERROR_USAGE, "%s: %zu bytes are too many to keep", name,
				       size);
	error = hp_writing_reopen(writer);
	if (!error)
		error = hp_file_replace(writer->directory, name, bytes, size, writer->file_mode);
	if (error)
		return hp_error_wrap(error, "epoch %s", writer->name);
	entry->has_bytes = true;
	entry->bytes_size = (uint32_t)size;
	entry->bytes_crc = (uint32_t)crc32_z(0, bytes, size);
	writer->index_changed = true;
	return NULL;
}
