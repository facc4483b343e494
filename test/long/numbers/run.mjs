// node test/long/numbers/run.mjs [options]: compiles and runs the history of numbers without gaps.
import { runTypescript } from '../../../scripts/run-typescript.mjs';

const SOURCES = [
  'test/long/numbers',
  'test/long/strict',
  'test/long/chaos/load',
  'test/long/chaos/faults',
  'test/support',
  'libs',
  'migrations',
];
runTypescript('test/long/numbers/run', SOURCES, process.argv.slice(2));
