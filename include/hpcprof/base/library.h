/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Libraries that are loaded when they are first called. Two that few runs need have large tables of
 * pointers (libpfm4 and Capstone: 119,000, which the dynamic linker would write one by one at each
 * start, more than all other work of a short command; `scripts/bench/start`).
 */
#ifndef HPCPROF_BASE_LIBRARY_H
#define HPCPROF_BASE_LIBRARY_H

/* A function of a library by its declaration: HP_LIBRARY_FUNCTION("libm.so.6", sqrt)(4). */
#define HP_LIBRARY_FUNCTION(soname, function)                                                      \
	((typeof(&(function)))hp_library_function(soname, #function))

/* The address of a function, valid for as long as the process runs; NULL: the library or the function is
 * missing. */
void *hp_library_function(const char *soname, const char *function);

#endif
