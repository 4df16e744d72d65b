/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/base/library.h>

#include <dlfcn.h>
#include <stddef.h>

void *hp_library_function(const char *soname, const char *function)
{
	/* Opened for each function: one that is loaded is counted, not loaded again. */
	void *library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);

	return library ? dlsym(library, function) : NULL;
}
