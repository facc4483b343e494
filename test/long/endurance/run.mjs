// node test/long/endurance/run.mjs [options]: compiles and runs the endurance run.
import { runTypescript } from '../../../scripts/run-typescript.mjs';

const SOURCES = ['test/long/endurance', 'test/long/chaos', 'test/support', 'bench/report', 'libs', 'migrations'];
runTypescript('test/long/endurance/run', SOURCES, process.argv.slice(2));
