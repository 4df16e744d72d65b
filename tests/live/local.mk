# Real perf events, as whoever runs the tests and as an ordinary user. Scripts: *.test, so that
# scripts/test.sh finds them.
