# Layer 3: exact counts from replayed copies of the target.
noinst_HEADERS += include/hpcprof/shadow/shadow.h src/shadow/engine.h
