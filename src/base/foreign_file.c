/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/base/foreign_file.h>

#include <hpcprof/base/cleanup.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Some versions of <linux/magic.h> lack these. */
#ifndef FUSE_SUPER_MAGIC
#define FUSE_SUPER_MAGIC 0x65735546
#endif
#ifndef CONFIGFS_MAGIC
#define CONFIGFS_MAGIC 0x62656570
#endif
#ifndef FUSECTL_SUPER_MAGIC
#define FUSECTL_SUPER_MAGIC 0x65735543
#endif

enum hp_file_system hp_file_system_of(int fd)
{
	static const uint32_t of_kernel[] = {
		PROC_SUPER_MAGIC,    SYSFS_MAGIC,	  DEBUGFS_MAGIC,   TRACEFS_MAGIC,
		SECURITYFS_MAGIC,    SELINUX_MAGIC,	  SMACK_MAGIC,	   CGROUP_SUPER_MAGIC,
		CGROUP2_SUPER_MAGIC, BPF_FS_MAGIC,	  PSTOREFS_MAGIC,  EFIVARFS_MAGIC,
		BINFMTFS_MAGIC,	     DEVPTS_SUPER_MAGIC,  NSFS_MAGIC,	   SOCKFS_MAGIC,
		PIPEFS_MAGIC,	     ANON_INODE_FS_MAGIC, SECRETMEM_MAGIC, RDTGROUP_SUPER_MAGIC,
		CONFIGFS_MAGIC,	     FUSECTL_SUPER_MAGIC,
	};
	struct statfs status;

	if (fstatfs(fd, &status) < 0)
		return HP_FILE_SYSTEM_KERNEL;
	if ((uint32_t)status.f_type == FUSE_SUPER_MAGIC)
		return HP_FILE_SYSTEM_PROGRAM;
	for (size_t i = 0; i < sizeof(of_kernel) / sizeof(of_kernel[0]); i++) {
		if ((uint32_t)status.f_type == of_kernel[i])
			return HP_FILE_SYSTEM_KERNEL;
	}
	return HP_FILE_SYSTEM_KEEPS;
}

int hp_foreign_reopen(int handle, struct stat *status)
{
	char path[64];

	if (fstat(handle, status) < 0)
		return -1;
	if (!S_ISREG(status->st_mode) || hp_file_system_of(handle) == HP_FILE_SYSTEM_KERNEL) {
		errno = EACCES;
		return -1;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", handle);
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

int hp_foreign_open(const char *path, int flags, struct stat *status)
{
	_cleanup_close_ int handle = open(path, O_PATH | O_CLOEXEC | (flags & O_NOFOLLOW));

	return handle < 0 ? -1 : hp_foreign_reopen(handle, status);
}

static int open_root(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int hp_foreign_open_of(pid_t pid, const char *path, int flags, struct stat *status)
{
	struct open_how how = {
		.flags = (unsigned)(O_PATH | O_CLOEXEC | (flags & O_NOFOLLOW)),
		.resolve = (unsigned)(RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS),
	};
	_cleanup_close_ int root = open_root(pid);
	_cleanup_close_ int handle = -1;

	if (root < 0)
		return -1;
	handle = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	return handle < 0 ? -1 : hp_foreign_reopen(handle, status);
}

/* False if one of them is unknown. */
static bool differ(const char *left, const char *right)
{
	struct stat a;
	struct stat b;

	return stat(left, &a) == 0 && stat(right, &b) == 0 &&
	       (a.st_dev != b.st_dev || a.st_ino != b.st_ino);
}

bool hp_foreign_is_elsewhere(pid_t pid)
{
	char root[64];
	char mounts[64];

	snprintf(root, sizeof(root), "/proc/%d/root", (int)pid);
	snprintf(mounts, sizeof(mounts), "/proc/%d/ns/mnt", (int)pid);
	return differ(root, "/") || differ(mounts, "/proc/self/ns/mnt");
}
