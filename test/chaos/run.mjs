// node test/chaos/run.mjs [options]: compiles and runs the chaos run.
import { runTypescript } from '../../scripts/run-typescript.mjs';

const SOURCES = [
  'test/chaos',
  'test/simulation',
  'test/support',
  'test/contract',
  'bench/report',
  'libs',
  'migrations',
];
runTypescript('test/chaos/run', SOURCES, process.argv.slice(2));
