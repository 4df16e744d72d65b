/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source.h"
#include "source_access.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>
#include <hpcprof/base/foreign_file.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { LARGEST_BYTES = 64 << 20 };

/* Opens a path from debugging information, which may name any file. */
static int open_source(const struct sources *sources, const char *path, struct stat *status)
{
	_cleanup_free_ char *below = NULL;
	int fd = -1;

	if (sources->symfs && asprintf(&below, "%s/%s", sources->symfs, path) >= 0)
		fd = hp_foreign_open(below, 0, status);
	else
		below = NULL;
	return fd >= 0 ? fd : hp_foreign_open(path, 0, status);
}

static bool is_newer(const struct sources *sources, const struct stat *status)
{
	const uint64_t second_ns = 1000000000;
	uint64_t seconds = sources->recorded_ns / second_ns;
	uint64_t rest_ns = sources->recorded_ns % second_ns;

	if (!sources->recorded_ns || status->st_mtim.tv_sec < 0)
		return false;
	if ((uint64_t)status->st_mtim.tv_sec != seconds)
		return (uint64_t)status->st_mtim.tv_sec > seconds;
	return (uint64_t)status->st_mtim.tv_nsec > rest_ns;
}

static bool index_lines(struct source_file *file, size_t size)
{
	size_t count = 1;

	for (size_t i = 0; i < size; i++)
		count += file->text[i] == '\n';
	if (count >= UINT32_MAX)
		return true;
	file->lines = calloc(count + 1, sizeof(*file->lines));
	if (!file->lines)
		return false;
	file->lines[file->line_count++] = file->text;
	for (size_t i = 0; i < size; i++)
		if (file->text[i] == '\n')
			file->lines[file->line_count++] = file->text + i + 1;
	file->lines[file->line_count] = file->text + size + 1;
	return true;
}

static struct hp_error *read_source(const struct sources *sources, struct source_file *file)
{
	struct stat status;
	_cleanup_close_ int fd = open_source(sources, file->path, &status);
	struct hp_error *error;
	uint8_t *bytes;
	size_t size;

	if (fd < 0)
		return NULL;
	file->withheld = !source_has_name_of_one(file->path) ||
			 !source_may_be_read_by(sources->user, fd, &status);
	if (file->withheld)
		return NULL;
	error = hp_file_read_fd(fd, LARGEST_BYTES, &bytes, &size);
	if (error && error->errno_value == ENOMEM)
		return error;
	if (error) {
		hp_error_destroy(error);
		return NULL;
	}
	if (!source_is_text((const char *)bytes, size)) {
		file->withheld = true;
		free(bytes);
		return NULL;
	}
	file->text = (char *)bytes;
	file->is_newer = is_newer(sources, &status);
	return index_lines(file, size) ? NULL : hp_error_create_no_memory();
}

static struct hp_error *find_file(struct sources *sources, const char *path,
				  const struct source_file **found)
{
	struct source_file file = { 0 };
	struct hp_error *error;

	/* Most lines are from the same file as the line before. */
	for (size_t i = sources->files.count; i-- > 0;) {
		*found = &sources->files.at[i];
		if (strcmp((*found)->path, path) == 0)
			return NULL;
	}
	file.path = strdup(path);
	error = file.path ? read_source(sources, &file) : hp_error_create_no_memory();
	if (!error && !hp_vector_push(&sources->files, file))
		error = hp_error_create_no_memory();
	if (error) {
		free(file.path);
		free(file.text);
		free(file.lines);
		return error;
	}
	*found = &sources->files.at[sources->files.count - 1];
	return NULL;
}

struct hp_error *source_line(struct sources *sources, const char *path, uint32_t line,
			     const char **text, size_t *length)
{
	const struct source_file *file = NULL;
	struct hp_error *error = find_file(sources, path, &file);

	*text = NULL;
	*length = 0;
	if (error || !file || !line || line > file->line_count)
		return error;
	*text = file->lines[line - 1];
	*length = (size_t)(file->lines[line] - *text) - 1;
	return NULL;
}

void sources_clear(struct sources *sources)
{
	for (size_t i = 0; i < sources->files.count; i++) {
		free(sources->files.at[i].path);
		free(sources->files.at[i].text);
		free(sources->files.at[i].lines);
	}
	hp_vector_free(&sources->files);
}
