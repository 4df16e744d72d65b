/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/base/error.h>

#include <hpcprof/base/text.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct hp_error out_of_memory = {
	.class = HP_ERROR_SYSTEM,
	.errno_value = ENOMEM,
	.message = (char[]){ "out of memory" },
	.advice = NULL,
};

static struct hp_error *create(enum hp_error_class class, int errno_value, char *message)
{
	struct hp_error *error = message ? malloc(sizeof(*error)) : NULL;

	if (!error) {
		free(message);
		return &out_of_memory;
	}
	*error = (struct hp_error){
		.class = class,
		.errno_value = errno_value,
		.message = message,
	};
	return error;
}

struct hp_error *hp_error_create(enum hp_error_class class, const char *format, ...)
{
	va_list arguments;
	char *message;

	va_start(arguments, format);
	message = hp_text_format_list(format, arguments);
	va_end(arguments);
	return create(class, 0, message);
}

static enum hp_error_class class_of_errno(int errno_value)
{
	switch (errno_value) {
	case EACCES:
	case EPERM:
		return HP_ERROR_NOT_PERMITTED;
	case ENOENT:
		return HP_ERROR_NOT_FOUND;
	default:
		return HP_ERROR_SYSTEM;
	}
}

struct hp_error *hp_error_create_errno(int errno_value, const char *format, ...)
{
	struct hp_error *error;
	va_list arguments;
	char *context;
	char *message = NULL;

	va_start(arguments, format);
	context = hp_text_format_list(format, arguments);
	va_end(arguments);
	if (context && asprintf(&message, "%s: %s", context, strerror(errno_value)) < 0)
		message = NULL;
	free(context);
	error = create(class_of_errno(errno_value), errno_value, message);
	if (errno_value == EMFILE)
		error = hp_error_advise(error, "allow more open files: ulimit -n 1024");
	return error;
}

struct hp_error *hp_error_create_no_memory(void)
{
	return &out_of_memory;
}

struct hp_error *hp_error_wrap(struct hp_error *error, const char *format, ...)
{
	va_list arguments;
	char *context;
	char *message;

	if (!error || error == &out_of_memory)
		return error;
	va_start(arguments, format);
	context = hp_text_format_list(format, arguments);
	va_end(arguments);
	/* If memory is short, the message without context is better than none. */
	if (context && asprintf(&message, "%s: %s", context, error->message) >= 0) {
		free(error->message);
		error->message = message;
	}
	free(context);
	return error;
}

struct hp_error *hp_error_advise(struct hp_error *error, const char *format, ...)
{
	va_list arguments;

	if (!error || error == &out_of_memory)
		return error;
	free(error->advice);
	va_start(arguments, format);
	error->advice = hp_text_format_list(format, arguments);
	va_end(arguments);
	return error;
}

void hp_error_destroy(struct hp_error *error)
{
	if (!error || error == &out_of_memory)
		return;
	free(error->message);
	free(error->advice);
	free(error);
}
