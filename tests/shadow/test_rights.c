/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A copy has the rights of its program, and no more: users, groups, capabilities, root directory,
 * namespaces and filters. */
#include "../support.h"

#include "../../src/shadow/copy/rights.h"
#include "../../src/shadow/copy/sandbox_lock.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 65534 };

static pid_t start_target(bool (*prepare)(void))
{
	int ready[2];
	char byte = 0;
	pid_t pid;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		byte = !prepare || prepare();
		if (write(ready[1], &byte, 1) != 1 || !byte)
			_exit(1);
		for (;;)
			;
	}
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	ck_assert(byte);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void end_target(pid_t pid)
{
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static bool become_nobody(void)
{
	const gid_t groups[] = { 7, 3, 5 };

	return setgroups(HP_ARRAY_COUNT(groups), groups) == 0 && setgid(NOBODY) == 0 &&
	       setuid(NOBODY) == 0;
}

static void assert_status(pid_t pid, const char *line)
{
	char path[64], text[8192] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_gt(fread(text, 1, sizeof(text) - 1, file), 0);
	fclose(file);
	ck_assert_msg(strstr(text, line) != NULL, "no %s in %s", line, text);
}

static void assert_limit(pid_t pid, const char *name)
{
	char path[64], line[256];
	bool is_none = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/limits", (int)pid);
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof(line), file)) {
		char soft[32], hard[32];

		if (strncmp(line, name, strlen(name)) == 0 &&
		    sscanf(line + strlen(name), "%31s %31s", soft, hard) == 2)
			is_none = strcmp(soft, "0") == 0 && strcmp(hard, "0") == 0;
	}
	fclose(file);
	ck_assert_msg(is_none, "%s", name);
}

static void give(struct sandbox *sandbox, pid_t pid)
{
	struct rights target = { 0 }, own = { 0 };
	struct areas nothing = { 0 };
	cpu_set_t cpus;

	hp_assert_ok(rights_read(&own, getpid(), gettid()));
	hp_assert_ok(rights_read(&target, pid, pid));
	hp_assert_ok(rights_can_be_given(&target, &own));
	sandbox_init(sandbox);
	sched_getaffinity(0, sizeof(cpus), &cpus);
	hp_assert_ok(sandbox_create(sandbox, &nothing, &cpus));
	hp_assert_ok(rights_give(sandbox, pid, &target, &own));
	hp_assert_ok(sandbox_lock(sandbox));
	rights_clear(&target);
	rights_clear(&own);
}

TEST(a_copy_has_no_more_rights_than_the_program)
{
	struct sandbox sandbox;
	char path[64];
	pid_t pid = start_target(geteuid() == 0 ? become_nobody : NULL);

	give(&sandbox, pid);
	if (geteuid() == 0) {
		assert_status(sandbox.pid, "\nUid:\t65534\t65534\t65534\t65534\n");
		assert_status(sandbox.pid, "\nGid:\t65534\t65534\t65534\t65534\n");
		assert_status(sandbox.pid, "\nGroups:\t3 5 7 \n");
		assert_status(sandbox.pid, "\nCapBnd:\t0000000000000000\n");
	}
	assert_status(sandbox.pid, "\nCapInh:\t0000000000000000\n");
	assert_status(sandbox.pid, "\nCapPrm:\t0000000000000000\n");
	assert_status(sandbox.pid, "\nCapEff:\t0000000000000000\n");
	assert_status(sandbox.pid, "\nCapAmb:\t0000000000000000\n");
	assert_status(sandbox.pid, "\nNoNewPrivs:\t1\n");
	assert_status(sandbox.pid, "\nSeccomp:\t2\n");
	assert_status(sandbox.pid, "\nThreads:\t1\n");
	assert_limit(sandbox.pid, "Max processes");
	assert_limit(sandbox.pid, "Max file size");
	assert_limit(sandbox.pid, "Max core file size");
	ck_assert_int_ne(getpgid(sandbox.pid), getpgrp());
	for (int fd = 0; fd < 16 && geteuid() == 0; fd++) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)sandbox.pid, fd);
		ck_assert_int_lt(access(path, F_OK), 0);
	}
	sandbox_clear(&sandbox);
	end_target(pid);
}

/* Its memory is nobody else's, even of the same user: here of ours. */
static void look_into_a_copy(void)
{
	pid_t pid = start_target(NULL);
	struct sandbox sandbox;
	char path[64];
	int status;
	pid_t other;

	give(&sandbox, pid);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)sandbox.pid);
	other = fork();
	if (other == 0) {
		if (open(path, O_RDONLY) >= 0 ||
		    ptrace(PTRACE_ATTACH, sandbox.pid, NULL, NULL) == 0)
			_exit(2);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(other, &status, 0), other);
	ck_assert_int_eq(status, 0);
	sandbox_clear(&sandbox);
	end_target(pid);
}

/* The superuser may look into anything: then by an ordinary user, which has a copy of its own. */
TEST(a_copy_cannot_be_looked_into_by_others)
{
	pid_t user;
	int status;

	if (geteuid() != 0) {
		look_into_a_copy();
		return;
	}
	user = fork();
	if (user == 0) {
		/* Having been another hides memory, too. */
		if (!become_nobody() || prctl(PR_SET_DUMPABLE, 1) != 0)
			_exit(1);
		look_into_a_copy();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(user, &status, 0), user);
	ck_assert_int_eq(status, 0);
}

static bool change_root(void)
{
	return chroot("/usr") == 0 && chdir("/") == 0 && become_nobody();
}

static bool change_namespaces(void)
{
	return unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) == 0 &&
	       become_nobody();
}

static void assert_same_place(pid_t one, pid_t other, const char *name)
{
	struct stat left, right;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)one, name);
	ck_assert_int_eq(stat(path, &left), 0);
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)other, name);
	ck_assert_int_eq(stat(path, &right), 0);
	ck_assert_msg(left.st_ino == right.st_ino && left.st_dev == right.st_dev, "%s", name);
}

TEST(a_copy_is_where_the_program_is)
{
	static const char *const names[] = { "root", "ns/mnt", "ns/net", "ns/ipc", "ns/uts" };
	bool (*const prepare[])(void) = { change_root, change_namespaces };

	for (size_t i = 0; i < HP_ARRAY_COUNT(prepare) && geteuid() == 0; i++) {
		pid_t pid = start_target(prepare[i]);
		struct sandbox sandbox;

		give(&sandbox, pid);
		for (size_t j = 0; j < HP_ARRAY_COUNT(names); j++)
			assert_same_place(sandbox.pid, pid, names[j]);
		sandbox_clear(&sandbox);
		end_target(pid);
	}
}

static bool be_confined(void)
{
	struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	const struct sock_fprog program = { 1, &all };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

static bool drop_a_capability(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data) < 0)
		return false;
	data[0].effective &= ~(1U << CAP_DAC_READ_SEARCH);
	data[0].permitted &= ~(1U << CAP_DAC_READ_SEARCH);
	return syscall(SYS_capset, &header, data) == 0;
}

TEST(only_who_has_just_our_rights_has_files_opened_by_name)
{
	const struct {
		bool (*prepare)(void);
		bool needs_root, is_same;
	} cases[] = {
		{ NULL, false, true },
		{ become_nobody, true, false },
		{ change_root, true, false },
		{ drop_a_capability, true, false },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		struct rights target = { 0 }, own = { 0 };
		pid_t pid;

		if (cases[i].needs_root && geteuid() != 0)
			continue;
		pid = start_target(cases[i].prepare);
		hp_assert_ok(rights_read(&own, getpid(), gettid()));
		hp_assert_ok(rights_read(&target, pid, pid));
		ck_assert_msg(rights_are_same(&target, &own) == cases[i].is_same, "case %zu", i);
		ck_assert(rights_descend(pid, getpid()));
		ck_assert(!rights_descend(getpid(), pid));
		rights_clear(&target);
		rights_clear(&own);
		end_target(pid);
	}
}

TEST(who_has_only_our_own_filters_is_not_confined)
{
	static const struct {
		uint64_t own, target;
		bool is_descendant, no_new_privs, is_confined;
	} cases[] = {
		{ 0, 0, true, false, false },
		{ 0, 0, false, false, false },
		{ 0, 1, true, false, true },
		{ 1, 1, true, false, false },
		{ 1, 1, false, false, true },
		{ 1, 2, true, false, true },
		{ 0, 0, true, true, true },
		{ 1, 1, true, true, true },
		{ UINT64_MAX, UINT64_MAX, true, false, true },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		const struct rights own = { .filters = cases[i].own };
		const struct rights target = { .filters = cases[i].target,
					       .no_new_privs = cases[i].no_new_privs };

		ck_assert_msg(rights_are_confined(&target, &own, cases[i].is_descendant) ==
				      cases[i].is_confined,
			      "case %zu", i);
	}
}

TEST(confinement_is_seen)
{
	struct rights before = { 0 }, target = { 0 };
	pid_t pid = start_target(be_confined);

	hp_assert_ok(rights_read(&before, getpid(), gettid()));
	hp_assert_ok(rights_read(&target, pid, pid));
	ck_assert(target.no_new_privs);
	ck_assert(target.filters > before.filters);
	rights_clear(&target);
	rights_clear(&before);
	end_target(pid);
}

TEST(without_the_right_to_be_another_user_there_is_no_copy)
{
	struct rights target = { 0 }, own = { 0 };

	hp_assert_ok(rights_read(&own, getpid(), gettid()));
	hp_assert_ok(rights_read(&target, getpid(), gettid()));
	own.effective = 0;
	hp_assert_ok(rights_can_be_given(&target, &own));
	target.users[RIGHTS_SAVED]++;
	hp_assert_says(HP_ERROR_NOT_PERMITTED, NULL, "", rights_can_be_given(&target, &own));
	rights_clear(&target);
	rights_clear(&own);
}

HP_TEST_MAIN("shadow/rights")
