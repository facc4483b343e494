// node test/strict/run.mjs [options]: compiles and runs the history of strict tags.
import { runTypescript } from '../../scripts/run-typescript.mjs';

const SOURCES = [
  'test/strict',
  'test/chaos/load',
  'test/support',
  'test/contract',
  'bench/report',
  'libs',
  'migrations',
];
runTypescript('test/strict/run', SOURCES, process.argv.slice(2));
