/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks whether copies can be made on this machine, and explains the reason if they cannot. */
#ifndef SHADOW_COPY_PERMISSION_H
#define SHADOW_COPY_PERMISSION_H

#include <hpcprof/base/error.h>

#include <sys/types.h>

/* Whether copies are possible on this machine at all. NULL, or why not, with advice (Yama, a filter
 * of system calls, the wrong /proc). */
struct hp_error *shadow_permission(void);
/* The same for one process, which may have more rights than we have. */
struct hp_error *shadow_permission_of(pid_t pid);
/* Advice when tracing a process is not permitted. Static. */
const char *shadow_permission_advice(void);
/* The error that a process or thread could not be started. */
struct hp_error *shadow_not_started(int errno_value, const char *what);

#endif
