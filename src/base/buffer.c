/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/base/buffer.h>

#include <hpcprof/base/vector.h>

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void hp_buffer_free(struct hp_buffer *buffer)
{
	free(buffer->text);
	*buffer = (struct hp_buffer){ 0 };
}

void hp_buffer_clear(struct hp_buffer *buffer)
{
	buffer->size = 0;
	if (buffer->text)
		buffer->text[0] = 0;
}

void hp_buffer_extend(struct hp_buffer *buffer, const char *text, size_t size)
{
	if (buffer->failed ||
	    !hp_grow((void **)&buffer->text, &buffer->capacity, buffer->size + size + 1, 1)) {
		buffer->failed = true;
		return;
	}
	memcpy(buffer->text + buffer->size, text, size);
	buffer->size += size;
	buffer->text[buffer->size] = 0;
}

void hp_buffer_printf(struct hp_buffer *buffer, const char *format, ...)
{
	char small[128];
	char *large = NULL;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(small, sizeof(small), format, arguments);
	va_end(arguments);
	if (length >= 0 && (size_t)length < sizeof(small)) {
		hp_buffer_add(buffer, small, (size_t)length);
		return;
	}
	va_start(arguments, format);
	length = vasprintf(&large, format, arguments);
	va_end(arguments);
	if (length < 0) {
		buffer->failed = true;
		return;
	}
	hp_buffer_add(buffer, large, (size_t)length);
	free(large);
}

const char *hp_buffer_text(const struct hp_buffer *buffer)
{
	return buffer->text ? buffer->text : "";
}

struct hp_error *hp_buffer_write(const struct hp_buffer *buffer, FILE *out)
{
	if (buffer->failed)
		return hp_error_create_no_memory();
	fwrite(hp_buffer_text(buffer), 1, buffer->size, out);
	return NULL;
}
