/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source_access.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const char *const extensions[] = {
	"adb", "ads", "asm",  "c",    "c++",  "cc",  "cpp",   "cppm",  "cr",  "cu",    "cuh",
	"cxx", "d",   "def",  "f",    "f03",  "f08", "f77",   "f90",   "f95", "for",   "go",
	"h",   "h++", "hh",   "hpp",  "hs",   "hxx", "i",     "ii",    "inc", "inl",   "ino",
	"ipp", "ixx", "java", "jl",   "js",   "kt",  "l",     "ll",    "lpp", "lua",   "m",
	"ml",  "mm",  "mod",  "nim",  "odin", "pas", "php",   "pl",    "pp",  "proto", "py",
	"pyx", "rb",  "re",   "rl",   "rs",   "s",   "scala", "swift", "sx",  "tbl",   "tcc",
	"tpp", "ts",  "v",    "vala", "y",    "ypp", "zig",
};

bool source_has_name_of_one(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');

	/* such as <vector> */
	if (!dot)
		return strstr(path, "/include/") && !strstr(path, "/../");
	for (size_t i = 0; i < sizeof(extensions) / sizeof(extensions[0]); i++) {
		if (strcasecmp(dot + 1, extensions[i]) == 0)
			return true;
	}
	return false;
}

bool source_is_text(const char *text, size_t size)
{
	return !memchr(text, '\0', size);
}

static bool is_open_to(uid_t user, const struct stat *status, mode_t own, mode_t others)
{
	return status->st_mode & (status->st_uid == user ? own : others);
}

bool source_may_be_read_by(uid_t user, int fd, const struct stat *status)
{
	char link[64];
	char path[PATH_MAX];
	struct stat above;
	ssize_t length;

	if (user == geteuid())
		return true;
	if (!is_open_to(user, status, S_IRUSR, S_IROTH))
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path));
	if (length <= 0 || (size_t)length >= sizeof(path) || path[0] != '/')
		return false;
	path[length] = '\0';
	for (char *slash = strrchr(path, '/'); slash; slash = strrchr(path, '/')) {
		*slash = '\0';
		if (stat(slash == path ? "/" : path, &above) < 0 ||
		    !is_open_to(user, &above, S_IXUSR, S_IXOTH))
			return false;
	}
	return true;
}
