# One page a subcommand: dist_man_MANS += man/hpcprof-NAME.1
dist_man_MANS += man/hpcprof.1
dist_man_MANS += man/hpcprof-report.1
