#!/bin/sh
# Runs the driver of test/conformance; builds it first if it has not been built.
# MAVEN_ARGS_LEAF: more arguments of Maven. JAVA_ARGS_LEAF: more arguments of Java.
set -e
here=$(cd "$(dirname "$0")" && pwd)
if [ ! -d "$here/target/lib" ]; then
  mvn -q -B -f "$here/../pom.xml" -pl conformance-driver -am package -DskipTests $MAVEN_ARGS_LEAF >&2
fi
exec java -XX:+UseSerialGC -Xshare:auto $JAVA_ARGS_LEAF \
  -cp "$here/target/classes:$here/../leaf-client/target/classes:$here/target/lib/*" \
  io.github.leafids.conformance.Driver "$@"
