/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hpcprof check --html: the comparison as a page in a file. */
#ifndef HPCPROF_CLI_CHECK_PAGE_H
#define HPCPROF_CLI_CHECK_PAGE_H

#include "output_file.h"

#include <hpcprof/report/comparison.h>

struct hp_error *check_page_write(const struct output_file *page,
				  const struct hp_comparison *comparison,
				  const struct hp_comparison_options *options);

#endif
