/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks whether copies can be made on this machine, and explains the reason if they cannot. */
#ifndef SHADOW_COPY_PERMISSION_H
#define SHADOW_COPY_PERMISSION_H

#include <hpcprof/base/error.h>

#include <sys/types.h>

/* On this machine at all, before there is anything to copy: NULL, or why not, with a way out (Yama,
 * a filter of system calls, the wrong /proc). */
struct hp_error *shadow_permission(void);
/* The same of one process, which may have more rights than we. */
struct hp_error *shadow_permission_of(pid_t pid);
/* When looking into a process is not permitted: why that may be, and the way out. Static. */
const char *shadow_permission_advice(void);
/* Why a process or thread could not be started. */
struct hp_error *shadow_not_started(int errno_value, const char *what);

#endif
