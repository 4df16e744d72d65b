/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../scratch.h"
#include "../support.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/target/target.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Above any pid that a kernel gives out. */
enum { NO_PID = 10000000 };

#define SH(script) ((char *const[]){ (char[]){ "sh" }, (char[]){ "-c" }, (char[]){ script }, NULL })

static struct hp_command start(char *const *argv, struct hp_signals *signals)
{
	struct hp_command command;

	hp_assert_ok(hp_signals_take(signals));
	hp_assert_ok(hp_command_start(&command, argv, 0, 0, signals));
	return command;
}

/* Runs a command from start to end. */
static struct hp_run run(char *const *argv)
{
	struct hp_signals signals;
	struct hp_command command = start(argv, &signals);

	hp_assert_ok(hp_command_release(&command, argv[0]));
	hp_command_reap(&command, true);
	ck_assert(command.ended);
	hp_signals_restore(&signals);
	return command.run;
}

/* What the command writes to its standard output goes to a file; ours too from here on. */
static char *redirect_output(void)
{
	char *path = scratch_path("output");
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	fflush(stdout);
	ck_assert_int_eq(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
	return path;
}

/* --- what the command inherits ---------------------------------------------------------------- */

static int compare_ints(const void *left, const void *right)
{
	return *(const int *)left - *(const int *)right;
}

/* Our descriptors that an exec leaves open, one a line, in order. */
static char *list_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	char *text = calloc(1, 4096);
	int fds[256];
	size_t count = 0;
	size_t used = 0;

	ck_assert(directory && text);
	for (const struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
		int fd = atoi(entry->d_name);

		if (entry->d_name[0] != '.' && !(fcntl(fd, F_GETFD) & FD_CLOEXEC))
			fds[count++] = fd;
		ck_assert_uint_lt(count, HP_ARRAY_COUNT(fds));
	}
	closedir(directory);
	qsort(fds, count, sizeof(fds[0]), compare_ints);
	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, 4096 - used, "%d\n", fds[i]);
	return text;
}

TEST(the_command_gets_the_descriptors_we_were_started_with_and_none_of_ours)
{
	_cleanup_free_ char *output = redirect_output();
	/* One that whoever started us meant for the command. */
	int meant = open("/dev/null", O_RDONLY); // NOLINT(android-cloexec-open)
	_cleanup_free_ char *expected = list_descriptors();
	_cleanup_free_ char *found = NULL;

	ck_assert_int_ge(meant, 0);
	/* The directory that the glob itself opened is gone by the time of the test. */
	ck_assert_int_eq(run(SH("for f in /proc/self/fd/*; do [ -e $f ] && echo ${f##*/}; done "
				"| sort -n; :"))
				 .exit_status,
			 0);
	found = scratch_read(output);
	ck_assert_str_eq(found, expected);
	close(meant);
}

TEST(the_command_gets_the_streams_that_were_asked_for)
{
	_cleanup_free_ char *from = scratch_path("from");
	_cleanup_free_ char *to = scratch_path("to");
	_cleanup_free_ char *found = NULL;
	_cleanup_close_ int output = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	_cleanup_close_ int input = -1;
	struct hp_signals signals;
	struct hp_command command;

	scratch_write(from, "read and written\n", strlen("read and written\n"));
	input = open(from, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(input, 0);
	ck_assert_int_ge(output, 0);
	hp_assert_ok(hp_signals_take(&signals));
	hp_assert_ok(hp_command_start(&command, SH("cat"), input, output, &signals));
	hp_assert_ok(hp_command_release(&command, "sh"));
	hp_command_reap(&command, true);
	hp_signals_restore(&signals);
	ck_assert_int_eq(command.run.exit_status, 0);
	found = scratch_read(to);
	ck_assert_str_eq(found, "read and written\n");
}

static void take_signal_lines(const char *status, char *lines)
{
	static const char *const names[] = { "\nSigBlk:", "\nSigIgn:" };

	lines[0] = 0;
	for (size_t i = 0; i < HP_ARRAY_COUNT(names); i++) {
		const char *line = strstr(status, names[i]);

		ck_assert_ptr_nonnull(line);
		strncat(lines, line, strcspn(line + 1, "\n") + 1);
	}
}

TEST(the_command_gets_the_mask_and_the_dispositions_we_were_started_with)
{
	static const int ignored[] = { SIGHUP, SIGCHLD, SIGUSR1 };
	static char cat[] = "cat";
	static char status[] = "/proc/self/status";
	char *const argv[] = { cat, status, NULL };
	_cleanup_free_ char *output = redirect_output();
	_cleanup_free_ char *ours = NULL;
	_cleanup_free_ char *its = NULL;
	char expected[128];
	char found[128];
	sigset_t blocked;

	for (size_t i = 0; i < HP_ARRAY_COUNT(ignored); i++)
		ck_assert(signal(ignored[i], SIG_IGN) != SIG_ERR);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR2);
	sigaddset(&blocked, SIGTERM);
	ck_assert_int_eq(sigprocmask(SIG_SETMASK, &blocked, NULL), 0);
	ours = scratch_read(status);
	ck_assert_int_eq(run(argv).exit_status, 0);
	its = scratch_read(output);
	take_signal_lines(ours, expected);
	take_signal_lines(its, found);
	ck_assert_str_eq(found, expected);
	/* And we have ours back. */
	free(ours);
	ours = scratch_read(status);
	take_signal_lines(ours, found);
	ck_assert_str_eq(found, expected);
}

TEST(the_command_gets_its_arguments_and_our_environment)
{
	static char sh[] = "sh", c[] = "-c", script[] = "echo \"$HPCPROF_TEST|$0|$1\"";
	static char first[] = "a b", second[] = "";
	char *const argv[] = { sh, c, script, first, second, NULL };
	_cleanup_free_ char *output = redirect_output();
	_cleanup_free_ char *found = NULL;

	ck_assert_int_eq(setenv("HPCPROF_TEST", "of ours", 1), 0);
	ck_assert_int_eq(run(argv).exit_status, 0);
	found = scratch_read(output);
	ck_assert_str_eq(found, "of ours|a b|\n");
}

/* --- how it ends ------------------------------------------------------------------------------ */

TEST(exit_statuses_and_signals_come_out_as_a_shell_says_them)
{
	ck_assert_int_eq(run(SH("exit 0")).exit_status, 0);
	ck_assert_int_eq(run(SH("exit 7")).exit_status, 7);
	ck_assert_int_eq(run(SH("exit 255")).exit_status, 255);
	ck_assert_int_eq(run(SH("kill -TERM $$")).exit_status, 128 + SIGTERM);
	ck_assert_int_eq(run(SH("kill -KILL $$")).exit_status, 128 + SIGKILL);
	ck_assert_int_eq(run(SH("kill -INT $$")).exit_status, 128 + SIGINT);
}

TEST(a_command_that_cannot_be_executed_says_why)
{
	_cleanup_free_ char *plain = scratch_path("plain");
	static char missing[] = "/no/such/program";
	static char nowhere[] = "hpcprof-no-such-program";
	static char directory[] = "/";
	const struct {
		char *name;
		enum hp_error_class class;
	} commands[] = {
		{ missing, HP_ERROR_NOT_FOUND },
		{ nowhere, HP_ERROR_NOT_FOUND },
		{ directory, HP_ERROR_NOT_PERMITTED },
		{ plain, HP_ERROR_NOT_PERMITTED },
	};

	scratch_write(plain, "x", 1);
	for (size_t i = 0; i < HP_ARRAY_COUNT(commands); i++) {
		char *const argv[] = { commands[i].name, NULL };
		struct hp_signals signals;
		struct hp_command command = start(argv, &signals);

		hp_assert_fails(commands[i].class, hp_command_release(&command, argv[0]));
		/* Reaped: it is nobody's child any more. */
		ck_assert(command.ended);
		ck_assert_int_eq(waitpid(command.pid, NULL, 0), -1);
		ck_assert_int_eq(errno, ECHILD);
		hp_signals_restore(&signals);
	}
}

TEST(a_command_in_no_directory_of_the_path_is_not_found_whatever_these_are)
{
	_cleanup_free_ char *plain = scratch_path("plain");
	_cleanup_free_ char *locked = scratch_path("locked");
	_cleanup_free_ char *path = NULL;
	static char nowhere[] = "hpcprof-no-such-program", there[] = "plain";
	const struct {
		char *name;
		enum hp_error_class class;
	} commands[] = { { nowhere, HP_ERROR_NOT_FOUND }, { there, HP_ERROR_NOT_PERMITTED } };

	scratch_write(plain, "x", 1);
	ck_assert_int_eq(mkdir(locked, 0), 0);
	/* Root may enter any directory, but nobody may enter a file. */
	ck_assert_int_gt(asprintf(&path, "%s:%s:%s:", locked, plain, scratch_directory()), 0);
	ck_assert_int_eq(setenv("PATH", path, 1), 0);
	for (size_t i = 0; i < HP_ARRAY_COUNT(commands); i++) {
		char *const argv[] = { commands[i].name, NULL };
		struct hp_signals signals;
		struct hp_command command = start(argv, &signals);

		hp_assert_fails(commands[i].class, hp_command_release(&command, argv[0]));
		hp_signals_restore(&signals);
	}
}

TEST(a_script_without_a_shebang_is_run_by_the_shell)
{
	_cleanup_free_ char *script = scratch_path("script");
	char *const argv[] = { script, NULL };

	scratch_write(script, "exit 3\n", 7);
	ck_assert_int_eq(chmod(script, 0700), 0);
	ck_assert_int_eq(run(argv).exit_status, 3);
}

TEST(figures_of_a_run_are_filled_in)
{
	struct hp_run figures = run(SH("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"));

	ck_assert_uint_gt(figures.start_ns, 0);
	ck_assert_uint_gt(figures.elapsed_ns, 0);
	ck_assert_uint_gt(figures.user_ns + figures.system_ns, 0);
	ck_assert_uint_gt(figures.max_rss_bytes, 64 * 1024);
}

TEST(reaping_without_waiting_leaves_a_running_command_alone)
{
	int input[2];
	struct hp_signals signals;
	struct hp_command command;

	ck_assert_int_eq(pipe2(input, O_CLOEXEC), 0);
	ck_assert_int_eq(dup2(input[0], STDIN_FILENO), STDIN_FILENO);
	command = start(SH("read line; exit 4"), &signals);
	hp_assert_ok(hp_command_release(&command, "sh"));
	hp_command_reap(&command, false);
	ck_assert(!command.ended);
	ck_assert_int_eq(write(input[1], "\n", 1), 1);
	hp_command_reap(&command, true);
	ck_assert(command.ended);
	ck_assert_int_eq(command.run.exit_status, 4);
	/* Once more changes nothing. */
	hp_command_reap(&command, true);
	ck_assert_int_eq(command.run.exit_status, 4);
	hp_signals_restore(&signals);
}

/* --- while it is held ------------------------------------------------------------------------- */

static void read_executable(pid_t pid, char *text, size_t room)
{
	char path[64];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	length = readlink(path, text, room - 1);
	ck_assert_int_gt(length, 0);
	text[length] = 0;
}

TEST(a_command_is_held_until_it_is_released)
{
	int input[2];
	struct hp_signals signals;
	struct hp_command command;
	char own[4096];
	char held[4096];
	char released[4096];

	ck_assert_int_eq(pipe2(input, O_CLOEXEC), 0);
	ck_assert_int_eq(dup2(input[0], STDIN_FILENO), STDIN_FILENO);
	command = start(SH("read line; :"), &signals);
	read_executable(getpid(), own, sizeof(own));
	read_executable(command.pid, held, sizeof(held));
	ck_assert_str_eq(held, own);
	hp_assert_ok(hp_command_release(&command, "sh"));
	read_executable(command.pid, released, sizeof(released));
	ck_assert_str_ne(released, own);
	close(input[1]);
	hp_command_reap(&command, true);
	hp_signals_restore(&signals);
}

TEST(a_command_killed_while_it_was_held_has_ended_by_that_signal)
{
	struct hp_signals signals;
	struct hp_command command = start(SH("exit 0"), &signals);
	siginfo_t info;

	ck_assert_int_eq(kill(command.pid, SIGKILL), 0);
	ck_assert_int_eq(waitid(P_PID, (id_t)command.pid, &info, WEXITED | WNOWAIT), 0);
	hp_assert_ok(hp_command_release(&command, "sh"));
	hp_command_reap(&command, true);
	ck_assert_int_eq(command.run.exit_status, 128 + SIGKILL);
	hp_signals_restore(&signals);
}

TEST(an_abandoned_command_never_runs)
{
	_cleanup_free_ char *output = redirect_output();
	_cleanup_free_ char *found = NULL;
	struct hp_signals signals;
	struct hp_command command = start(SH("echo ran"), &signals);

	hp_command_abandon(&command);
	ck_assert(command.ended);
	ck_assert_int_eq(waitpid(command.pid, NULL, 0), -1);
	found = scratch_read(output);
	ck_assert_str_eq(found, "");
	hp_signals_restore(&signals);
}

TEST(a_held_command_ends_when_we_die)
{
	_cleanup_free_ char *output = redirect_output();
	_cleanup_free_ char *found = NULL;
	int alive[2];
	pid_t recorder;
	char byte;

	/* Held open by the recorder and the command; at its end both are gone. */
	ck_assert_int_eq(pipe(alive), 0);
	recorder = fork();
	if (recorder == 0) {
		struct hp_signals signals;
		struct hp_command command;

		close(alive[0]);
		if (hp_signals_take(&signals) ||
		    hp_command_start(&command, SH("echo ran"), 0, 0, &signals))
			_exit(1);
		_exit(0);
	}
	ck_assert_int_gt(recorder, 0);
	close(alive[1]);
	ck_assert_int_eq(waitpid(recorder, NULL, 0), recorder);
	ck_assert_int_eq(read(alive[0], &byte, 1), 0);
	close(alive[0]);
	found = scratch_read(output);
	ck_assert_str_eq(found, "");
}

/* --- signals for ourselves -------------------------------------------------------------------- */

TEST(signals_come_as_bytes_until_they_are_given_back)
{
	static const int taken[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD };
	struct hp_signals signals;
	struct pollfd ready = { .events = POLLIN };
	sigset_t mask;

	for (size_t i = 0; i < HP_ARRAY_COUNT(taken); i++)
		signal(taken[i], SIG_DFL);
	hp_assert_ok(hp_signals_take(&signals));
	ready.fd = signals.fd;
	ck_assert_int_ne(fcntl(signals.fd, F_GETFD) & FD_CLOEXEC, 0);
	ck_assert_int_eq(poll(&ready, 1, 0), 0);
	for (size_t i = 0; i < HP_ARRAY_COUNT(taken); i++) {
		char info[128];

		ck_assert_int_eq(raise(taken[i]), 0);
		ck_assert_int_eq(poll(&ready, 1, 0), 1);
		ck_assert_int_eq(read(signals.fd, info, sizeof(info)), (ssize_t)sizeof(info));
	}
	hp_signals_restore(&signals);
	ck_assert_int_eq(sigprocmask(SIG_SETMASK, NULL, &mask), 0);
	for (size_t i = 0; i < HP_ARRAY_COUNT(taken); i++)
		ck_assert(!sigismember(&mask, taken[i]));
}

TEST(what_we_were_told_to_ignore_we_ignore)
{
	struct hp_signals signals;
	sigset_t mask;

	signal(SIGHUP, SIG_IGN);
	hp_assert_ok(hp_signals_take(&signals));
	ck_assert_int_eq(sigprocmask(SIG_SETMASK, NULL, &mask), 0);
	ck_assert(!sigismember(&mask, SIGHUP));
	ck_assert(sigismember(&mask, SIGTERM));
	hp_signals_restore(&signals);
}

/* --- what runs already ------------------------------------------------------------------------ */

static void *tell_and_wait(void *context)
{
	int *pipes = context;
	pid_t tid = (pid_t)syscall(SYS_gettid);
	char byte;

	if (write(pipes[1], &tid, sizeof(tid)) == sizeof(tid) && read(pipes[2], &byte, 1) < 0)
		return context;
	return NULL;
}

static bool holds(const pid_t *pids, size_t count, pid_t pid)
{
	for (size_t i = 0; i < count; i++) {
		if (pids[i] == pid)
			return true;
	}
	return false;
}

TEST(all_threads_of_a_process_are_found)
{
	pid_t self = getpid();
	int pipes[4];
	pthread_t thread;
	pid_t *threads;
	size_t count;
	pid_t tid;

	ck_assert_int_eq(pipe(pipes), 0);
	ck_assert_int_eq(pipe(pipes + 2), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, tell_and_wait, pipes), 0);
	ck_assert_int_eq(read(pipes[0], &tid, sizeof(tid)), (ssize_t)sizeof(tid));
	hp_assert_ok(hp_threads_of(&self, 1, NULL, 0, &threads, &count));
	ck_assert_uint_ge(count, 2);
	ck_assert(holds(threads, count, self));
	ck_assert(holds(threads, count, tid));
	free(threads);
	hp_assert_ok(hp_threads_of(NULL, 0, &tid, 1, &threads, &count));
	ck_assert_uint_eq(count, 1);
	ck_assert_int_eq(threads[0], tid);
	free(threads);
	ck_assert_int_eq(hp_process_of_thread(tid), self);
	close(pipes[3]);
	pthread_join(thread, NULL);
}

TEST(what_does_not_run_is_not_found)
{
	pid_t pids[] = { getpid(), NO_PID };
	pid_t nobody = NO_PID;
	pid_t *threads;
	size_t count;

	hp_assert_fails(HP_ERROR_NOT_FOUND, hp_threads_of(pids, 2, NULL, 0, &threads, &count));
	hp_assert_fails(HP_ERROR_NOT_FOUND, hp_threads_of(NULL, 0, &nobody, 1, &threads, &count));
	ck_assert_int_eq(hp_process_of_thread(NO_PID), 0);
}

TEST(we_are_among_all_processes)
{
	pid_t *pids;
	size_t count;

	hp_assert_ok(hp_all_processes(&pids, &count));
	ck_assert(holds(pids, count, getpid()));
	ck_assert(!holds(pids, count, 0));
	free(pids);
}

HP_TEST_MAIN("target/target")
