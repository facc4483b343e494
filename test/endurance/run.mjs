// node test/endurance/run.mjs [options]: compiles and runs the endurance run.
import { runTypescript } from '../../scripts/run-typescript.mjs';

const SOURCES = ['test/endurance', 'test/chaos', 'test/support', 'bench/report', 'libs', 'migrations'];
runTypescript('test/endurance/run', SOURCES, process.argv.slice(2));
