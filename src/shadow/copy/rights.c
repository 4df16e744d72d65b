/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rights.h"

#include "../tuning.h"
#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>
#include <hpcprof/base/search.h>
#include <hpcprof/base/vector.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* the kernel's own limit (NGROUPS_MAX) */
enum { GROUP_LIMIT = 65536 };

static const struct {
	const char *name;
	int flag; /* CLONE_NEW*, for setns */
} namespaces[RIGHTS_NAMESPACES] = {
	[RIGHTS_USERS] = { "user", CLONE_NEWUSER },
	[RIGHTS_MOUNTS] = { "mnt", CLONE_NEWNS },
	[RIGHTS_NETWORK] = { "net", CLONE_NEWNET },
	[RIGHTS_IPC] = { "ipc", CLONE_NEWIPC },
	[RIGHTS_NAMES] = { "uts", CLONE_NEWUTS },
	[RIGHTS_CGROUPS] = { "cgroup", CLONE_NEWCGROUP },
	[RIGHTS_PROCESSES] = { "pid", CLONE_NEWPID },
};

/* --- reading ---------------------------------------------------------------------------------- */

/* The text after "\nName:", or NULL. */
static const char *find_line(const char *text, const char *name)
{
	const char *line = strstr(text, name);

	return line ? line + strlen(name) : NULL;
}

static bool read_ids(const char *text, const char *name, uint32_t ids[RIGHTS_IDS])
{
	const char *line = find_line(text, name);

	return line &&
	       sscanf(line, "%u %u %u %u", &ids[0], &ids[1], &ids[2], &ids[3]) == RIGHTS_IDS;
}

static bool read_mask(const char *text, const char *name, uint64_t *mask)
{
	const char *line = find_line(text, name);
	unsigned long long value = 0;

	if (!line || sscanf(line, "%llx", &value) != 1)
		return false;
	*mask = value;
	return true;
}

static bool read_number(const char *text, const char *name, uint64_t *number)
{
	const char *line = find_line(text, name);
	unsigned long long value = 0;

	/* Kernels that were built without it print no such line. */
	*number = line && sscanf(line, "%llu", &value) == 1 ? value : 0;
	return true;
}

HP_ORDER_VALUES(by_number, uint32_t);

static bool read_groups(const char *text, struct rights *rights)
{
	const char *line = find_line(text, "\nGroups:");

	rights->other_count = 0;
	while (line && *line && *line != '\n') {
		char *end;
		unsigned long group = strtoul(line, &end, 10);

		if (end == line) {
			line++;
			continue;
		}
		if (rights->other_count >= GROUP_LIMIT ||
		    !hp_grow((void **)&rights->others, &rights->other_capacity,
			     rights->other_count + 1, sizeof(*rights->others)))
			return false;
		rights->others[rights->other_count++] = (uint32_t)group;
		line = end;
	}
	if (rights->other_count)
		qsort(rights->others, rights->other_count, sizeof(*rights->others), by_number);
	return line != NULL;
}

static bool read_status(const char *text, struct rights *rights)
{
	uint64_t masks[4] = { 0 };
	uint64_t mode, no_new;

	if (!read_ids(text, "\nUid:", rights->users) || !read_ids(text, "\nGid:", rights->groups) ||
	    !read_groups(text, rights) || !read_mask(text, "\nCapInh:", &masks[0]) ||
	    !read_mask(text, "\nCapPrm:", &masks[1]) || !read_mask(text, "\nCapEff:", &masks[2]) ||
	    !read_mask(text, "\nCapAmb:", &masks[3]) || !read_number(text, "\nSeccomp:", &mode) ||
	    !read_number(text, "\nSeccomp_filters:", &rights->filters) ||
	    !read_number(text, "\nNoNewPrivs:", &no_new))
		return false;
	/* Before Linux 5.9, /proc does not count filters. */
	if (mode && !(mode == SECCOMP_MODE_FILTER && rights->filters))
		rights->filters = UINT64_MAX;
	rights->capabilities = masks[0] | masks[1] | masks[2] | masks[3];
	rights->effective = masks[2];
	rights->no_new_privs = no_new;
	return true;
}

static bool read_places(pid_t pid, struct rights *rights)
{
	struct stat status;
	char path[64];

	for (size_t i = 0; i < RIGHTS_NAMESPACES; i++) {
		snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, namespaces[i].name);
		rights->namespaces[i] = stat(path, &status) == 0 ? status.st_ino : 0;
		/* A kernel without this kind of namespace has one for all processes. */
		if (!rights->namespaces[i] && errno != ENOENT)
			return false;
	}
	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	if (stat(path, &status) < 0)
		return false;
	rights->root_device = status.st_dev;
	rights->root_inode = status.st_ino;
	return true;
}

static void read_label(pid_t pid, pid_t tid, struct rights *rights)
{
	_cleanup_free_ char *text =
		hp_file_text("/proc/%d/task/%d/attr/current", (int)pid, (int)tid);

	snprintf(rights->label, sizeof(rights->label), "%s", text ? text : "");
}

struct hp_error *rights_read(struct rights *rights, pid_t pid, pid_t tid)
{
	_cleanup_free_ char *text = NULL;
	struct hp_error *error;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	error = hp_file_read_text(path, &text);
	if (error)
		return error;
	if (!read_status(text, rights))
		return hp_error_create(HP_ERROR_SYSTEM, "%s cannot be understood", path);
	if (!read_places(pid, rights))
		return hp_error_create_errno(errno, "the namespaces of process %d", (int)pid);
	read_label(pid, tid, rights);
	return NULL;
}

void rights_clear(struct rights *rights)
{
	free(rights->others);
	*rights = (struct rights){ 0 };
}

/* --- comparing -------------------------------------------------------------------------------- */

static bool have_same_ids(const struct rights *target, const struct rights *own)
{
	return memcmp(target->users, own->users, sizeof(own->users)) == 0 &&
	       memcmp(target->groups, own->groups, sizeof(own->groups)) == 0;
}

static bool have_same_groups(const struct rights *target, const struct rights *own)
{
	return target->other_count == own->other_count &&
	       (!own->other_count ||
		memcmp(target->others, own->others, own->other_count * sizeof(*own->others)) == 0);
}

static bool have_same_root(const struct rights *target, const struct rights *own)
{
	return target->namespaces[RIGHTS_MOUNTS] == own->namespaces[RIGHTS_MOUNTS] &&
	       target->root_device == own->root_device && target->root_inode == own->root_inode;
}

bool rights_are_confined(const struct rights *target, const struct rights *own, bool is_descendant)
{
	if (target->no_new_privs || target->filters == UINT64_MAX)
		return true;
	/* Filters are never removed, so the same number means the same filters. */
	return target->filters && !(is_descendant && target->filters == own->filters);
}

static pid_t parent_of(pid_t pid)
{
	_cleanup_free_ char *text = hp_file_text("/proc/%d/status", (int)pid);
	uint64_t parent = 0;

	return text && read_number(text, "\nPPid:", &parent) ? (pid_t)parent : 0;
}

bool rights_descend(pid_t pid, pid_t from)
{
	for (unsigned i = 0; i < GENERATION_LIMIT && pid > 0; i++) {
		if (pid == from)
			return true;
		pid = parent_of(pid);
	}
	return false;
}

bool rights_are_same(const struct rights *target, const struct rights *own)
{
	return have_same_ids(target, own) && have_same_groups(target, own) &&
	       have_same_root(target, own) && target->capabilities == own->capabilities &&
	       target->effective == own->effective &&
	       memcmp(target->namespaces, own->namespaces, sizeof(own->namespaces)) == 0 &&
	       strcmp(target->label, own->label) == 0;
}

/* --- giving ----------------------------------------------------------------------------------- */

static struct hp_error *refused(const char *what, int64_t result)
{
	return hp_error_advise(hp_error_create(HP_ERROR_NOT_PERMITTED,
					       "a copy cannot get %s of the program (%s), and must "
					       "not have more rights than the program",
					       what, strerror((int)-result)),
			       "record as root, or without --shadow");
}

static bool has(const struct rights *own, unsigned capability)
{
	return own->effective >> capability & 1;
}

struct hp_error *rights_can_be_given(const struct rights *target, const struct rights *own)
{
	if (!have_same_ids(target, own) && !(has(own, CAP_SETUID) && has(own, CAP_SETGID)))
		return refused("the user", -EPERM);
	if (!have_same_groups(target, own) && !has(own, CAP_SETGID))
		return refused("the groups", -EPERM);
	return NULL;
}

static int64_t call(struct sandbox *sandbox, long number, uint64_t a, uint64_t b, uint64_t c)
{
	return sandbox_call(sandbox, number, a, b, c, 0, 0, 0);
}

/* Opens /proc/PID/NAME in the sandbox, while that is still permitted. */
static int64_t open_of(struct sandbox *sandbox, pid_t pid, const char *name, uint64_t flags)
{
	char path[64];
	int length = snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);

	if (!sandbox_write(sandbox, sandbox->tools + TOOLS_SCRATCH, path, (size_t)length + 1))
		return -EIO;
	return call(sandbox, SYS_openat, (uint64_t)AT_FDCWD, sandbox->tools + TOOLS_SCRATCH,
		    flags | O_CLOEXEC);
}

/*
 * A PID namespace would hold for new processes only, and a copy cannot create any. A user namespace
 * is entered only by somebody without the right to enter the other namespaces from here: without
 * capabilities, a user may do no more in our user namespace than in the target's.
 */
static bool must_enter(const struct rights *target, const struct rights *own,
		       enum rights_namespace which)
{
	return target->namespaces[which] != own->namespaces[which] && which != RIGHTS_PROCESSES &&
	       (which != RIGHTS_USERS || !has(own, CAP_SYS_ADMIN));
}

/* All are opened before the first is entered, since /proc may be another one inside. */
static struct hp_error *enter_namespaces(struct sandbox *sandbox, pid_t pid,
					 const struct rights *target, const struct rights *own)
{
	int64_t fds[RIGHTS_NAMESPACES];
	int64_t result = 0;

	for (size_t i = 0; i < RIGHTS_NAMESPACES; i++) {
		char name[16];

		snprintf(name, sizeof(name), "ns/%s", namespaces[i].name);
		fds[i] = must_enter(target, own, i) ? open_of(sandbox, pid, name, O_RDONLY) : 0;
	}
	for (size_t i = 0; i < RIGHTS_NAMESPACES && result >= 0; i++) {
		if (!must_enter(target, own, i))
			continue;
		result = fds[i] < 0 ? fds[i]
				    : call(sandbox, SYS_setns, (uint64_t)fds[i],
					   (uint64_t)namespaces[i].flag, 0);
		if (result >= 0)
			result = call(sandbox, SYS_close, (uint64_t)fds[i], 0, 0);
	}
	return result < 0 ? refused("the namespaces", result) : NULL;
}

static struct hp_error *change_root(struct sandbox *sandbox, int64_t root)
{
	int64_t result = root;

	if (result >= 0)
		result = call(sandbox, SYS_fchdir, (uint64_t)root, 0, 0);
	if (result >= 0 && !sandbox_write(sandbox, sandbox->tools + TOOLS_SCRATCH, ".", 2))
		result = -EIO;
	if (result >= 0)
		result = call(sandbox, SYS_chroot, sandbox->tools + TOOLS_SCRATCH, 0, 0);
	if (result >= 0)
		result = call(sandbox, SYS_close, (uint64_t)root, 0, 0);
	return result < 0 ? refused("the root directory", result) : NULL;
}

/* The root is opened from outside, where /proc is ours. */
static struct hp_error *enter(struct sandbox *sandbox, pid_t pid, const struct rights *target,
			      const struct rights *own)
{
	bool has_other_root = !have_same_root(target, own);
	int64_t root = has_other_root ? open_of(sandbox, pid, "root", O_PATH | O_DIRECTORY) : -1;
	struct hp_error *error = enter_namespaces(sandbox, pid, target, own);

	if (!error && has_other_root)
		error = change_root(sandbox, root);
	return error;
}

static int64_t set_groups(struct sandbox *sandbox, const struct rights *target)
{
	uint64_t at = sandbox->tools + TOOLS_SCRATCH;
	size_t bytes = target->other_count * sizeof(*target->others);

	if (bytes > TOOLS_SCRATCH_BYTES)
		return -E2BIG;
	if (bytes && !sandbox_write(sandbox, at, target->others, bytes))
		return -EIO;
	return call(sandbox, SYS_setgroups, target->other_count, at, 0);
}

static int64_t set_ids(struct sandbox *sandbox, const struct rights *target)
{
	const uint32_t *users = target->users;
	const uint32_t *groups = target->groups;
	int64_t result = call(sandbox, SYS_setresgid, groups[RIGHTS_REAL], groups[RIGHTS_EFFECTIVE],
			      groups[RIGHTS_SAVED]);

	if (result >= 0 && groups[RIGHTS_FILES] != groups[RIGHTS_EFFECTIVE])
		result = call(sandbox, SYS_setfsgid, groups[RIGHTS_FILES], 0, 0);
	if (result >= 0)
		result = call(sandbox, SYS_setresuid, users[RIGHTS_REAL], users[RIGHTS_EFFECTIVE],
			      users[RIGHTS_SAVED]);
	if (result >= 0 && users[RIGHTS_FILES] != users[RIGHTS_EFFECTIVE])
		result = call(sandbox, SYS_setfsuid, users[RIGHTS_FILES], 0, 0);
	return result;
}

/* The bounding set has no effect, since a copy executes no programs; it is emptied where that is
 * permitted. */
static void drop_bounding_set(struct sandbox *sandbox, const struct rights *own)
{
	for (uint64_t i = 0; has(own, CAP_SETPCAP) && i <= CAP_LAST_CAP; i++) {
		if (call(sandbox, SYS_prctl, PR_CAPBSET_DROP, i, 0) < 0)
			break;
	}
}

/* Drops all capabilities from all sets; the ambient set never exceeds the others. */
static int64_t drop_capabilities(struct sandbox *sandbox)
{
	const struct {
		struct __user_cap_header_struct header;
		struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	} none = { .header = { .version = _LINUX_CAPABILITY_VERSION_3 } };
	uint64_t at = sandbox->tools + TOOLS_SCRATCH;

	if (!sandbox_write(sandbox, at, &none, sizeof(none)))
		return -EIO;
	return call(sandbox, SYS_capset, at, at + offsetof(__typeof__(none), data), 0);
}

/* Checks the rights that the copy really has now. */
static struct hp_error *check(const struct sandbox *sandbox, const struct rights *target)
{
	struct rights now = { 0 };
	struct hp_error *error = rights_read(&now, sandbox->pid, sandbox->pid);
	bool is_right = !error && have_same_ids(target, &now) && have_same_groups(target, &now) &&
			!now.capabilities;

	rights_clear(&now);
	if (error || is_right)
		return error;
	return hp_error_create(HP_ERROR_NOT_PERMITTED, "a copy has other rights than the program");
}

struct hp_error *rights_give(struct sandbox *sandbox, pid_t pid, const struct rights *target,
			     const struct rights *own)
{
	struct hp_error *error = enter(sandbox, pid, target, own);
	int64_t result = 0;

	if (error)
		return error;
	drop_bounding_set(sandbox, own);
	if (!have_same_groups(target, own))
		result = set_groups(sandbox, target);
	if (result < 0)
		return refused("the groups", result);
	if (!have_same_ids(target, own))
		result = set_ids(sandbox, target);
	if (result < 0)
		return refused("the user", result);
	result = drop_capabilities(sandbox);
	if (result < 0)
		return refused("an empty set of capabilities instead of those", result);
	return check(sandbox, target);
}
