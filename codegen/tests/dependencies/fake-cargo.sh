#!/bin/sh
# A cargo for tests, without a network. It records its arguments, fails with --offline as if packages were missing, and
# otherwise prints the metadata in the current folder.
echo "$*" >> arguments
case " $* " in
*" --offline "*) printf 'error: failed to download `a v1.0.0`\n\nCaused by:\n  --offline was specified\n' >&2 ;;
*) test -f metadata.json && exec cat metadata.json || echo 'error: no route to host' >&2 ;;
esac
exit 101
