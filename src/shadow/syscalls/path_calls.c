/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls that name a file. hpcprof asks the file system for the copy, and changes nothing. It does
 * so only if the target has exactly the rights that hpcprof has (may_name). Names of the kernel's
 * files end the window: their contents depend on who reads them, or change by themselves.
 *
 * The original runs ahead of its copy: what it made in the window exists already (file_names.h),
 * what it removed does not. A call that asks whether a file exists gets the answer that it does
 * not, even if that is in doubt; a call that opens a file ends the window then, as programs mostly
 * open what they know to exist. A copy that got a wrong answer leaves the original's path, and no
 * sample matches any more.
 */
#include "answers.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/foreign_file.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CHUNK = 256 };
/* The C library defines O_LARGEFILE as 0; the kernel's value is this. */
enum { KERNEL_LARGEFILE = 00100000 };

/* Reads a string of the copy in pieces, since the page after it may not be mapped. */
static bool read_name(struct shadow_calls *calls, uint64_t from, char *text, size_t size)
{
	size_t at = 0;

	while (at < size) {
		size_t piece = CHUNK - (size_t)((from + at) % CHUNK);

		if (piece > size - at)
			piece = size - at;
		if (!sandbox_read(calls->sandbox, from + at, text + at, piece))
			return false;
		if (memchr(text + at, 0, piece))
			return true;
		at += piece;
	}
	return false;
}

/* The directory at which the lookup of `wanted` starts, as we reach it. */
static bool find_base(struct shadow_calls *calls, int directory, const char *wanted, char base[64])
{
	const struct descriptor *descriptor;

	if (*wanted == '/' || directory == AT_FDCWD) {
		int root = *wanted == '/' ? calls->roots.root : calls->roots.current;

		snprintf(base, 64, "/proc/self/fd/%d", root);
		return calls->roots.are_known && root >= 0;
	}
	descriptor = directory < 0 ? NULL
				   : descriptors_find(calls->descriptors, (uint64_t)directory);
	if (!descriptor || descriptor->kind != DESCRIPTOR_DIRECTORY)
		return false;
	if (descriptor->is_new)
		snprintf(base, 64, "/proc/self/fd/%d", descriptor->fd);
	else
		snprintf(base, 64, "/proc/%d/fd/%d", (int)calls->pid, directory);
	return true;
}

static bool is_device(const struct stat *status)
{
	return (S_ISCHR(status->st_mode) || S_ISBLK(status->st_mode)) &&
	       !descriptor_is_null(status);
}

/*
 * Whether `wanted` is, or would be, in a file system that stores files: kernel file systems answer
 * differently to each reader. If it does not exist, its nearest existing directory decides. Magic
 * links (/dev/fd) are not followed.
 */
static bool is_plain(int directory, const char *wanted)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_NO_MAGICLINKS,
	};
	char place[PATH_MAX + sizeof("./")];
	struct stat status;
	char *slash;

	/* An absolute path starts at the target's root, which is the directory here. */
	snprintf(place, sizeof(place), "./%s", wanted + strspn(wanted, "/"));
	do {
		_cleanup_close_ int handle =
			(int)syscall(SYS_openat2, directory, place, &how, sizeof(how));

		if (handle >= 0)
			return fstat(handle, &status) == 0 && !is_device(&status) &&
			       hp_file_system_of(handle) == HP_FILE_SYSTEM_KEEPS;
		if (errno != ENOENT && errno != ENOTDIR)
			return false;
		slash = strrchr(place, '/');
		if (slash)
			*slash = 0;
	} while (slash);
	return false;
}

/* False when it cannot be found. `name` has room for NAME_BYTES. */
static bool find_name(struct shadow_calls *calls, int directory, uint64_t name_at, char *name)
{
	_cleanup_close_ int base_fd = -1;
	char wanted[PATH_MAX];
	char base[64];

	if (!read_name(calls, name_at, wanted, sizeof(wanted)) || !*wanted ||
	    !find_base(calls, directory, wanted, base))
		return false;
	base_fd = open(base, O_PATH | O_DIRECTORY | O_CLOEXEC);
	snprintf(name, NAME_BYTES, "%s%s%s", base, *wanted == '/' ? "" : "/", wanted);
	return base_fd >= 0 && is_plain(base_fd, wanted);
}

static enum presence presence_of(const struct shadow_calls *calls, const char *name, bool follow)
{
	return file_names_ask(&calls->touched, &calls->clock, name, follow);
}

static bool ends_since(struct shadow_calls *calls, enum presence presence)
{
	calls->of = presence == PRESENCE_GONE ? "a file that is gone" : "a file that has changed";
	return false;
}

/* That a file does not exist holds for everybody. */
static bool is_absent(struct call *call, int errno_value)
{
	return (errno_value == ENOENT || errno_value == ENOTDIR) && call_done(call, -errno_value);
}

/* --- opening ---------------------------------------------------------------------------------- */

static bool add(struct shadow_calls *calls, struct call *call, const struct descriptor *opened)
{
	const struct descriptor *descriptor = descriptors_add(calls->descriptors, opened);

	return descriptor && call_done(call, descriptor->number);
}

static bool open_to_read(struct shadow_calls *calls, struct call *call, const char *name,
			 uint64_t flags)
{
	struct descriptor opened = {
		.kind = DESCRIPTOR_REGULAR,
		.is_known = true,
		.is_new = true,
		.flags = (int)flags,
	};
	enum presence presence = presence_of(calls, name, !(flags & O_NOFOLLOW));
	_cleanup_close_ int handle = -1;
	struct stat status;
	char again[64];

	if (presence == PRESENCE_GONE || presence == PRESENCE_DOUBT)
		return ends_since(calls, presence);
	if (presence == PRESENCE_NONE)
		return call_done(call, -ENOENT);
	handle = open(name, O_PATH | O_CLOEXEC | ((int)flags & (O_NOFOLLOW | O_DIRECTORY)));
	if (handle < 0)
		return is_absent(call, errno);
	/* Not a pipe: opening it could be noticed, or wait. */
	if (fstat(handle, &status) < 0 || (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)))
		return false;
	if (S_ISDIR(status.st_mode))
		opened.kind = DESCRIPTOR_DIRECTORY;
	snprintf(again, sizeof(again), "/proc/self/fd/%d", handle);
	opened.fd = open(again, O_RDONLY | O_CLOEXEC);
	opened.device = status.st_dev;
	opened.inode = status.st_ino;
	return opened.fd >= 0 && add(calls, call, &opened);
}

/* Whether a file could be created with this name; something may exist there. */
static bool has_directory(const char *name)
{
	char directory[NAME_BYTES];
	struct stat status;

	snprintf(directory, sizeof(directory), "%s", name);
	*(strrchr(directory, '/') + 1) = 0;
	return stat(directory, &status) == 0 && S_ISDIR(status.st_mode) &&
	       access(directory, W_OK | X_OK) == 0;
}

/* It is created or truncated, so earlier contents do not matter. */
static bool is_made_anew(uint64_t flags)
{
	return (flags & O_TRUNC) || (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
}

/* Opens an existing file. Its contents must be unchanged, unless they are not read. */
static bool open_present(struct shadow_calls *calls, const char *name, const struct stat *status,
			 bool is_anew, struct descriptor *opened)
{
	bool is_only_written = (opened->flags & O_ACCMODE) == O_WRONLY;

	opened->is_null = descriptor_is_null(status);
	if (S_ISCHR(status->st_mode) && is_only_written) {
		opened->kind = DESCRIPTOR_OTHER;
		return true;
	}
	if (!S_ISREG(status->st_mode) || access(name, W_OK) < 0)
		return false;
	opened->fd = open(name, O_RDONLY | O_CLOEXEC);
	if (is_anew || is_only_written)
		return true;
	opened->device = status->st_dev;
	opened->inode = status->st_ino;
	opened->size = (uint64_t)status->st_size;
	if (opened->fd >= 0 && shadow_clock_is_before(&calls->clock, status->st_ctim))
		return true;
	return ends_since(calls, PRESENCE_DOUBT);
}

/* Nothing is created or changed, though the copy believes so. The original has done it by now. */
static bool open_to_write(struct shadow_calls *calls, struct call *call, const char *name,
			  uint64_t flags, uint64_t mode)
{
	struct descriptor opened = {
		.kind = DESCRIPTOR_REGULAR,
		.is_known = true,
		.is_new = true,
		.flags = (int)flags,
		.mode = (uint32_t)(mode & 0777 & ~calls->mask),
		.fd = -1,
		.device = DESCRIPTOR_MADE_UP_DEVICE,
		.inode = calls->files_made + 1,
	};
	bool follow = !(flags & O_NOFOLLOW);
	enum presence presence = presence_of(calls, name, follow);
	bool is_anew = is_made_anew(flags);
	struct stat status;
	bool ok;

	if (presence == PRESENCE_DOUBT || (presence == PRESENCE_GONE && !(flags & O_CREAT)))
		return ends_since(calls, presence);
	if (presence == PRESENCE_NONE || presence == PRESENCE_GONE) {
		if (!(flags & O_CREAT))
			return call_done(call, -ENOENT);
		ok = has_directory(name);
		is_anew = true;
	} else {
		ok = fstatat(AT_FDCWD, name, &status, follow ? 0 : AT_SYMLINK_NOFOLLOW) == 0 &&
		     open_present(calls, name, &status, is_anew, &opened);
	}
	calls->files_made++;
	if (ok && opened.kind == DESCRIPTOR_REGULAR && is_anew)
		ok = written_add(&calls->descriptors->written, opened.device, opened.inode, 0) &&
		     file_names_touch(&calls->touched, name, NAME_MADE);
	if (!ok && opened.fd >= 0)
		close(opened.fd);
	return ok && add(calls, call, &opened);
}

static bool answer_open(struct shadow_calls *calls, struct call *call, int directory,
			uint64_t name_at, uint64_t flags, uint64_t mode)
{
	const uint64_t reading = O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW | O_DIRECTORY |
				 KERNEL_LARGEFILE;
	const uint64_t writing = reading | O_ACCMODE | O_CREAT | O_EXCL | O_TRUNC | O_APPEND;
	char name[NAME_BYTES];

	if (calls->descriptors->is_watching || (flags & ~writing) ||
	    !find_name(calls, directory, name_at, name))
		return false;
	if (!(flags & ~reading))
		return open_to_read(calls, call, name, flags);
	return (flags & O_ACCMODE) != O_RDONLY && !(flags & O_DIRECTORY) &&
	       open_to_write(calls, call, name, flags, mode);
}

/* --- questions -------------------------------------------------------------------------------- */

static bool answer_stat(struct shadow_calls *calls, struct call *call, int directory,
			uint64_t name_at, uint64_t to, uint64_t flags)
{
	const struct written_file *written;
	bool follow = !(flags & AT_SYMLINK_NOFOLLOW);
	enum presence presence;
	struct stat status;
	char name[NAME_BYTES];
	char first;

	/* the C library's fstat */
	if ((flags & AT_EMPTY_PATH) && sandbox_read(calls->sandbox, name_at, &first, 1) && !first)
		return directory >= 0 &&
		       answer_descriptor_status(calls, call, (uint64_t)directory, to);
	if (!find_name(calls, directory, name_at, name))
		return false;
	presence = presence_of(calls, name, follow);
	if (presence == PRESENCE_DOUBT)
		return ends_since(calls, presence);
	if (presence == PRESENCE_NONE)
		return call_done(call, -ENOENT);
	if (fstatat(AT_FDCWD, name, &status, follow ? 0 : AT_SYMLINK_NOFOLLOW) < 0)
		return is_absent(call, errno);
	written = written_find(&calls->descriptors->written, status.st_dev, status.st_ino);
	if (written)
		status.st_size = (off_t)written->size;
	return answer_status(calls, call, to, &status);
}

static bool answer_access(struct shadow_calls *calls, struct call *call, int directory,
			  uint64_t name_at, uint64_t mode)
{
	enum presence presence;
	char name[NAME_BYTES];

	if ((mode & ~(uint64_t)(R_OK | W_OK | X_OK)) || !find_name(calls, directory, name_at, name))
		return false;
	presence = presence_of(calls, name, true);
	if (presence == PRESENCE_DOUBT)
		return ends_since(calls, presence);
	if (presence == PRESENCE_NONE)
		return call_done(call, -ENOENT);
	return call_done(call, access(name, (int)mode) == 0 ? 0 : -errno);
}

static bool answer_readlink(struct shadow_calls *calls, struct call *call, int directory,
			    uint64_t name_at, uint64_t to, uint64_t size)
{
	char target[PATH_MAX];
	char name[NAME_BYTES];
	ssize_t length;

	if (!find_name(calls, directory, name_at, name))
		return false;
	length = readlink(name, target, size < sizeof(target) ? size : sizeof(target));
	if (length < 0)
		return errno == EINVAL ? call_done(call, -EINVAL) : is_absent(call, errno);
	return call_write(calls, to, target, (size_t)length) && call_done(call, length);
}

/* What was removed after the copy was made existed for the copy; otherwise it could not have been
 * removed. */
static bool answer_unlink(struct shadow_calls *calls, struct call *call, int directory,
			  uint64_t name_at)
{
	char name[NAME_BYTES];

	if (!find_name(calls, directory, name_at, name))
		return false;
	if (file_names_touched(&calls->touched, name) == NAME_REMOVED)
		return call_done(call, -ENOENT);
	return file_names_touch(&calls->touched, name, NAME_REMOVED) && call_done(call, 0);
}

static bool answer_rename(struct shadow_calls *calls, struct call *call, int from_directory,
			  uint64_t from_at, int to_directory, uint64_t to_at)
{
	char from[NAME_BYTES];
	char to[NAME_BYTES];

	return find_name(calls, from_directory, from_at, from) &&
	       find_name(calls, to_directory, to_at, to) &&
	       file_names_touched(&calls->touched, from) != NAME_REMOVED &&
	       file_names_touch(&calls->touched, from, NAME_REMOVED) &&
	       file_names_touch(&calls->touched, to, NAME_MADE) && call_done(call, 0);
}

static bool answer_getcwd(struct shadow_calls *calls, struct call *call)
{
	char link[64];
	char target[PATH_MAX];
	ssize_t length;

	if (!calls->roots.are_known)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", calls->roots.current);
	length = readlink(link, target, sizeof(target) - 1);
	if (length <= 0 || *target != '/')
		return false;
	target[length++] = 0;
	return (uint64_t)length <= call->a[1] &&
	       call_write(calls, call->a[0], target, (size_t)length) && call_done(call, length);
}

bool answer_named(struct shadow_calls *calls, struct call *call)
{
	const uint64_t *a = call->a;

	if (!calls->may_name) {
		calls->of = "a file of a program with other rights";
		return false;
	}
	switch (call->number) {
	case SYS_open:
		return answer_open(calls, call, AT_FDCWD, a[0], a[1], a[2]);
	case SYS_openat:
		return answer_open(calls, call, (int)a[0], a[1], a[2], a[3]);
	case SYS_stat:
		return answer_stat(calls, call, AT_FDCWD, a[0], a[1], 0);
	case SYS_lstat:
		return answer_stat(calls, call, AT_FDCWD, a[0], a[1], AT_SYMLINK_NOFOLLOW);
	case SYS_newfstatat:
		return answer_stat(calls, call, (int)a[0], a[1], a[2], a[3]);
	case SYS_access:
		return answer_access(calls, call, AT_FDCWD, a[0], a[1]);
	case SYS_faccessat:
		return answer_access(calls, call, (int)a[0], a[1], a[2]);
	case SYS_faccessat2:
		return !a[3] && answer_access(calls, call, (int)a[0], a[1], a[2]);
	case SYS_readlink:
		return answer_readlink(calls, call, AT_FDCWD, a[0], a[1], a[2]);
	case SYS_readlinkat:
		return answer_readlink(calls, call, (int)a[0], a[1], a[2], a[3]);
	case SYS_getcwd:
		return answer_getcwd(calls, call);
	case SYS_unlink:
		return answer_unlink(calls, call, AT_FDCWD, a[0]);
	case SYS_unlinkat:
		return answer_unlink(calls, call, (int)a[0], a[1]);
	case SYS_rename:
		return answer_rename(calls, call, AT_FDCWD, a[0], AT_FDCWD, a[1]);
	case SYS_renameat:
		return answer_rename(calls, call, (int)a[0], a[1], (int)a[2], a[3]);
	case SYS_renameat2:
		/* Without flags, which may ask to exchange names or to refuse. */
		return !a[4] && answer_rename(calls, call, (int)a[0], a[1], (int)a[2], a[3]);
	default:
		return false;
	}
}
