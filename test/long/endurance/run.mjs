// node test/long/endurance/run.mjs [options]: compiles and runs the endurance run.
import '../../../scripts/ensure-build.mjs';
import { runTypescript } from '../../../scripts/run-typescript.mjs';

const SOURCES = ['test/long/endurance', 'test/long/chaos', 'test/support', 'libs', 'migrations'];
runTypescript('test/long/endurance/run', SOURCES, process.argv.slice(2));
