/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The message for a mapped file that is truncated while hpcprof reads it. */
#ifndef CLI_FAULT_H
#define CLI_FAULT_H

/* From now on such a fault ends the command with the file's name and status 5. Other faults are
 * handled as before. */
void fault_name_files(void);

#endif
