/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a terminal answers to ioctl(). The target's terminal is not opened: that would keep it open
 * for others, and programs that watch it would see it. Only a terminal that is hpcprof's own input
 * or output is asked; a command that hpcprof has started mostly shares it.
 */
#ifndef SHADOW_SYSCALLS_TERMINAL_H
#define SHADOW_SYSCALLS_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

struct terminal {
	uint8_t settings[44]; /* the kernel's struct termios2, which begins like struct termios */
	struct winsize size;
};

/* Reads the settings of the file with this `status`. False when we do not have it open, or it is no
 * terminal. */
bool terminal_ask(const struct stat *status, struct terminal *terminal);

/* Returns how many bytes a terminal answers to that ioctl, and sets `bytes` to them; 0: another
 * ioctl. */
size_t terminal_answer(const struct terminal *terminal, uint64_t request, const void **bytes);

#endif
