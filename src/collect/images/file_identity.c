/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "file_identity.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/foreign_file.h>
#include <hpcprof/image/identity.h>

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Inode numbers are reused as soon as a file is gone, but not generations. If the file system has
 * no generations, the number alone decides. */
static bool is_same_generation(int fd, const struct hp_record_mmap *mapping)
{
	int generation;

	return !mapping->generation || ioctl(fd, FS_IOC_GETVERSION, &generation) < 0 ||
	       (uint32_t)generation == (uint32_t)mapping->generation;
}

/* Compares inode numbers only: on overlayfs and btrfs, mappings have other device numbers than
 * stat(). A mapping without an inode was not a file, even if there is one of that name. */
static bool is_mapped_file(int fd, const struct hp_record_mmap *mapping)
{
	struct stat status;

	return mapping->inode && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	       status.st_ino == mapping->inode && is_same_generation(fd, mapping);
}

/* Needs CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN, but also finds deleted files. */
static int open_map_file(pid_t pid, const struct hp_record_mmap *mapping)
{
	struct stat status;
	char path[128];

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid,
		 mapping->start, mapping->start + mapping->size);
	return hp_foreign_open(path, 0, &status);
}

/* Opens the path as the process sees it; or as we see it, if that is the same or the process has
 * ended. */
static int open_path(pid_t pid, const char *file, struct stat *status)
{
	int fd = hp_foreign_open_of(pid, file, 0, status);

	return fd >= 0 || hp_foreign_is_elsewhere(pid) ? fd : hp_foreign_open(file, 0, status);
}

static int open_entry(int directory, const char *name)
{
	_cleanup_close_ int handle = openat(directory, name, O_PATH | O_CLOEXEC);
	struct stat status;

	return handle < 0 ? -1 : hp_foreign_reopen(handle, &status);
}

/* Finds a deleted file or memfd that the process still has open. */
static int open_descriptor(pid_t pid, const struct hp_record_mmap *mapping)
{
	char path[64];
	DIR *directory;
	int found = -1;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	directory = opendir(path);
	if (!directory)
		return -1;
	for (struct dirent *entry = readdir(directory); entry && found < 0;
	     entry = readdir(directory)) {
		struct stat status;

		if (fstatat(dirfd(directory), entry->d_name, &status, 0) == 0 &&
		    S_ISREG(status.st_mode) && status.st_ino == mapping->inode)
			found = open_entry(dirfd(directory), entry->d_name);
	}
	closedir(directory);
	return found;
}

/* Memory that a compiler shares with itself: its present contents do not tell what it will contain,
 * and it may be large. But programs may be in such memory, too. */
static bool is_generated(int fd, const struct hp_record_mmap *mapping)
{
	char magic[SELFMAG];

	return strncmp(mapping->path, "/memfd:", 7) == 0 &&
	       (pread(fd, magic, sizeof(magic), 0) != (ssize_t)sizeof(magic) ||
		memcmp(magic, ELFMAG, SELFMAG) != 0);
}

static bool identity_of(int fd, const struct hp_record_mmap *mapping, struct hp_identity *identity)
{
	_cleanup_close_ int owned = fd;
	struct hp_error *error;

	if (owned < 0 || !is_mapped_file(owned, mapping) || is_generated(owned, mapping))
		return false;
	error = hp_identity_of_fd(owned, identity);
	if (error)
		*identity = (struct hp_identity){ 0 };
	hp_error_destroy(error);
	return identity->kind != HP_IDENTITY_NONE;
}

void file_identity(pid_t pid, const struct hp_record_mmap *mapping, bool deleted, const char *path,
		   struct hp_identity *identity)
{
	struct stat status;

	if (identity_of(open_map_file(pid, mapping), mapping, identity))
		return;
	if (deleted)
		identity_of(open_descriptor(pid, mapping), mapping, identity);
	else
		identity_of(open_path(pid, path, &status), mapping, identity);
}

/* If the kernel sent a build-id with the mapping, there is no inode to compare, so the identity
 * decides. */
static int checked(int fd, const struct hp_image_id *id)
{
	struct hp_identity found = { 0 };
	struct hp_error *error = fd < 0 ? NULL : hp_identity_of_fd(fd, &found);
	bool is_it = fd >= 0 && !error && hp_identity_equal(&found, &id->identity);

	hp_error_destroy(error);
	if (fd >= 0 && !is_it)
		close(fd);
	return is_it ? fd : -1;
}

int file_open_mapped(pid_t pid, const struct hp_record_mmap *mapping, const struct hp_image_id *id)
{
	struct stat status;
	int fd = checked(open_map_file(pid, mapping), id);

	if (fd < 0 && id->deleted && mapping->inode)
		return checked(open_descriptor(pid, mapping), id);
	return fd >= 0 || id->deleted ? fd : checked(open_path(pid, id->path, &status), id);
}

int file_open_image(pid_t pid, const struct hp_image_id *id)
{
	struct stat status;

	if (id->kind != HP_IMAGE_FILE || id->identity.kind == HP_IDENTITY_NONE ||
	    id->path[0] != '/')
		return -1;
	return checked(open_path(pid, id->path, &status), id);
}

struct file_state file_state(pid_t pid, const struct hp_record_mmap *mapping, const char *path)
{
	_cleanup_close_ int fd = -1;
	struct stat status;

	if (mapping->inode)
		fd = open_path(pid, path, &status);
	if (fd < 0 || status.st_ino != mapping->inode)
		return (struct file_state){ 0 };
	/* The time of the last status change, which programs cannot set back. */
	return (struct file_state){
		.size_bytes = (uint64_t)status.st_size,
		.changed_s = status.st_ctim.tv_sec,
		.changed_ns = status.st_ctim.tv_nsec,
	};
}
