#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Run a class of this folder against a version of Flink; compile it first if that is to be done.
#
#     tests/flink/with_flink.sh VERSION CLASS [ARGUMENT]...
#
# Exit 69 if the version cannot be had, 70 if the classes do not compile.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
version=$1 class=$2
shift 2
out=$here/../../build/flink/$version

# What differs in the names of artifacts and the classes there are.
properties=("-Dflink.version=$version")
case $version in
1.[5-6].*) scala=_2.11 ;;
1.[7-9].* | 1.1[0-4].*) scala=_2.12 ;;
*) scala= ;;
esac
case $version in
1.14.*) ;;
*) properties+=("-Dflink.runtime=flink-runtime$scala") ;;
esac
properties+=("-Dflink.streaming=flink-streaming-java$scala")
case $version in
1.[5-9].* | 1.10.*) properties+=('-Dflink.exclude=org/apache/**') ;;
esac
case $version in
1.[5-9].* | 1.1[0-3].*)
    # All but what is named, which a job needs.
    job='Deadline|Failure|Job|Numbered|Options|Ready'
    properties+=("-Dflink.exclude.live=%regex[fnet/flink/live/(?!$job).*]")
    ;;
esac

# Ask the network only for what is not there yet, again if it failed before, and not for ever.
compile() {
    rm -rf "$out"
    mkdir -p "$out"
    for mode in --offline --update-snapshots; do
        if timeout 300 mvn --batch-mode --quiet $mode -f "$here/pom.xml" "${properties[@]}" \
            compile >"$out/log" 2>&1; then
            touch "$out/complete"
            return
        fi
    done
    cat "$out/log" >&2
    ! grep -qF 'COMPILATION ERROR' "$out/log" || exit 70
    exit 69
}

if [[ ! -e $out/complete || -n $(find "$here" -newer "$out/complete" \
    \( -name '*.java' -o -name pom.xml -o -name with_flink.sh \)) ]]; then
    compile
fi
# Older versions look into what newer Java hides. Processes in namespaces of their own would have
# one file of performance data, and say so on standard output.
exec java -Xmx1g -XX:+UseSerialGC -XX:-UsePerfData \
    --add-opens=java.base/java.lang=ALL-UNNAMED --add-opens=java.base/java.lang.ref=ALL-UNNAMED \
    --add-opens=java.base/java.nio=ALL-UNNAMED --add-opens=java.base/java.util=ALL-UNNAMED \
    --add-exports=java.base/sun.net.util=ALL-UNNAMED \
    -cp "$out/classes:$(<"$out/classpath")" "fnet.flink.$class" "$@"
