/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --evidence=counts:FILE: exact counts of executions in the whole epoch, one per line:
 *
 *	IMAGE_PATH LINK_ADDRESS_HEX COUNT
 *
 * The path may contain blanks; '#' begins a comment line. The file is not trusted: a line that does
 * not fit is an error that names the line.
 */
#include <hpcprof/base/file.h>
#include <hpcprof/base/number.h>
#include <hpcprof/base/search.h>
#include "exact_counts.h"
#include "images.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static const size_t largest_bytes = (size_t)256 << 20;

HP_ORDER_BY(compare_evidence, struct hp_evidence, address.value);

/* Cuts off the last word of the text and returns it; NULL when nothing is left before it. */
static char *cut_word(char *text)
{
	char *end = text + strlen(text);
	char *word;

	while (end > text && strchr(" \t\r", end[-1]))
		*--end = '\0';
	for (word = end; word > text && !strchr(" \t", word[-1]); word--)
		;
	if (word == text || word == end)
		return NULL;
	word[-1] = '\0';
	return word;
}

static void trim(char *text)
{
	size_t length = strlen(text);

	while (length > 0 && strchr(" \t", text[length - 1]))
		text[--length] = '\0';
}

static const struct hp_loaded_image *image_named(const struct hp_inference *inference,
						 const char *path)
{
	for (size_t i = 0; i < inference->profiles->images.count; i++)
		if (strcmp(inference->profiles->images.at[i]->id.path, path) == 0)
			return inference->profiles->images.at[i];
	return NULL;
}

static bool parse_address(const char *word, uint64_t *address)
{
	char text[32];

	if (strlen(word) > 18)
		return false;
	snprintf(text, sizeof(text), "%s%s",
		 word[0] == '0' && (word[1] == 'x' || word[1] == 'X') ? "" : "0x", word);
	return hp_parse_u64(text, address);
}

/* Lines for images that are not in the profile. */
struct unmatched {
	size_t count;
	const char *first; /* path of the first such image; owned by the report */
};

static struct hp_error *parse_line(struct hp_inference *inference, char *line,
				   struct unmatched *unmatched)
{
	struct hp_evidence evidence = { .kind = HP_EVIDENCE_COUNT };
	char *path = line + strspn(line, " \t\r");
	const struct hp_loaded_image *image;
	char *count;
	char *address;

	if (!*path || *path == '#')
		return NULL;
	count = cut_word(path);
	address = count ? cut_word(path) : NULL;
	if (!address)
		return hp_error_create(HP_ERROR_USAGE, "not IMAGE_PATH ADDRESS COUNT");
	if (!parse_address(address, &evidence.address.value))
		return hp_error_create(HP_ERROR_USAGE, "'%s' is not a hexadecimal address",
				       address);
	if (!hp_parse_double(count, &evidence.value) || evidence.value < 0)
		return hp_error_create(HP_ERROR_USAGE, "'%s' is not a count", count);
	trim(path);
	image = image_named(inference, path);
	if (!image) {
		if (!unmatched->count++)
			unmatched->first = hp_profiles_intern(inference->profiles, path);
		return unmatched->first ? NULL : hp_error_create_no_memory();
	}
	return hp_vector_push(&inference->images[image->index].exact, evidence)
		       ? NULL
		       : hp_error_create_no_memory();
}

static struct hp_error *parse(struct hp_inference *inference, char *text, size_t size,
			      struct unmatched *unmatched)
{
	struct hp_error *error = NULL;
	size_t number = 0;

	if (strlen(text) != size)
		return hp_error_create(HP_ERROR_USAGE, "it is not text");
	for (char *line = text; line && !error; number++) {
		char *end = strchr(line, '\n');

		if (end)
			*end = '\0';
		error = parse_line(inference, line, unmatched);
		line = end ? end + 1 : NULL;
	}
	return hp_error_wrap(error, "line %zu", number);
}

struct hp_error *exact_counts_load(struct hp_inference *inference)
{
	static const char prefix[] = "counts:";
	const char *name = inference->options->exact_counts;
	_cleanup_free_ uint8_t *text = NULL;
	_cleanup_close_ int file = -1;
	struct unmatched unmatched = { 0 };
	struct hp_error *error;
	size_t size;

	if (!name)
		return NULL;
	if (strncmp(name, prefix, strlen(prefix)) != 0)
		return hp_error_advise(hp_error_create(HP_ERROR_USAGE, "--evidence: '%s'", name),
				       "its form is counts:FILE");
	name += strlen(prefix);
	file = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file < 0)
		return hp_error_create_errno(errno, "--evidence: %s", name);
	error = hp_file_read_fd(file, largest_bytes, &text, &size);
	if (!error)
		error = parse(inference, (char *)text, size, &unmatched);
	if (error)
		return hp_error_wrap(error, "--evidence: %s", name);
	if (unmatched.count)
		hp_profiles_warn(inference->profiles,
				 "the path must be the recorded one: hpcprof report --images "
				 "--format=csv lists them all",
				 "--evidence: %s: %zu line%s not used, because no image of the "
				 "profile has that path; the first is %s",
				 name, unmatched.count, unmatched.count == 1 ? "" : "s",
				 unmatched.first);
	for (size_t i = 0; i < inference->profiles->images.count; i++) {
		struct inferred_image *image = &inference->images[i];

		if (image->exact.count)
			qsort(image->exact.at, image->exact.count, sizeof(*image->exact.at),
			      compare_evidence);
	}
	return NULL;
}

/* Index of the first count at or after the address. */
static size_t first_at(const struct inferred_image *image, uint64_t address)
{
	return hp_bisect(i, image->exact.count, image->exact.at[i].address.value < address);
}

const struct hp_evidence *exact_counts_of(const struct hp_inference *inference,
					  const struct hp_loaded_image *image,
					  const struct hp_cfg *cfg, size_t *count)
{
	const struct inferred_image *inferred = &inference->images[image->index];
	const struct hp_block *last = &cfg->blocks[cfg->block_count - 1];
	size_t first;

	*count = 0;
	if (cfg->block_count == 0 || inferred->exact.count == 0)
		return NULL;
	first = first_at(inferred, cfg->blocks[0].address.value);
	*count = first_at(inferred, last->address.value + last->bytes) - first;
	return &inferred->exact.at[first];
}
