/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tuning.h"

#include <hpcprof/base/number.h>
#include <hpcprof/base/thread.h>
#include <hpcprof/target/watch.h>

#include <poll.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

struct hp_error *hp_watch_create(struct hp_watch *watch, struct hp_command *command,
				 const struct hp_signals *signals, const pid_t *pids,
				 size_t pid_count, const pid_t *tids, size_t tid_count)
{
	size_t targets = pid_count + tid_count;

	*watch = (struct hp_watch){ .command = command, .signals = signals };
	watch->pidfds = malloc((targets + 1) * sizeof(*watch->pidfds));
	if (!watch->pidfds)
		return hp_error_create_no_memory();
	/* Their end is noticed only by their pidfds. */
	for (size_t i = 0; i < targets; i++) {
		pid_t pid = i < pid_count ? pids[i] : hp_process_of_thread(tids[i - pid_count]);
		int fd = pid > 0 ? pidfd_open(pid, 0) : -1;

		if (fd >= 0)
			watch->pidfds[watch->pidfd_count++] = fd;
	}
	watch->live = watch->pidfd_count;
	watch->stop = targets && !watch->live;
	return NULL;
}

void hp_watch_clear(struct hp_watch *watch)
{
	for (size_t i = 0; i < watch->pidfd_count; i++) {
		if (watch->pidfds[i] >= 0)
			close(watch->pidfds[i]);
	}
	free(watch->pidfds);
	*watch = (struct hp_watch){ 0 };
}

size_t hp_watch_poll_count(const struct hp_watch *watch)
{
	return 1 + watch->pidfd_count;
}

void hp_watch_fill(const struct hp_watch *watch, struct pollfd *polls)
{
	polls[0] = (struct pollfd){ .fd = watch->signals->fd, .events = POLLIN };
	for (size_t i = 0; i < watch->pidfd_count; i++)
		polls[1 + i] = (struct pollfd){ .fd = watch->pidfds[i], .events = POLLIN };
}

static void take_signal(struct hp_watch *watch, const struct signalfd_siginfo *info)
{
	static const int from_terminal = 0x80; /* SI_KERNEL */
	uint64_t now_ns;

	if (info->ssi_signo == SIGCHLD) {
		hp_command_reap(watch->command, false);
		watch->stop |= watch->command->ended;
		return;
	}
	if (info->ssi_signo == SIGTSTP) {
		hp_thread_stop_process();
		return;
	}
	if (!watch->command->pid || watch->command->ended) {
		watch->stop = true;
		return;
	}
	now_ns = hp_clock_monotonic_ns();
	if (watch->interrupts && now_ns - watch->interrupt_ns < SAME_INTERRUPT_NS)
		return;
	watch->interrupt_ns = now_ns;
	if (info->ssi_code != from_terminal)
		kill(watch->command->pid, (int)info->ssi_signo);
	watch->stop = ++watch->interrupts > 1;
}

static void take_signals(struct hp_watch *watch)
{
	struct signalfd_siginfo info;

	while (read(watch->signals->fd, &info, sizeof(info)) == sizeof(info))
		take_signal(watch, &info);
}

void hp_watch_look(struct hp_watch *watch, const struct pollfd *polls)
{
	if (polls[0].revents)
		take_signals(watch);
	for (size_t i = 0; i < watch->pidfd_count; i++) {
		if (!polls[1 + i].revents || watch->pidfds[i] < 0)
			continue;
		close(watch->pidfds[i]);
		watch->pidfds[i] = -1;
		if (--watch->live == 0)
			watch->stop = true;
	}
}

void hp_watch_wait_for_command(struct hp_watch *watch)
{
	struct pollfd poll_signals = { .fd = watch->signals->fd, .events = POLLIN };

	hp_command_reap(watch->command, false);
	watch->stop = watch->command->ended || !watch->command->pid || watch->interrupts > 1;
	while (!watch->stop) {
		poll(&poll_signals, 1, -1);
		take_signals(watch);
	}
}
