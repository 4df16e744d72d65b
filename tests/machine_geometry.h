/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The geometry that hpcprof record has of this machine, for programs of folders below calibrate. */
#ifndef TESTS_MACHINE_GEOMETRY_H
#define TESTS_MACHINE_GEOMETRY_H

#include <hpcprof/uarch/geometry.h>

/* Ends the program with status 1 if the machine cannot be examined. */
struct hp_uarch_geometry machine_geometry(void);

#endif
