# One page a subcommand: dist_man_MANS += man/hpcprof-NAME.1
dist_man_MANS += man/hpcprof.1
dist_man_MANS += man/hpcprof-report.1
dist_man_MANS += man/hpcprof-doctor.1 man/hpcprof-events.1
dist_man_MANS += man/hpcprof-epochs.1 man/hpcprof-db.5
dist_man_MANS += man/hpcprof-record.1
dist_man_MANS += man/hpcprof-stat.1
dist_man_MANS += man/hpcprof-check.1
