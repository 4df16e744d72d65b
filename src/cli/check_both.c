/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check_both.h"

#include <hpcprof/base/bytes.h>
#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>
#include <hpcprof/base/number.h>
#include <hpcprof/base/vector.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static const int ending[] = { SIGINT, SIGTERM, SIGHUP };

/* --- what a recorder says -------------------------------------------------------------------- */

/* Messages of a recorder: it is ready; it has ended, and the outcome follows. */
enum { SAYS_READY = 'r', SAYS_OUTCOME = 'o' };

/* A text that is NULL is sent as the empty string: no text that is set is empty. */
static void say_outcome(int fd, const struct check_both_outcome *outcome)
{
	const struct hp_error *error = outcome->error;
	struct hp_writer writer = { 0 };

	hp_write_u8(&writer, SAYS_OUTCOME);
	hp_write_u32(&writer, (uint32_t)outcome->interrupted);
	hp_write_string(&writer, outcome->stamp ? outcome->stamp : "");
	hp_write_u8(&writer, error != NULL);
	if (error) {
		hp_write_u32(&writer, (uint32_t)error->class);
		hp_write_string(&writer, error->message);
		hp_write_string(&writer, error->advice ? error->advice : "");
	}
	if (!writer.failed)
		hp_file_write_fd(fd, writer.bytes, writer.size);
	hp_writer_free(&writer);
}

/* --- one recorder ---------------------------------------------------------------------------- */

struct child {
	pid_t pid;
	int from;      /* pipe with its messages; -1 once it has ended */
	int go;	       /* a byte starts its command, closing forbids it; -1 afterwards */
	int go_reader; /* read end of `go`: writing to a dead recorder is no SIGPIPE */
	bool is_ready;
	HP_VECTOR(uint8_t) said;
};

struct ready {
	int say;
	int go;
};

static void go_on(int signal)
{
	(void)signal;
}

/* From now on signals end the command only: this process still has to report the outcome when the
 * recording has restored the signal actions. The command is already held by now; it gets the
 * original actions. */
static void outlive_signals(void)
{
	const struct sigaction going_on = { .sa_handler = go_on, .sa_flags = SA_RESTART };
	struct sigaction action;

	for (size_t i = 0; i < HP_ARRAY_COUNT(ending); i++)
		if (sigaction(ending[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			sigaction(ending[i], &going_on, NULL);
}

static struct hp_error *be_ready(void *context)
{
	const struct ready *ready = context;
	char byte = SAYS_READY;
	ssize_t got = -1;

	outlive_signals();
	if (hp_file_write_fd(ready->say, &byte, 1) == 0)
		do {
			got = read(ready->go, &byte, 1);
		} while (got < 0 && errno == EINTR);
	if (got == 1)
		return NULL;
	return hp_error_create(HP_ERROR_INSUFFICIENT, "the other command could not be started");
}

/* Never returns. The recorder also ends when the terminal is closed or when its parent is
 * killed. */
static void run_recorder(const struct check_both_recorder *recorder, enum hp_side side, int say,
			 int go, const sigset_t *mask)
{
	struct ready ready = { say, go };
	struct check_both_recorder own = *recorder;
	struct check_both_outcome outcome = { 0 };

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigprocmask(SIG_SETMASK, mask, NULL);
	own.ready = be_ready;
	own.ready_context = &ready;
	own.record(&own, side, &outcome);
	fflush(stderr);
	say_outcome(say, &outcome);
	_exit(EXIT_SUCCESS);
}

static void close_go(struct child *child)
{
	if (child->go >= 0) {
		close(child->go);
		close(child->go_reader);
	}
	child->go = -1;
}

static struct hp_error *start(const struct check_both_recorder *recorder, enum hp_side side,
			      const sigset_t *mask, struct child *child, struct child *other)
{
	int say[2];
	int go[2];
	int failure;

	if (pipe2(say, O_CLOEXEC) < 0)
		return hp_error_create_errno(errno, "making a pipe");
	if (pipe2(go, O_CLOEXEC) < 0) {
		failure = errno;
		close(say[0]);
		close(say[1]);
		return hp_error_create_errno(failure, "making a pipe");
	}
	child->pid = fork();
	failure = errno;
	if (child->pid == 0) {
		/* Otherwise the other recorder's pipes would stay open when it, or its parent,
		 * ends. */
		close(say[0]);
		close(go[1]);
		if (other->from >= 0)
			close(other->from);
		close_go(other);
		run_recorder(recorder, side, say[1], go[0], mask);
	}
	close(say[1]);
	if (child->pid < 0) {
		close(say[0]);
		close(go[0]);
		close(go[1]);
		return hp_error_create_errno(failure, "starting a process");
	}
	child->from = say[0];
	child->go = go[1];
	child->go_reader = go[0];
	return NULL;
}

/* --- waiting for both ------------------------------------------------------------------------ */

struct both {
	struct child children[HP_SIDES];
	struct check_both_outcome *outcomes;
	int signals;
	bool has_failed;
	bool spares_other;
};

static void let_go(struct both *both, enum hp_side first)
{
	for (size_t i = 0; i < HP_SIDES; i++)
		if (!both->children[i].is_ready || both->children[i].go < 0)
			return;
	/* If it has died meanwhile, its other pipe reports that. */
	hp_file_write_fd(both->children[first].go, "g", 1);
	hp_file_write_fd(both->children[!first].go, "g", 1);
	for (size_t i = 0; i < HP_SIDES; i++)
		close_go(&both->children[i]);
}

static struct hp_error *died(int status, int *interrupted)
{
	int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	for (size_t i = 0; i < HP_ARRAY_COUNT(ending); i++)
		if (signal == ending[i])
			*interrupted = 128 + signal;
	if (signal)
		return hp_error_create(HP_ERROR_INSUFFICIENT,
				       "its recorder was killed by signal %d (%s)", signal,
				       strsignal(signal));
	return hp_error_create(HP_ERROR_SYSTEM, "its recorder ended without an error message");
}

static struct hp_error *read_error(struct hp_reader *reader)
{
	_cleanup_free_ char *message = NULL;
	_cleanup_free_ char *advice = NULL;
	struct hp_error *error;
	uint32_t class;

	if (!hp_read_u32(reader, &class) || !hp_read_string(reader, &message) ||
	    !hp_read_string(reader, &advice))
		return hp_error_create_no_memory();
	error = hp_error_create((enum hp_error_class) class, "%s", message);
	return *advice ? hp_error_advise(error, "%s", advice) : error;
}

static void take_outcome(const struct child *child, int status, struct check_both_outcome *outcome)
{
	struct hp_reader reader = hp_reader_over(child->said.at, child->said.count);
	uint32_t interrupted = 0;
	uint8_t says = 0;
	uint8_t failed = 0;

	*outcome = (struct check_both_outcome){ 0 };
	if (hp_read_u8(&reader, &says) && says == SAYS_READY)
		hp_read_u8(&reader, &says);
	if (says == SAYS_OUTCOME && hp_read_u32(&reader, &interrupted) &&
	    hp_read_string(&reader, &outcome->stamp) && hp_read_u8(&reader, &failed)) {
		outcome->interrupted = (int)interrupted;
		outcome->error = failed ? read_error(&reader) : NULL;
	} else {
		outcome->error = died(status, &outcome->interrupted);
	}
	if (outcome->stamp && !*outcome->stamp) {
		free(outcome->stamp);
		outcome->stamp = NULL;
	}
}

static void end_child(struct both *both, size_t side)
{
	struct child *child = &both->children[side];
	struct child *other = &both->children[!side];
	struct check_both_outcome *outcome = &both->outcomes[side];
	int status = 0;

	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	close(child->from);
	child->from = -1;
	close_go(child);
	take_outcome(child, status, outcome);
	hp_vector_free(&child->said);
	if (!outcome->error)
		return;
	if (both->has_failed) {
		/* The failure of the first side ended this one: only that error is reported. */
		hp_error_destroy(outcome->error);
		outcome->error = NULL;
		outcome->interrupted = 0;
		return;
	}
	both->has_failed = true;
	if (other->from < 0)
		return;
	if (other->go >= 0)
		close_go(other);
	else if (!both->spares_other)
		kill(other->pid, SIGTERM);
}

static void listen_to(struct both *both, size_t side)
{
	struct child *child = &both->children[side];
	uint8_t bytes[512];
	ssize_t got = read(child->from, bytes, sizeof(bytes));

	if (got < 0 && errno == EINTR)
		return;
	for (ssize_t i = 0; i < got; i++)
		if (!hp_vector_push(&child->said, bytes[i]))
			got = 0;
	child->is_ready |= child->said.count > 0 && child->said.at[0] == SAYS_READY;
	if (got <= 0)
		end_child(both, side);
}

/* Passes signals to both recorders. One from the terminal has already reached them; they treat the
 * two as one. */
static void pass_on(const struct both *both)
{
	struct signalfd_siginfo info;

	while (read(both->signals, &info, sizeof(info)) == sizeof(info))
		for (size_t side = 0; side < HP_SIDES; side++)
			if (both->children[side].from >= 0)
				kill(both->children[side].pid, (int)info.ssi_signo);
}

static void wait_for(struct both *both, enum hp_side first)
{
	struct pollfd polls[HP_SIDES + 1];

	while (both->children[HP_BASE].from >= 0 || both->children[HP_CANDIDATE].from >= 0) {
		for (size_t side = 0; side < HP_SIDES; side++)
			polls[side] = (struct pollfd){ .fd = both->children[side].from,
						       .events = POLLIN };
		polls[HP_SIDES] = (struct pollfd){ .fd = both->signals, .events = POLLIN };
		if (poll(polls, HP_ARRAY_COUNT(polls), -1) < 0)
			continue;
		if (polls[HP_SIDES].revents)
			pass_on(both);
		for (size_t side = 0; side < HP_SIDES; side++)
			if (polls[side].revents)
				listen_to(both, side);
		let_go(both, first);
	}
}

/* Blocks the signals in this process and has them read from a descriptor; `saved` receives the
 * former mask. Ignored signals stay ignored. */
static struct hp_error *take_signals(struct both *both, sigset_t *saved)
{
	sigset_t mask;
	int failure;

	sigemptyset(&mask);
	for (size_t i = 0; i < HP_ARRAY_COUNT(ending); i++) {
		struct sigaction action;

		if (sigaction(ending[i], NULL, &action) < 0 || action.sa_handler != SIG_IGN)
			sigaddset(&mask, ending[i]);
	}
	sigprocmask(SIG_BLOCK, &mask, saved);
	both->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	failure = errno;
	if (both->signals >= 0)
		return NULL;
	sigprocmask(SIG_SETMASK, saved, NULL);
	return hp_error_create_errno(failure, "watching for signals");
}

struct hp_error *check_both_record(const struct check_both_recorder *recorder, enum hp_side first,
				   struct check_both_outcome outcomes[HP_SIDES])
{
	struct both both = {
		.children = { { .from = -1, .go = -1 }, { .from = -1, .go = -1 } },
		.outcomes = outcomes,
		.spares_other = recorder->spares_other,
	};
	sigset_t saved;
	struct hp_error *error = take_signals(&both, &saved);

	memset(outcomes, 0, HP_SIDES * sizeof(*outcomes));
	if (error)
		return error;
	/* Otherwise both children would print what is still in the buffers. */
	fflush(stdout);
	fflush(stderr);
	for (size_t side = 0; side < HP_SIDES && !error; side++)
		error = start(recorder, (enum hp_side)side, &saved, &both.children[side],
			      &both.children[!side]);
	for (size_t side = 0; side < HP_SIDES && error; side++)
		close_go(&both.children[side]);
	wait_for(&both, first);
	close(both.signals);
	sigprocmask(SIG_SETMASK, &saved, NULL);
	return error;
}
