/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "directory.h"

#include "names.h"

#include <hpcprof/base/file.h>
#include <hpcprof/base/vector.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

enum { LOCK_MODE = 0600 };

/* --- listing ------------------------------------------------------------------------------ */

void hp_directory_free_list(char **names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
}

static int compare_names(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static struct hp_error *read_names(DIR *stream, char ***names, size_t *count, size_t *capacity)
{
	for (;;) {
		const struct dirent *entry;

		errno = 0;
		entry = readdir(stream);
		if (!entry)
			return errno ? hp_error_create_errno(errno, "listing a directory") : NULL;
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (!hp_grow((void **)names, capacity, *count + 1, sizeof(**names)) ||
		    !((*names)[*count] = strdup(entry->d_name)))
			return hp_error_create_no_memory();
		++*count;
	}
}

struct hp_error *hp_directory_list(int directory, char ***names, size_t *count)
{
	/* Opened again, since a duplicate would share the position of the stream. */
	int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	struct hp_error *error;
	size_t capacity = 0;

	*names = NULL;
	*count = 0;
	if (!stream) {
		error = hp_error_create_errno(errno, "listing a directory");
		if (fd >= 0)
			close(fd);
		return error;
	}
	error = read_names(stream, names, count, &capacity);
	closedir(stream);
	if (error) {
		hp_directory_free_list(*names, *count);
		return error;
	}
	if (*count)
		qsort(*names, *count, sizeof(**names), compare_names);
	return NULL;
}

struct hp_error *hp_directory_open(int parent, const char *name, int *fd)
{
	*fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*fd >= 0)
		return NULL;
	if (errno == ELOOP || errno == ENOTDIR)
		return hp_error_create(HP_ERROR_DAMAGED,
				       "%s is a file or a symbolic link, not a directory", name);
	return hp_error_create_errno(errno, "opening %s", name);
}

/* What is there instead of a file that can be opened. */
static const char *no_file(int errno_value)
{
	switch (errno_value) {
	case ELOOP:
		return "a symbolic link";
	case EISDIR:
		return "a directory, not a file";
	case ENXIO:
		return "not a regular file";
	default:
		return NULL;
	}
}

static struct hp_error *opening_failed(int errno_value, const char *name)
{
	const char *instead = no_file(errno_value);

	return instead ? hp_error_create(HP_ERROR_DAMAGED, "%s is %s", name, instead)
		       : hp_error_create_errno(errno_value, "%s", name);
}

struct hp_error *hp_directory_read_file(int directory, const char *name, size_t limit_bytes,
					uint8_t **bytes, size_t *size)
{
	/* Without blocking, since it may be a pipe. */
	_cleanup_close_ int fd =
		openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat status;

	if (fd < 0)
		return opening_failed(errno, name);
	if (fstat(fd, &status) < 0)
		return hp_error_create_errno(errno, "%s", name);
	if (!S_ISREG(status.st_mode))
		return opening_failed(S_ISDIR(status.st_mode) ? EISDIR : ENXIO, name);
	return hp_error_wrap(hp_file_read_fd(fd, limit_bytes, bytes, size), "%s", name);
}

struct hp_error *hp_directory_size(int directory, uint64_t *bytes)
{
	char **names;
	size_t count;
	struct hp_error *error = hp_directory_list(directory, &names, &count);

	*bytes = 0;
	if (error)
		return error;
	for (size_t i = 0; i < count; i++) {
		struct stat status;

		if (fstatat(directory, names[i], &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(status.st_mode))
			*bytes += (uint64_t)status.st_size;
	}
	hp_directory_free_list(names, count);
	return NULL;
}

struct hp_error *hp_directory_sweep(int directory, bool dry_run, size_t *files, uint64_t *bytes)
{
	char **names;
	size_t count;
	struct hp_error *error = hp_directory_list(directory, &names, &count);

	if (error)
		return error;
	for (size_t i = 0; i < count && !error; i++) {
		struct stat status;

		if (!hp_file_is_temporary(names[i]) ||
		    fstatat(directory, names[i], &status, AT_SYMLINK_NOFOLLOW) < 0 ||
		    S_ISDIR(status.st_mode))
			continue;
		if (!dry_run && unlinkat(directory, names[i], 0) < 0) {
			error = hp_error_create_errno(errno, "removing %s", names[i]);
			continue;
		}
		++*files;
		*bytes += S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
	}
	hp_directory_free_list(names, count);
	return error;
}

/* --- locks -------------------------------------------------------------------------------- */

/* In older epochs everybody could open the lock, and hold it forever. */
static struct hp_error *close_to_readers(int lock)
{
	struct stat status;

	if (fstat(lock, &status) < 0)
		return hp_error_create_errno(errno, HP_LOCK_NAME);
	if (!S_ISREG(status.st_mode))
		return opening_failed(ENXIO, HP_LOCK_NAME);
	if (status.st_mode & 077)
		(void)!fchmod(lock, LOCK_MODE);
	return NULL;
}

/* The error if another writer holds the lock, or a reader abuses it. */
static struct hp_error *locked_out(int lock, const char *name)
{
	struct flock other = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
	bool by_writer = fcntl(lock, F_OFD_GETLK, &other) < 0 || other.l_type != F_UNLCK;

	if (by_writer)
		return hp_error_advise(
			hp_error_create(HP_ERROR_USAGE, "epoch %s is being recorded", name),
			"wait until the recording has ended");
	return hp_error_advise(
		hp_error_create(HP_ERROR_USAGE,
				"epoch %s is locked by a process that does not write to it", name),
		"find the process with lslocks; when its lock is gone, no other can be taken");
}

static struct hp_error *take_lock(int directory, const char *name, int *lock)
{
	struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = openat(directory, HP_LOCK_NAME,
			O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, LOCK_MODE);
	struct hp_error *error;

	if (fd < 0)
		return opening_failed(errno, HP_LOCK_NAME);
	error = close_to_readers(fd);
	if (!error && fcntl(fd, F_OFD_SETLK, &all) < 0)
		error = errno == EAGAIN || errno == EACCES
				? locked_out(fd, name)
				: hp_error_create_errno(errno, "locking " HP_LOCK_NAME);
	if (error)
		close(fd);
	else
		*lock = fd;
	return error;
}

/*
 * If the lock file may not be opened, the lock is looked up in /proc/locks. That list shows other
 * device numbers than stat() on some file systems, so only inodes are compared. The risk is to
 * mistake a lock of the same kind on another file with the same inode number.
 */
static struct hp_error *is_listed(int directory, bool *claimed)
{
	_cleanup_free_ char *line = NULL;
	struct stat status;
	size_t room = 0;
	FILE *locks;

	if (fstatat(directory, HP_LOCK_NAME, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return hp_error_create_errno(errno, "looking for " HP_LOCK_NAME);
	locks = fopen("/proc/locks", "re");
	while (locks && !*claimed && getline(&line, &room, locks) > 0) {
		unsigned long long inode;

		*claimed = sscanf(line, "%*s OFDLCK %*s WRITE %*s %*x:%*x:%llu", &inode) == 1 &&
			   inode == status.st_ino;
	}
	if (locks)
		fclose(locks);
	return NULL;
}

struct hp_error *hp_epoch_directory_is_claimed(int directory, bool *claimed)
{
	struct flock all = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
	_cleanup_close_ int fd =
		openat(directory, HP_LOCK_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	*claimed = false;
	if (fd < 0 && errno == ENOENT)
		return NULL;
	if (fd < 0 && errno == EACCES)
		return is_listed(directory, claimed);
	if (fd < 0)
		return opening_failed(errno, HP_LOCK_NAME);
	/* Asking takes no lock, so a reader never blocks a writer. A read lock is not that of a
	 * recorder. */
	if (fcntl(fd, F_OFD_GETLK, &all) < 0)
		return hp_error_create_errno(errno, "asking for the lock");
	*claimed = all.l_type != F_UNLCK;
	return NULL;
}

static bool is_still_there(int db, const char *name, int directory)
{
	struct stat by_name;
	struct stat opened;

	return fstatat(db, name, &by_name, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstat(directory, &opened) == 0 && by_name.st_ino == opened.st_ino &&
	       by_name.st_dev == opened.st_dev;
}

struct hp_error *hp_epoch_directory_claim(int db, const char *name, int *directory, int *lock)
{
	struct hp_error *error = hp_directory_open(db, name, directory);

	if (error)
		return error;
	error = take_lock(*directory, name, lock);
	if (!error && !is_still_there(db, name, *directory)) {
		close(*lock);
		error = hp_error_create(HP_ERROR_NOT_FOUND, "epoch %s has just been removed", name);
	}
	if (error)
		close(*directory);
	return error;
}

/* --- birth and death ---------------------------------------------------------------------- */

static struct hp_error *hidden_name(const char *what, char *name)
{
	uint32_t nonce;

	if (getrandom(&nonce, sizeof(nonce), 0) != sizeof(nonce))
		return hp_error_create_errno(errno, "getrandom");
	snprintf(name, HP_HIDDEN_NAME_BYTES, ".%.32s.tmp.%08x", what, nonce);
	return NULL;
}

struct hp_error *hp_epoch_directory_create(int db, mode_t file_mode, char *name, int *directory,
					   int *lock)
{
	mode_t readers = file_mode & 044;

	/* A concurrent sweep may remove the directory before it is locked; then another one is
	 * made. */
	for (int attempt = 0; attempt < 16; attempt++) {
		struct hp_error *error = hidden_name("new", name);

		if (error)
			return error;
		if (mkdirat(db, name, 0700 | readers | readers >> 2) < 0) {
			if (errno == EEXIST)
				continue;
			return hp_error_advise(
				hp_error_create_errno(errno, "creating an epoch"),
				"name a database that you can write to: --db DIR, or HPCPROF_DB");
		}
		error = hp_epoch_directory_claim(db, name, directory, lock);
		if (!error)
			return NULL;
		if (error->class != HP_ERROR_NOT_FOUND && error->class != HP_ERROR_USAGE) {
			/* On failure, such as a full disk, nothing is left behind. */
			int fd = -1;
			struct hp_error *ignored = hp_directory_open(db, name, &fd);

			hp_error_destroy(ignored);
			if (fd >= 0) {
				unlinkat(fd, HP_LOCK_NAME, 0);
				close(fd);
			}
			unlinkat(db, name, AT_REMOVEDIR);
			return error;
		}
		hp_error_destroy(error);
	}
	return hp_error_create(HP_ERROR_SYSTEM,
			       "creating an epoch: another process removes it every time");
}

struct hp_error *hp_epoch_directory_publish(int db, const char *name, uint64_t time_ns, char *stamp)
{
	for (unsigned number = 1; number <= HP_STAMP_MAX_NUMBER; number++) {
		hp_stamp_format(time_ns, number, stamp);
		/* An epoch is never empty, so the rename cannot replace one. */
		if (renameat(db, name, db, stamp) == 0)
			return hp_file_sync_directory(db);
		if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR)
			return hp_error_create_errno(errno, "naming epoch %s", stamp);
	}
	return hp_error_create(HP_ERROR_SYSTEM, "no free stamp in this second");
}

/* The lock file is removed last: until then, the directory has an owner. */
static struct hp_error *empty_directory(int directory)
{
	char **names;
	size_t count;
	struct hp_error *error = hp_directory_list(directory, &names, &count);

	if (error)
		return error;
	for (size_t i = 0; i < count && !error; i++) {
		if (strcmp(names[i], HP_LOCK_NAME) != 0 && unlinkat(directory, names[i], 0) < 0 &&
		    errno != ENOENT)
			error = hp_error_create_errno(errno, "removing %s", names[i]);
	}
	hp_directory_free_list(names, count);
	if (!error && unlinkat(directory, HP_LOCK_NAME, 0) < 0 && errno != ENOENT)
		error = hp_error_create_errno(errno, "removing " HP_LOCK_NAME);
	return error;
}

struct hp_error *hp_epoch_directory_remove(int db, const char *name, int directory)
{
	char hidden[HP_HIDDEN_NAME_BYTES];
	struct hp_error *error;

	if (!hp_file_is_temporary(name)) {
		error = hidden_name(name, hidden);
		if (error)
			return error;
		if (renameat(db, name, db, hidden) < 0)
			return hp_error_create_errno(errno, "removing epoch %s", name);
		error = hp_file_sync_directory(db);
		if (error)
			return error;
		name = hidden;
	}
	error = empty_directory(directory);
	if (!error && unlinkat(db, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		error = hp_error_create_errno(errno, "removing %s", name);
	return error;
}
