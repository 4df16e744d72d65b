/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides whether a procedure in another image returns, from its name alone. Only names whose
 * meaning is fixed by a standard or a runtime are used.
 */
#include "image.h"

#include <hpcprof/image/code.h>

#include <string.h>

static const char *const never[] = {
	"_Exit",
	"_Unwind_Resume",
	"_ZSt10unexpectedv",
	"_ZSt9terminatev",
	"__assert",
	"__assert_fail",
	"__assert_perror_fail",
	"__chk_fail",
	"__cxa_bad_cast",
	"__cxa_bad_typeid",
	"__cxa_call_unexpected",
	"__cxa_deleted_virtual",
	"__cxa_pure_virtual",
	"__cxa_rethrow",
	"__cxa_throw",
	"__cxa_throw_bad_array_new_length",
	"__fortify_fail",
	"__libc_start_main",
	"__longjmp_chk",
	"__pthread_unwind_next",
	"__stack_chk_fail",
	"__stack_chk_fail_local",
	"__stack_smash_handler",
	"__ubsan_handle_builtin_unreachable",
	"__ubsan_handle_missing_return",
	"_exit",
	"_longjmp",
	"abort",
	"err",
	"errx",
	"exit",
	"longjmp",
	"pthread_exit",
	"quick_exit",
	"rust_begin_unwind",
	"siglongjmp",
	"thrd_exit",
	"verr",
	"verrx",
};

static const char *const twice[] = {
	"__sigsetjmp", "_setjmp", "getcontext", "setjmp", "sigsetjmp", "vfork",
};

static bool is_listed(const char *const *list, size_t count, const char *name, size_t length)
{
	for (size_t i = 0; i < count; i++)
		if (strncmp(list[i], name, length) == 0 && list[i][length] == '\0')
			return true;
	return false;
}

/* std::__throw_length_error and its like: _ZSt20__throw_length_errorPKc. */
static bool is_standard_throw(const char *name)
{
	if (strncmp(name, "_ZSt", 4) != 0)
		return false;
	name += 4;
	name += strspn(name, "0123456789");
	return strncmp(name, "__throw_", 8) == 0;
}

static bool has_name(const struct hp_procedure *procedure)
{
	return procedure->source == HP_PROCEDURE_PLT || procedure->source == HP_PROCEDURE_SYMBOL;
}

size_t name_length(const struct hp_procedure *procedure)
{
	size_t length = strlen(procedure->linkage);

	return procedure->source == HP_PROCEDURE_PLT && length > 4 ? length - 4 : length;
}

bool name_is_of_end(const char *name, size_t length)
{
	return is_listed(never, sizeof(never) / sizeof(never[0]), name, length) ||
	       is_standard_throw(name);
}

bool name_never_returns(const struct hp_procedure *procedure)
{
	return has_name(procedure) && name_is_of_end(procedure->linkage, name_length(procedure));
}

bool name_returns_twice(const struct hp_procedure *procedure)
{
	return has_name(procedure) && is_listed(twice, sizeof(twice) / sizeof(twice[0]),
						procedure->linkage, name_length(procedure));
}

const char *import_of(const struct hp_cfg_image *image, const struct hp_flow *flow)
{
	return flow->names_memory ? hp_image_import(image->image, flow->target) : NULL;
}

bool import_returns_twice(const struct hp_cfg_image *image, const struct hp_flow *flow)
{
	const char *name = import_of(image, flow);

	return name && is_listed(twice, sizeof(twice) / sizeof(twice[0]), name, strlen(name));
}
