# The same commands as ./run, for those whose fingers type make.
.PHONY: run test check
run:
	./run
test:
	./run test
check:
	./run check
