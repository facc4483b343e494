#!/bin/sh
# Builds the driver of test/conformance as build/driver, and runs it. Without arguments it only builds.
set -e
dir=$(dirname "$0")
(cd "$dir" && go build -o build/driver ./internal/driver)
[ $# -eq 0 ] || exec "$dir/build/driver" "$@"
