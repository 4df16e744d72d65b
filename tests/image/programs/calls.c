/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Needs no headers, so that it compiles for machines that are not installed here. */
int first_import(const char *text);
void *second_import(unsigned long size);
int calls(void);

int calls(void)
{
	return first_import("text") + (second_import(3) != 0);
}
