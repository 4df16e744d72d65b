/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The message for a mapped file that is truncated while hpcprof reads it. */
#ifndef CLI_FAULT_H
#define CLI_FAULT_H

/* From now on such a fault is the end of the command, with the file's name and status 5; any other
 * stays what it is. */
void fault_name_files(void);

#endif
