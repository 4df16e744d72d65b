/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nameless.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>
#include <hpcprof/base/number.h>

#include <dirent.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- runtimes --------------------------------------------------------------------------------- */

static const struct {
	const char *command; /* glob of the process's command */
	const char *library; /* glob of a file that only its programs map */
	const char *option;
} runtimes[] = {
	{ "java*", "libjvm.so*",
	  "java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit names it (JDK 17 and later; "
	  "before: perf-map-agent)" },
	{ "node*", "libnode.so*", "node --perf-basic-prof names it" },
	{ "python*", "libpython3.*", "python -X perf names it (3.12 and later)" },
	{ "luajit*", "libluajit*", "a LuaJIT built with -DLUAJIT_USE_PERFTOOLS names it" },
	{ "dotnet*", "libcoreclr.so*", "DOTNET_PerfMapEnabled=1 in the environment names it" },
};

/* Whether "[anon COMMAND]" is of this command. */
static bool is_of(const char *anonymous, const char *command)
{
	_cleanup_free_ char *pattern = NULL;

	return asprintf(&pattern, "[[]anon %s]", command) >= 0 &&
	       fnmatch(pattern, anonymous, 0) == 0;
}

static bool has_image(const struct report *report, const char *library)
{
	for (size_t i = 0; i < report->profiles->images.count; i++)
		if (fnmatch(library, hp_image_basename(report->profiles->images.at[i]->id.path),
			    0) == 0)
			return true;
	return false;
}

const char *nameless_runtime(const struct report *report, const struct hp_loaded_image *image)
{
	const char *option = NULL;

	for (size_t i = 0; i < HP_ARRAY_COUNT(runtimes); i++)
		if (is_of(image->id.path, runtimes[i].command))
			return runtimes[i].option;
	/* A program that contains a runtime is recognized by its name. */
	for (size_t i = 0; i < HP_ARRAY_COUNT(runtimes); i++)
		if (has_image(report, runtimes[i].library)) {
			if (option)
				return NULL;
			option = runtimes[i].option;
		}
	return option;
}

/* --- packages --------------------------------------------------------------------------------- */

/* A list names the files of one package, one per line; the largest have a few MiB. */
enum { LONGEST_LIST_BYTES = 32 << 20 };

static bool lists_path(const char *list, const char *path)
{
	size_t length = strlen(path);

	for (const char *at = list; (at = strstr(at, path)); at += length)
		if ((at == list || at[-1] == '\n') && (!at[length] || at[length] == '\n'))
			return true;
	return false;
}

/* Packages from before /lib and /bin became links into /usr list their files there. */
static bool owns(int directory, const char *name, const char *path)
{
	static const char merged[] = "/usr/";
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t size;
	struct hp_error *error =
		hp_file_read_at(directory, name, LONGEST_LIST_BYTES, &bytes, &size);

	if (error) {
		hp_error_destroy(error);
		return false;
	}
	return lists_path((const char *)bytes, path) ||
	       (strncmp(path, merged, strlen(merged)) == 0 &&
		lists_path((const char *)bytes, path + strlen(merged) - 1));
}

/* "libc6" for "libc6:amd64.list"; malloc'ed; NULL for other files. */
static char *package_of(const char *list)
{
	const char *end = strrchr(list, '.');

	if (!end || strcmp(end, ".list") != 0)
		return NULL;
	return strndup(list, strcspn(list, ":") < (size_t)(end - list) ? strcspn(list, ":")
								       : (size_t)(end - list));
}

/* The package that contains the file, malloc'ed; NULL: none. */
static char *owner_of(DIR *lists, const char *path)
{
	char *owner = NULL;

	for (const struct dirent *entry = readdir(lists); entry && !owner; entry = readdir(lists)) {
		_cleanup_free_ char *package = package_of(entry->d_name);

		if (package && owns(dirfd(lists), entry->d_name, path))
			owner = hp_steal(package);
	}
	return owner;
}

char *nameless_advice(const struct report *report, const struct hp_loaded_image *image)
{
	const char *root = report->options->of.symfs ? report->options->of.symfs : "";
	_cleanup_free_ char *place = NULL;
	_cleanup_free_ char *owner = NULL;
	char *advice = NULL;
	DIR *lists;
	int length;

	if (asprintf(&place, "%s/var/lib/dpkg/info", root) < 0) {
		place = NULL;
		return NULL;
	}
	lists = opendir(place);
	if (!lists)
		return strdup("install its debug symbols, or set DEBUGINFOD_URLS");
	owner = owner_of(lists, image->id.path);
	closedir(lists);
	if (owner)
		length = asprintf(&advice, "install %s-dbgsym or %s-dbg, or set DEBUGINFOD_URLS",
				  owner, owner);
	else
		length = asprintf(&advice, "no package has this file: build it without -s and "
					   "strip, or set DEBUGINFOD_URLS");
	return length < 0 ? NULL : advice;
}
