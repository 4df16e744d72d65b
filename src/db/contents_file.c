/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads single files of an epoch, and checks that their contents are what their names say. */
#include "contents.h"

#include "directory.h"
#include "names.h"

#include <hpcprof/base/cleanup.h>

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <zlib.h>

struct hp_error *hp_contents_read_file(int directory, const char *name, uint8_t **bytes,
				       size_t *size, bool *found)
{
	struct hp_error *error;

	if (found)
		*found = true;
	if (!name)
		return hp_error_create_no_memory();
	error = hp_directory_read_file(directory, name, HP_CONTAINER_MAX_FILE_BYTES, bytes, size);
	if (!error)
		return NULL;
	if (error->errno_value != ENOENT)
		return error;
	hp_error_destroy(error);
	if (!found)
		return hp_error_create(HP_ERROR_DAMAGED, "%s is missing", name);
	*found = false;
	return NULL;
}

struct hp_error *hp_contents_wrong_key(const char *name)
{
	return hp_error_create(HP_ERROR_DAMAGED,
			       "%s: offset 0x%x: it belongs to another image or event", name,
			       HP_CONTAINER_HEADER_BYTES);
}

static bool has_key(const struct hp_profile *profile, const struct hp_image_id *image,
		    const char *event)
{
	return hp_image_id_compare(&profile->image, image) == 0 &&
	       strcmp(profile->event, event) == 0;
}

static struct hp_error *empty_profile(const struct hp_image_id *image, const char *event,
				      struct hp_profile *profile)
{
	struct hp_error *error;

	*profile = (struct hp_profile){ 0 };
	profile->event = strdup(event);
	if (!profile->event)
		return hp_error_create_no_memory();
	error = hp_image_id_copy(image, &profile->image);
	if (error)
		hp_profile_clear(profile);
	return error;
}

struct hp_error *hp_contents_read_profile(int directory, const struct hp_image_id *image,
					  const char *event, struct hp_profile *profile,
					  bool *has_unknown)
{
	_cleanup_free_ char *name = hp_profile_name(image, event);
	struct hp_error *lost = NULL;
	struct hp_error *error;
	uint8_t *bytes;
	size_t size;
	bool found;

	*profile = (struct hp_profile){ 0 };
	if (has_unknown)
		*has_unknown = false;
	error = hp_contents_read_file(directory, name, &bytes, &size, &found);
	if (error)
		return error;
	if (!found)
		return empty_profile(image, event, profile);
	error = hp_error_wrap(hp_profile_decode(bytes, size, profile, has_unknown, &lost), "%s",
			      name);
	hp_error_destroy(lost);
	if (error)
		return error;
	profile->image.deleted = image->deleted;
	if (has_key(profile, image, event))
		return NULL;
	hp_profile_clear(profile);
	return hp_contents_wrong_key(name);
}

struct hp_error *hp_contents_read_symbols(int directory, const struct hp_image_id *image,
					  struct hp_symbol_file *symbols)
{
	_cleanup_free_ char *name = hp_symbols_name(image);
	struct hp_error *error;
	uint8_t *bytes;
	size_t size;
	bool found;

	*symbols = (struct hp_symbol_file){ 0 };
	error = hp_contents_read_file(directory, name, &bytes, &size, &found);
	if (error || !found)
		return error;
	error = hp_error_wrap(hp_symbols_decode(bytes, size, symbols), "%s", name);
	if (error)
		return error;
	symbols->lost = hp_error_wrap(symbols->lost, "%s", name);
	if (hp_image_id_compare(&symbols->image, image) == 0)
		return NULL;
	hp_symbol_file_clear(symbols);
	return hp_contents_wrong_key(name);
}

struct hp_error *hp_contents_read_excerpt(int directory, const struct hp_image_id *image,
					  struct hp_excerpt_file *excerpt)
{
	_cleanup_free_ char *name = hp_excerpt_name(image);
	struct hp_error *error;
	uint8_t *bytes;
	size_t size;
	bool found;

	*excerpt = (struct hp_excerpt_file){ 0 };
	error = hp_contents_read_file(directory, name, &bytes, &size, &found);
	if (error || !found)
		return error;
	error = hp_error_wrap(hp_excerpt_decode(bytes, size, excerpt), "%s", name);
	if (error)
		return error;
	excerpt->lost = hp_error_wrap(excerpt->lost, "%s", name);
	if (hp_image_id_compare(&excerpt->image, image) == 0)
		return NULL;
	hp_excerpt_file_clear(excerpt);
	return hp_contents_wrong_key(name);
}

struct hp_error *hp_contents_read_evidence(int directory, struct hp_window_evidence *evidence,
					   bool *has_unknown, struct hp_error **lost)
{
	struct hp_error *error;
	uint8_t *bytes;
	size_t size;
	bool found;

	*evidence = (struct hp_window_evidence){ 0 };
	if (has_unknown)
		*has_unknown = false;
	if (lost)
		*lost = NULL;
	error = hp_contents_read_file(directory, HP_EVIDENCE_NAME, &bytes, &size, &found);
	if (error || !found)
		return error;
	error = hp_evidence_decode(bytes, size, evidence, has_unknown, lost);
	if (lost)
		*lost = hp_error_wrap(*lost, HP_EVIDENCE_NAME);
	return hp_error_wrap(error, HP_EVIDENCE_NAME);
}

struct hp_error *hp_contents_read_windows(int directory, struct hp_window_evidence *evidence)
{
	struct hp_error *error;
	uint8_t *bytes;
	size_t size;
	bool found;

	*evidence = (struct hp_window_evidence){ 0 };
	error = hp_contents_read_file(directory, HP_EVIDENCE_NAME, &bytes, &size, &found);
	if (error || !found)
		return error;
	return hp_error_wrap(hp_evidence_decode_windows(bytes, size, evidence), HP_EVIDENCE_NAME);
}

struct hp_error *hp_contents_read_paths(int directory, struct hp_paths *paths, bool *has_unknown)
{
	struct hp_error *error;
	uint8_t *bytes;
	size_t size;
	bool found;

	*paths = (struct hp_paths){ 0 };
	if (has_unknown)
		*has_unknown = false;
	error = hp_contents_read_file(directory, HP_PATHS_NAME, &bytes, &size, &found);
	if (error || !found)
		return error;
	return hp_error_wrap(hp_paths_decode(bytes, size, paths, has_unknown), HP_PATHS_NAME);
}

struct hp_error *hp_contents_check_bytes(int directory, const struct hp_index_entry *entry)
{
	_cleanup_free_ char *name = hp_bytes_name(&entry->id);
	_cleanup_free_ uint8_t *bytes = NULL;
	struct hp_error *error;
	size_t size = 0;

	error = hp_contents_read_file(directory, name, &bytes, &size, NULL);
	if (error)
		return error;
	if (size != entry->bytes_size)
		return hp_error_create(HP_ERROR_DAMAGED,
				       "%s: offset 0x%zx: %zu bytes, and should have %" PRIu32,
				       name, size < entry->bytes_size ? size : entry->bytes_size,
				       size, entry->bytes_size);
	if ((uint32_t)crc32_z(0, bytes, size) != entry->bytes_crc)
		return hp_error_create(HP_ERROR_DAMAGED,
				       "%s: offset 0x0: the checksum of the kept bytes does "
				       "not fit",
				       name);
	return NULL;
}

bool hp_contents_totals(const struct hp_profile *profile, uint64_t *samples, uint64_t *weight)
{
	*samples = *weight = 0;
	for (size_t i = 0; i < profile->stratum_count; i++) {
		const struct hp_stratum *stratum = &profile->strata[i];
		uint64_t sum = 0;
		uint64_t product;

		for (size_t j = 0; j < stratum->count_count; j++) {
			if (__builtin_add_overflow(sum, stratum->counts[j].samples, &sum))
				return false;
		}
		if (__builtin_add_overflow(*samples, sum, samples) ||
		    __builtin_mul_overflow(sum, stratum->period, &product) ||
		    __builtin_add_overflow(*weight, product, weight))
			return false;
	}
	return true;
}
