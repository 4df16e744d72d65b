/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a copy is told of its process, clocks, signals and terminals, and which calls end a window. */
#include "../../src/shadow/syscalls/answers.h"
#include "../../src/shadow/syscalls/vdso_calls.h"
#include "calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

TEST_WHERE(can_copy(), who_it_is_it_hears_of_the_original)
{
	start();
	answers(call(SYS_getpid, 0, 0, 0, 0), stage.pid);
	answers(call(SYS_gettid, 0, 0, 0, 0), stage.pid);
	answers(call(SYS_getppid, 0, 0, 0, 0), getpid());
	answers(call(SYS_getuid, 0, 0, 0, 0), getuid());
	answers(call(SYS_getegid, 0, 0, 0, 0), getegid());
}

/* Which the kernel may have been built without. */
static int64_t name_memory(void)
{
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int64_t result = prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, memory, 4096, "x") < 0 ? -errno
											: 0;

	munmap(memory, 4096);
	return result;
}

TEST_WHERE(can_copy(), descriptors_are_what_they_are)
{
	struct hp_engine_call answer;
	struct sysinfo found, info;
	struct stat status;

	start();
	answers(call(SYS_fcntl, (uint64_t)stage.reading, F_GETFL, 0, 0),
		fcntl(stage.reading, F_GETFL));
	answers(call(SYS_fcntl, (uint64_t)stage.pipe[1], F_GETFL, 0, 0), O_WRONLY);
	answers(call(SYS_ioctl, (uint64_t)stage.reading, TCGETS, at(8), 0), -ENOTTY);
	answers(call(SYS_ioctl, (uint64_t)stage.pipe[0], TCGETS, at(8), 0), -ENOTTY);
	answers(call(SYS_lseek, (uint64_t)stage.pipe[0], 0, SEEK_CUR, 0), -ESPIPE);
	answers(call(SYS_fstat, (uint64_t)stage.pipe[0], at(8), 0, 0), 0);
	read_back(8, &status, sizeof(status));
	ck_assert(S_ISFIFO(status.st_mode));
	answers(call(SYS_prlimit64, 0, RLIMIT_CORE, 0, at(8)), 0);
	ends(call(SYS_prlimit64, 0, RLIMIT_CORE, at(8), 0), false);
	answers(call(SYS_getrusage, RUSAGE_SELF, at(8), 0, 0), 0);
	answers(call(SYS_prctl, PR_SET_VMA, PR_SET_VMA_ANON_NAME, at(8), 8), name_memory());
	answers(call(SYS_prctl, PR_SET_NAME, at(8), 0, 0), 0);
	ends(call(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0), false);
	answer = call(SYS_times, at(8), 0, 0, 0);
	ck_assert(answer.is_handled && answer.result > 0);
	ck_assert_uint_eq(answer.guessed_at, at(8));
	ck_assert(call(SYS_times, 0, 0, 0, 0).result >= answer.result);
	answer = call(SYS_sysinfo, at(8), 0, 0, 0);
	answers(answer, 0);
	read_back(8, &found, sizeof(found));
	ck_assert_int_eq(sysinfo(&info), 0);
	ck_assert_uint_eq(found.totalswap, info.totalswap);
	ck_assert_uint_eq(found.mem_unit, info.mem_unit);
	/* What is free differs. */
	ck_assert_uint_eq(answer.guessed_at, at(8));
	ck_assert_uint_eq(answer.guessed_bytes, sizeof(info));
	ends(call(SYS_getrusage, (uint64_t)RUSAGE_CHILDREN, at(8), 0, 0), false);
}

/* As our own input, by whatever number. */
TEST_WHERE(can_copy(), terminals_say_what_they_said_and_null_devices_that_they_are_none)
{
	static const char *const null_devices[] = { "/dev/null", "/dev/zero", "/dev/full" };
	enum { SETTINGS_BYTES = 36 }; /* the kernel's */
	const struct winsize wanted = { .ws_row = 33, .ws_col = 77 };
	uint8_t settings[64] = { 0 }, found[64];
	struct winsize size;
	int null[HP_ARRAY_COUNT(null_devices)];
	int input = dup(STDIN_FILENO);
	int random = open("/dev/urandom", O_RDONLY);
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	int other = posix_openpt(O_RDWR | O_NOCTTY);
	int terminal;

	ck_assert_int_eq(unlockpt(master), 0);
	terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
	ck_assert_int_ge(terminal, 0);
	ck_assert_int_eq(ioctl(terminal, TIOCSWINSZ, &wanted), 0);
	ck_assert_int_eq(ioctl(terminal, TCGETS, settings), 0);
	ck_assert_int_eq(dup2(terminal, STDIN_FILENO), STDIN_FILENO);
	for (size_t i = 0; i < HP_ARRAY_COUNT(null); i++)
		null[i] = open(null_devices[i], O_RDWR);
	start();
	/* From here on it is another size. */
	ck_assert_int_eq(ioctl(terminal, TIOCSWINSZ, &(struct winsize){ .ws_row = 1 }), 0);
	answers(call(SYS_ioctl, (uint64_t)terminal, TCGETS, at(8), 0), 0);
	read_back(8, found, SETTINGS_BYTES);
	ck_assert_mem_eq(found, settings, SETTINGS_BYTES);
	answers(call(SYS_ioctl, (uint64_t)terminal, TIOCGWINSZ, at(8), 0), 0);
	read_back(8, &size, sizeof(size));
	ck_assert_mem_eq(&size, &wanted, sizeof(size));
	ends(call(SYS_ioctl, (uint64_t)terminal, TCSETS, at(8), 0), false);
	ends(call(SYS_ioctl, (uint64_t)terminal, TIOCGPGRP, at(8), 0), false);
	/* One that we do not have, or that has answers of its own. */
	ends(call(SYS_ioctl, (uint64_t)other, TCGETS, at(8), 0), false);
	ends(call(SYS_ioctl, (uint64_t)random, TCGETS, at(8), 0), false);
	for (size_t i = 0; i < HP_ARRAY_COUNT(null); i++) {
		ck_assert_int_lt(ioctl(null[i], TCGETS, found), 0);
		answers(call(SYS_ioctl, (uint64_t)null[i], TCGETS, at(8), 0), -errno);
		answers(call(SYS_lseek, (uint64_t)null[i], 5, SEEK_SET, 0),
			lseek(null[i], 5, SEEK_SET));
		close(null[i]);
	}
	end_now(&stage);
	dup2(input, STDIN_FILENO);
	close(input);
	close(random);
	close(terminal);
	close(master);
	close(other);
}

TEST_WHERE(can_copy(), signals_are_masked_for_it_alone)
{
	uint64_t set = 1ull << (SIGUSR1 - 1);
	uint64_t old;

	start();
	put(8, &set, sizeof(set));
	answers(call(SYS_rt_sigprocmask, SIG_BLOCK, at(8), 0, 8), 0);
	answers(call(SYS_rt_sigprocmask, SIG_BLOCK, 0, at(9), 8), 0);
	read_back(9, &old, sizeof(old));
	ck_assert_uint_eq(old, stage.state.blocked_signals | set);
}

TEST_WHERE(can_copy(), actions_of_signals_are_those_it_has_set_or_a_guess)
{
	const struct signal_action action = { 0x1000, 0x4000000, 0x2000, 0 };
	struct signal_action old;
	struct hp_engine_call answer;

	signal(SIGUSR1, SIG_IGN);
	signal(SIGUSR2, SIG_DFL);
	start();
	put(8, &action, sizeof(action));
	answer = call(SYS_rt_sigaction, SIGUSR1, at(8), at(16), 8);
	answers(answer, 0);
	read_back(16, &old, sizeof(old));
	ck_assert_uint_eq(old.handler, (uintptr_t)SIG_IGN);
	ck_assert_uint_eq(answer.guessed_at, at(16));
	ck_assert_uint_eq(answer.guessed_bytes, sizeof(old));
	answer = call(SYS_rt_sigaction, SIGUSR1, 0, at(16), 8);
	answers(answer, 0);
	read_back(16, &old, sizeof(old));
	ck_assert_mem_eq(&old, &action, sizeof(old));
	ck_assert_uint_eq(answer.guessed_bytes, 0);
	answers(call(SYS_rt_sigaction, SIGUSR2, 0, at(16), 8), 0);
	read_back(16, &old, sizeof(old));
	ck_assert_uint_eq(old.handler, (uintptr_t)SIG_DFL);
	answers(call(SYS_rt_sigaction, SIGKILL, at(8), 0, 8), -EINVAL);
	answers(call(SYS_rt_sigaction, SIGSTOP, 0, at(16), 8), 0);
	ends(call(SYS_rt_sigaction, 0, 0, at(16), 8), false);
	ends(call(SYS_rt_sigaction, 65, 0, at(16), 8), false);
	ends(call(SYS_rt_sigaction, SIGUSR1, 1, 0, 8), false);
	ends(call(SYS_rt_sigaction, SIGUSR1, 0, at(16), 16), false);
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec time;

	ck_assert_int_eq(clock_gettime(clock, &time), 0);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Between the moment of the copy and now, since its time goes no faster than ours. */
TEST_WHERE(can_copy(), its_time_begins_when_it_was_made)
{
	static const clockid_t clocks[] = { CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME };
	struct timespec found;

	start();
	shadow_clock_start(&stage.calls.clock, stage.copied.sandbox.pid);
	for (size_t i = 0; i < HP_ARRAY_COUNT(clocks); i++) {
		uint64_t before = now_ns(clocks[i]);
		uint64_t value;

		shadow_clock_copied(&stage.calls.clock, stage.pid, stage.pid);
		usleep(20000);
		answers(call(SYS_clock_gettime, (uint64_t)clocks[i], at(8), 0, 0), 0);
		read_back(8, &found, sizeof(found));
		value = (uint64_t)found.tv_sec * 1000000000 + (uint64_t)found.tv_nsec;
		/* The two clocks of ours are read one after the other. */
		ck_assert_uint_ge(value + 10000000, before);
		ck_assert_uint_le(value, now_ns(clocks[i]));
	}
	answers(call(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, at(8), 0, 0), 0);
	ends(call(SYS_clock_gettime, 12345, at(8), 0, 0), false);
	ends(call(SYS_clock_gettime, CLOCK_REALTIME, 0, 0, 0), false);
}

TEST_WHERE(can_copy(), its_vdso_makes_system_calls_and_the_originals_does_not)
{
	uint64_t offset = vdso_function("__vdso_clock_gettime");
	uint8_t before[8] = { 0 };
	uint8_t after[8] = { 0 };
	uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
	const uint8_t *ours = (const uint8_t *)(uintptr_t)(vdso + offset); // NOLINT
	struct user_regs_struct registers = { .rax = SYS_clock_gettime, .rdi = CLOCK_MONOTONIC };
	struct hp_engine_call answer;

	/* A kernel without one. */
	if (!vdso || !offset)
		return;
	start();
	registers.rsi = at(8);
	memcpy(before, ours, sizeof(before));
	vdso_make_calls(&stage.copied.sandbox, &stage.copied.snapshot.areas);
	ck_assert(sandbox_read(&stage.copied.sandbox, vdso + offset, after, sizeof(after)));
	/* mov $228, %eax; syscall */
	ck_assert_int_eq(after[0], 0xb8);
	ck_assert_int_eq(after[1], SYS_clock_gettime);
	ck_assert_int_eq(after[5], 0x0f);
	ck_assert_int_eq(after[6], 0x05);
	ck_assert_mem_eq(before, ours, sizeof(before));
	/* The original's had a frame. */
	registers.rip = vdso + offset + 5;
	answer = shadow_calls_handle(&stage.calls, stage.copied.sandbox.pid, &registers);
	ck_assert(answer.is_handled);
	ck_assert_uint_gt(answer.frame_bytes, 0);
	ck_assert_uint_eq(call(SYS_clock_gettime, CLOCK_MONOTONIC, at(8), 0, 0).frame_bytes, 0);
}

TEST_WHERE(can_copy(), waiting_ends_the_window_and_is_told_apart)
{
	start();
	ends(call(SYS_poll, at(0), 0, 0, 0), true);
	ends(call(SYS_read, (uint64_t)stage.pipe[0], at(8), 1, 0), true);
	ends(call(SYS_futex, at(0), FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 77, 0), true);
	answers(call(SYS_futex, at(0), FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 78, 0), -EAGAIN);
	answers(call(SYS_futex, at(0), FUTEX_WAKE, 1, 0), 0);
}

TEST_WHERE(can_copy(), everything_else_ends_it_too)
{
	static const long numbers[] = { SYS_exit_group, SYS_execve, SYS_clone,	SYS_fork,
					SYS_vfork,	SYS_kill,   SYS_socket, SYS_dup,
					SYS_ptrace,	SYS_mkdir,  SYS_mount,	SYS_reboot,
					SYS_ioctl,	SYS_dup2,   99999,	-1 };

	start();
	for (size_t i = 0; i < HP_ARRAY_COUNT(numbers); i++)
		ends(call(numbers[i], UINT64_MAX, 0, 0, 0), false);
	/* And the copy is there still. */
	answers(call(SYS_getpid, 0, 0, 0, 0), stage.pid);
}

/* A signal to somebody else, or one that a handler may take, is a call as any other. */
TEST_WHERE(can_copy(), abort_is_told_from_other_signals)
{
	start();
	ends(call(SYS_tgkill, (uint64_t)stage.pid, (uint64_t)stage.pid, SIGABRT, 0), false);
	ck_assert(stage.calls.has_aborted);
	ends(call(SYS_tgkill, (uint64_t)stage.pid, (uint64_t)stage.pid, SIGUSR1, 0), false);
	ck_assert(!stage.calls.has_aborted);
	ends(call(SYS_tgkill, (uint64_t)stage.pid, (uint64_t)stage.pid + 1, SIGABRT, 0), false);
	ck_assert(!stage.calls.has_aborted);
}

TEST(calls_have_their_names)
{
	static const struct {
		int64_t number;
		const char *name;
	} cases[] = {
		{ SYS_futex, "futex" },
		{ SYS_ioprio_get, "ioprio_get" },
		{ 99999, "number 99999" },
		{ -1, "number -1" },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		char text[32];

		shadow_call_name(cases[i].number, text, sizeof(text));
		ck_assert_str_eq(text, cases[i].name);
	}
}

HP_TEST_MAIN("shadow/system_calls")
