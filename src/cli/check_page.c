/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check_page.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char advice[] = "--html takes the name of a file in a directory that you can write to";

/* Nothing may be there, or a file, or a link to one or to nothing. */
static bool can_stand_there(const struct check_page *page)
{
	struct stat status;

	if (!*page->name || strcmp(page->name, ".") == 0 || strcmp(page->name, "..") == 0)
		return false;
	return fstatat(page->directory, page->name, &status, 0) < 0 || S_ISREG(status.st_mode);
}

static struct hp_error *look(const struct check_page *page)
{
	if (!can_stand_there(page))
		return hp_error_create(HP_ERROR_USAGE, "it is not a file");
	/* Of an effective user, as all that is opened. */
	if (faccessat(page->directory, ".", W_OK | X_OK, AT_EACCESS) < 0)
		return hp_error_create_errno(errno, "its directory");
	return NULL;
}

struct hp_error *check_page_open(const char *path, struct check_page *page)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *directory = slash ? strndup(path, (size_t)(slash - path) + 1)
					       : strdup(".");
	struct hp_error *error;

	*page = (struct check_page){ .path = path, .name = slash ? slash + 1 : path };
	page->directory = directory ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	error = page->directory < 0 ? hp_error_create_errno(errno, "its directory") : look(page);
	return hp_error_advise(hp_error_wrap(error, "--html=%s", path), "%s", advice);
}

struct hp_error *check_page_write(const struct check_page *page,
				  const struct hp_comparison *comparison,
				  const struct hp_comparison_options *options)
{
	_cleanup_free_ char *text = NULL;
	struct hp_error *error;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return hp_error_create_no_memory();
	error = hp_comparison_write(comparison, HP_COMPARISON_HTML, options, out);
	if (fclose(out) != 0 && !error)
		error = hp_error_create_no_memory();
	if (!error)
		error = hp_file_replace(page->directory, page->name, text, size, 0644);
	return hp_error_advise(hp_error_wrap(error, "--html=%s", page->path), "%s", advice);
}

void check_page_close(struct check_page *page)
{
	if (page->path && page->directory >= 0)
		close(page->directory);
	*page = (struct check_page){ 0 };
}
