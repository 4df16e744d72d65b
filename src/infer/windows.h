/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counts of shadow windows, of all epochs together. */
#ifndef INFER_WINDOWS_H
#define INFER_WINDOWS_H

#include <hpcprof/infer/inference.h>

/* requires: epochs opened. Damage is a warning. */
struct hp_error *windows_read(struct hp_inference *inference);
void windows_forget(struct hp_windows *windows);

#endif
