/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/base/broken_pipe.h>
#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>
#include <hpcprof/base/number.h>
#include <hpcprof/base/vector.h>
#include <hpcprof/target/target.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- signals ---------------------------------------------------------------------------------- */

struct hp_error *hp_signals_take(struct hp_signals *signals)
{
	static const int taken[] = { SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGCHLD };
	/* Stops are not reported: shadow windows stop the command often. */
	struct sigaction plain = { .sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP };
	sigset_t mask;

	sigemptyset(&mask);
	for (size_t i = 0; i < HP_ARRAY_COUNT(taken); i++) {
		struct sigaction action;

		/* nohup and background jobs of shells ignore some signals; so does hpcprof then. */
		if (sigaction(taken[i], NULL, &action) == 0 && action.sa_handler == SIG_IGN &&
		    taken[i] != SIGCHLD)
			continue;
		sigaddset(&mask, taken[i]);
	}
	/* If SIGCHLD were ignored, the kernel would reap the command. */
	sigaction(SIGCHLD, &plain, &signals->saved_child);
	sigprocmask(SIG_BLOCK, &mask, &signals->saved_mask);
	signals->fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals->fd >= 0)
		return NULL;
	hp_signals_restore(signals);
	return hp_error_create_errno(errno, "watching for signals");
}

void hp_signals_restore(struct hp_signals *signals)
{
	if (signals->fd >= 0)
		close(signals->fd);
	signals->fd = -1;
	sigprocmask(SIG_SETMASK, &signals->saved_mask, NULL);
	sigaction(SIGCHLD, &signals->saved_child, NULL);
}

/* --- a command -------------------------------------------------------------------------------- */

/* Descriptors of hpcprof itself are never 0, 1 or 2 (see cli). */
static void redirect(int input, int output)
{
	if ((input && dup2(input, STDIN_FILENO) < 0) || (output && dup2(output, STDOUT_FILENO) < 0))
		_exit(EXIT_FAILURE);
}

static void run_child(char *const *argv, const struct hp_signals *signals, int go, int failure)
{
	int error;
	char byte;

	sigaction(SIGCHLD, &signals->saved_child, NULL);
	hp_broken_pipe_restore();
	/* If the pipe closes without a byte, hpcprof has given up or died. */
	if (read(go, &byte, 1) != 1)
		_exit(EXIT_FAILURE);
	sigprocmask(SIG_SETMASK, &signals->saved_mask, NULL);
	execvp(argv[0], argv);
	error = errno;
	if (write(failure, &error, sizeof(error)) < 0)
		_exit(EXIT_FAILURE);
	_exit(127);
}

struct hp_error *hp_command_start(struct hp_command *command, char *const *argv, int input,
				  int output, const struct hp_signals *signals)
{
	int go[2];
	int failure[2];
	pid_t pid;

	*command = (struct hp_command){ .go_fd = -1, .go_reader_fd = -1, .failure_fd = -1 };
	if (pipe2(go, O_CLOEXEC) < 0)
		return hp_error_create_errno(errno, "making a pipe");
	if (pipe2(failure, O_CLOEXEC) < 0) {
		close(go[0]);
		close(go[1]);
		return hp_error_create_errno(errno, "making a pipe");
	}
	pid = fork();
	if (pid == 0) {
		/* otherwise the child would keep its own pipe open */
		close(go[1]);
		redirect(input, output);
		run_child(argv, signals, go[0], failure[1]);
	}
	close(failure[1]);
	if (pid < 0) {
		close(go[0]);
		close(go[1]);
		close(failure[0]);
		return hp_error_create_errno(errno, "starting a process");
	}
	*command = (struct hp_command){
		.pid = pid, .go_fd = go[1], .go_reader_fd = go[0], .failure_fd = failure[0]
	};
	return NULL;
}

static void close_pipes(struct hp_command *command)
{
	if (command->go_fd >= 0)
		close(command->go_fd);
	if (command->go_reader_fd >= 0)
		close(command->go_reader_fd);
	if (command->failure_fd >= 0)
		close(command->failure_fd);
	command->go_fd = command->go_reader_fd = command->failure_fd = -1;
}

/* Whether a directory of $PATH contains such a file, as far as permissions tell. */
static bool is_in_path(const char *name)
{
	const char *list = getenv("PATH");
	_cleanup_free_ char *copy = list ? strdup(list) : NULL;
	char *rest = copy;
	const char *directory;
	bool found = false;

	while (!found && (directory = strsep(&rest, ":"))) {
		_cleanup_free_ char *path = NULL;

		if (asprintf(&path, "%s/%s", *directory ? directory : ".", name) < 0)
			path = NULL;
		found = path && access(path, F_OK) == 0;
	}
	return found;
}

struct hp_error *hp_command_release(struct hp_command *command, const char *name)
{
	int failure = 0;
	ssize_t got;

	command->start_ns = hp_clock_monotonic_ns();
	command->run.start_ns = hp_clock_realtime_ns();
	/* Another process may have killed it while it was held. Our own reading end prevents
	 * SIGPIPE. */
	if (write(command->go_fd, "g", 1) != 1)
		failure = errno;
	/* Ends at exec, which closes the other end, or with the reason of the failure. */
	do {
		got = failure ? 0 : read(command->failure_fd, &failure, sizeof(failure));
	} while (got < 0 && errno == EINTR);
	close_pipes(command);
	if (!failure)
		return NULL;
	hp_command_reap(command, true);
	/* A directory of $PATH without permission makes it EACCES; shells say "not found". */
	if (failure == EACCES && !strchr(name, '/') && !is_in_path(name))
		failure = ENOENT;
	if (failure == ENOENT)
		return hp_error_advise(hp_error_create_errno(failure, "cannot run '%s'", name),
				       "check the spelling, and that it is in $PATH");
	return hp_error_advise(hp_error_create(HP_ERROR_NOT_PERMITTED, "cannot run '%s': %s", name,
					       strerror(failure)),
			       "it must be a program or a script that begins with #!, and it must "
			       "be executable: chmod +x");
}

static uint64_t timeval_ns(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_usec * 1000;
}

/* Waiting for its end would also take its stops, which belong to another thread of hpcprof if that
 * traces it. So it is checked first in a way that takes nothing. */
static bool has_ended(pid_t pid)
{
	siginfo_t info = { 0 };

	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
		return true;
	return info.si_pid && (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED ||
			       info.si_code == CLD_DUMPED);
}

void hp_command_reap(struct hp_command *command, bool wait)
{
	struct rusage usage;
	int status;
	pid_t got;

	if (!command->pid || command->ended || (!wait && !has_ended(command->pid)))
		return;
	do {
		got = wait4(command->pid, &status, wait ? 0 : WNOHANG, &usage);
	} while (got < 0 && errno == EINTR);
	if (got != command->pid)
		return;
	command->ended = true;
	command->run.elapsed_ns = hp_clock_monotonic_ns() - command->start_ns;
	command->run.user_ns = timeval_ns(usage.ru_utime);
	command->run.system_ns = timeval_ns(usage.ru_stime);
	command->run.max_rss_bytes = (uint64_t)usage.ru_maxrss * 1024;
	command->run.exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status)
						       : WEXITSTATUS(status);
}

void hp_command_abandon(struct hp_command *command)
{
	bool held = command->go_fd >= 0;

	close_pipes(command);
	if (held)
		hp_command_reap(command, true);
}

/* --- what runs already ------------------------------------------------------------------------ */

static bool push_pid(pid_t **pids, size_t *count, size_t *capacity, pid_t pid)
{
	if (!hp_grow((void **)pids, capacity, *count + 1, sizeof(**pids)))
		return false;
	(*pids)[(*count)++] = pid;
	return true;
}

/* Adds each number that names an entry of a /proc directory. */
static struct hp_error *list_numbers(const char *path, pid_t **pids, size_t *count,
				     size_t *capacity)
{
	DIR *directory = opendir(path);
	bool room = true;

	if (!directory)
		return hp_error_create_errno(errno, "opening %s", path);
	for (const struct dirent *entry = readdir(directory); entry && room;
	     entry = readdir(directory)) {
		uint64_t number;

		if (hp_parse_u64(entry->d_name, &number) && number <= INT32_MAX)
			room = push_pid(pids, count, capacity, (pid_t)number);
	}
	closedir(directory);
	return room ? NULL : hp_error_create_no_memory();
}

static struct hp_error *no_such(const char *what, pid_t pid)
{
	return hp_error_advise(
		hp_error_create(HP_ERROR_NOT_FOUND, "there is no %s %d", what, (int)pid),
		"list the processes with: ps -e");
}

struct hp_error *hp_threads_of(const pid_t *pids, size_t pid_count, const pid_t *tids,
			       size_t tid_count, pid_t **threads, size_t *count)
{
	_cleanup_free_ pid_t *found = NULL;
	size_t capacity = 0;

	*count = 0;
	for (size_t i = 0; i < pid_count; i++) {
		char path[64];
		struct hp_error *error;

		snprintf(path, sizeof(path), "/proc/%d/task", (int)pids[i]);
		error = list_numbers(path, &found, count, &capacity);
		if (error && error->class == HP_ERROR_NOT_FOUND) {
			hp_error_destroy(error);
			return no_such("process", pids[i]);
		}
		if (error)
			return error;
	}
	for (size_t i = 0; i < tid_count; i++) {
		if (!hp_process_of_thread(tids[i]))
			return no_such("thread", tids[i]);
		if (!push_pid(&found, count, &capacity, tids[i]))
			return hp_error_create_no_memory();
	}
	*threads = hp_steal(found);
	return NULL;
}

pid_t hp_process_of_thread(pid_t tid)
{
	_cleanup_free_ char *text = hp_file_text("/proc/%d/status", (int)tid);
	const char *line;
	uint64_t process;

	line = text ? strstr(text, "\nTgid:") : NULL;
	if (!line)
		return 0;
	line += strlen("\nTgid:");
	return hp_scan_u64(&line, &process) && process <= INT_MAX ? (pid_t)process : 0;
}

struct hp_error *hp_all_processes(pid_t **pids, size_t *count)
{
	size_t capacity = 0;

	*pids = NULL;
	*count = 0;
	return list_numbers("/proc", pids, count, &capacity);
}
