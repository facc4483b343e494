// node test/versions/way-back.mjs [--from <revision>]: what an older version and the Java service do with tags that have
// settings of this version. It prints their answers, and exits with 1 if an ID is wrong.
import { parseArgs } from 'node:util';
import { runTypescript } from '../../scripts/run-typescript.mjs';
import { buildOlder, noOlderRevision, olderRevision } from './older.mjs';
import '../../scripts/ensure-build.mjs';

const { values } = parseArgs({ options: { from: { type: 'string' } } });
const older = olderRevision(values.from) ?? noOlderRevision();
console.log(`Back to ${older.commit.slice(0, 12)} (${older.reason})`);
const SOURCES = [
  'test/versions',
  'test/long/chaos',
  'test/long/numbers',
  'test/long/strict',
  'test/support',
  'libs',
  'migrations',
];
runTypescript('test/versions/way-back-run', SOURCES, [buildOlder(older.commit, console.log)]);
